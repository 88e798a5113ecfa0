"""Numbers by hand from small experiments: what is excluded, unknown or attributed, and what cannot be said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.errors import DenseError
from dense.report import Report, build
from dense.report.exact import holm
from dense.report.model import Difference, MethodRow, RecipientReport
from dense.report.prices import usd
from dense.results import ANALYST, RUN0, Cell, Experiment, Prices, Result
from dense.trajectory import Usage

NO_CALL = Usage(0, 0, 0, 0, 0.0)


def made(task: str, repetition: int, round: int, method: str, reward: float | None, **more: Any) -> Result:
    return Result(Cell("one", task, repetition, round, method), reward=reward, **more)


def report_of(results: Sequence[Result], **more: Any) -> RecipientReport:
    return whole(results, **more).recipients[0]


def whole(results: Sequence[Result], *, exclude: Sequence[str] = (), **more: Any) -> Report:
    return build(Experiment("small", tuple(results), **more), draws=200, exclude=exclude)


def row(report: RecipientReport, method: str) -> MethodRow:
    return next(one for one in (report.baseline, *report.rows) if one is not None and one.method == method)


def grid(method: str, round: int, rewards: Sequence[Sequence[float | None]], **more: Any) -> list[Result]:
    """Rewards by task and repetition."""
    return [
        made(f"t{task}", repetition, round, method, reward, **more)
        for task, row in enumerate(rewards)
        for repetition, reward in enumerate(row)
    ]


def difference(report: RecipientReport, family: str, method: str, reference: str) -> Difference:
    return next(
        one for one in report.differences if (one.family, one.method, one.reference) == (family, method, reference)
    )


def test_a_pass_is_a_reward_of_exactly_one() -> None:
    report = report_of(grid(RUN0, 0, [[1.0, 0.999, 0.5], [0.0, 1.0, 1]]))
    assert report.baseline is not None
    assert report.baseline.passes == 3 and report.baseline.passed.value == pytest.approx(50.0)
    assert report.baseline.reward.value == pytest.approx(4.499 / 6)


def test_invalid_cells_are_excluded_with_their_pairs_and_counted() -> None:
    report = report_of(grid(RUN0, 0, [[1, 0], [1, 1]]) + grid("dense", 1, [[1, None], [0, 1]], exception="Boom"))
    dense = row(report, "dense")
    assert (dense.counts.scored, dense.counts.invalid, dense.passed.known) == (3, 1, 3)
    assert dense.passed.value == pytest.approx(75.0), "task 0: one of one; task 1: one of two"
    assert dense.change is not None and dense.change.value == pytest.approx(-25.0)
    assert dense.source_passed == pytest.approx(100.0)
    assert row(report, RUN0).passed.value == pytest.approx(75.0), "the baseline's row has all of its cells"
    assert any("1 cell invalid" in caveat for caveat in report.caveats)
    assert any("different pairs" in caveat for caveat in report.caveats)


def test_a_lost_first_attempt_takes_its_pair_away() -> None:
    report = report_of(grid(RUN0, 0, [[1, None], [0, 0]]) + grid("dense", 1, [[1, 1], [1, 0]]))
    dense = row(report, "dense")
    assert (dense.counts.unpaired, dense.passed.known) == (1, 3)
    assert dense.passed.value == pytest.approx(75.0)


def test_a_reward_that_is_no_number_is_no_grade() -> None:
    found = whole(grid(RUN0, 0, [[float("nan"), 1.0], [0.0, 1.0]]))
    assert found.recipients[0].baseline is not None and found.recipients[0].baseline.counts.invalid == 1
    assert found.invalid[0].reason == "the reward is nan"


def test_missing_cells_are_named_with_the_reason() -> None:
    results = [*grid(RUN0, 0, [[1, None]]), made("t0", 0, 1, "dense", 1.0)]
    planned = [result.cell for result in grid(RUN0, 0, [[1, 1], [1, 1]]) + grid("dense", 1, [[1, 1], [1, 1]])]
    found = whole(results, planned=tuple(planned))
    reasons = {(one.cell.task, one.cell.repetition, one.cell.round): one.reason for one in found.invalid}
    assert reasons["t0", 1, 0] == "" and reasons["t0", 1, 1] == "the run before it was not scored"
    assert reasons["t1", 0, 1] == "not run yet"
    assert row(found.recipients[0], "dense").counts.missing == 3
    assert any("unfinished" in caveat for caveat in found.caveats)


def test_unknown_tokens_are_not_zero() -> None:
    first = grid(RUN0, 0, [[1], [1]], usage=Usage(90, None, None, 10))
    runs = [made("t0", 0, 1, "dense", 1, usage=Usage(40, 10, 0, 10), is_partial=True), made("t1", 0, 1, "dense", 1)]
    report = report_of(first + runs)
    tokens = row(report, "dense").tokens
    assert (tokens.value, tokens.known, tokens.of) == (60.0, 1, 2)
    change = row(report, "dense").tokens_change
    assert change is not None and change.value == pytest.approx(-40.0)
    assert any("unknown for 1 of 4 results" in caveat for caveat in report.caveats)
    assert any("Tokens of 1 of 4 results are those of completed calls only" in caveat for caveat in report.caveats)


def test_tokens_with_half_a_record_are_unknown() -> None:
    report = report_of(grid(RUN0, 0, [[1], [1]], usage=Usage(input=90)))
    assert report.baseline is not None and report.baseline.tokens.value is None


def test_each_result_bears_one_feedback() -> None:
    first = grid(RUN0, 0, [[1], [0]], usage=Usage(1_000_000, None, None, 0))
    runs = grid("dense", 1, [[1], [1]], usage=Usage(500_000, None, None, 0), feedback=Usage(1_000_000, 0, 0, 100_000))
    runs += grid("none", 1, [[1], [0]], usage=Usage(900_000, None, None, 0), feedback=NO_CALL)
    runs += grid("own", 1, [[1], [0]], usage=Usage(900_000, None, None, 0))
    report = report_of(first + runs, prices={"one": Prices(2, 10), ANALYST: Prices(0.5, 3)})
    dense, none, own = (row(report, method).cost for method in ("dense", "none", "own"))
    assert dense and none and own
    values = [estimate.value for estimate in (dense.execution, dense.feedback, dense.total, dense.workflow)]
    assert values == pytest.approx([1.0, 0.8, 1.8, 3.8])
    assert dense.total_change is not None and dense.total_change.value == pytest.approx(-10.0)
    assert none.feedback.value is None and none.total.value == pytest.approx(1.8)
    assert own.total.value is None and row(report, "own").is_generated is None
    assert row(report, "none").is_generated is False and row(report, "dense").is_generated is True
    assert row(report, "dense").combined_tokens.value == 1_600_000
    assert any("not recorded for: own" in caveat for caveat in report.caveats)


def test_a_second_try_has_no_feedback_whether_that_is_recorded_or_not() -> None:
    usage = Usage(1_000_000, None, None, 0)
    runs = grid(RUN0, 0, [[1], [0]], usage=usage) + grid("none", 1, [[1], [0]], usage=usage)
    none = row(report_of(runs, prices={"one": Prices(2, 10)}), "none")
    assert none.is_generated is False and none.feedback_tokens.value == 0
    assert none.cost is not None and none.cost.total.value == pytest.approx(2.0)


def test_cached_input_has_its_price_where_it_is_told_apart() -> None:
    prices = Prices(5, 30, cache_read=0.5)
    told = Usage(100_000, 900_000, 0, 0)
    assert usd(told, prices) == pytest.approx(0.95)
    assert usd(told, Prices(5, 30)) == pytest.approx(5.0)
    assert usd(Usage(1_000_000, None, None, 0), prices) == pytest.approx(5.0)
    assert usd(Usage(1_000_000), prices) is None and usd(told, None) is None
    report = report_of(
        [made("t0", 0, 0, RUN0, 1, usage=told), made("t1", 0, 0, RUN0, 1, usage=Usage(5, None, None, 5))],
        prices={"one": prices},
    )
    assert report.baseline is not None and report.baseline.cost is not None and report.baseline.cost.uncached == 1


def test_recorded_money_stands_apart() -> None:
    runs = grid(RUN0, 0, [[1], [0]], usage=Usage(10, None, None, 10, cost_usd=2.5))
    report = report_of(runs, prices={"one": Prices(5, 30)})
    assert report.baseline is not None and report.baseline.recorded is not None and report.baseline.cost is not None
    assert report.baseline.recorded.execution.value == 2.5
    assert report.baseline.cost.execution.value == pytest.approx(0.00035)
    assert report.baseline.recorded.feedback.known == 0


def test_given_prices_go_before_the_experiments() -> None:
    runs = grid(RUN0, 0, [[1], [0]], usage=Usage(1_000_000, None, None, 0))
    experiment = Experiment("small", tuple(runs), prices={"one": Prices(5, 30)})
    report = build(experiment, draws=200, prices={"one": Prices(1, 1)}).recipients[0]
    assert report.baseline is not None and report.baseline.cost is not None
    assert report.baseline.cost.execution.value == pytest.approx(1.0)


def test_families_hold_what_there_is() -> None:
    runs = [*grid(RUN0, 0, [[0, 1]] * 4)]
    for method in ("none", "self-reflection", "dense", "own"):
        runs += grid(method, 1, [[1, 1]] * 2 + [[0, 1]] * 2)
    report = report_of(runs)
    pairs = [(one.family, one.method, one.reference) for one in report.differences]
    others = ["none", "self-reflection", "own"]
    assert [pair[1] for pair in pairs if pair[0] == RUN0] == ["none", "self-reflection", "dense", "own"]
    assert [pair[1] for pair in pairs if pair[0] == "none"] == ["self-reflection", "dense", "own"]
    assert [pair[2] for pair in pairs if pair[0] == "dense"] == others
    for family in {pair[0] for pair in pairs}:
        members = [one for one in report.differences if one.family == family]
        assert [one.holm for one in members] == holm([one.p for one in members])


def test_few_tasks_carry_no_claim() -> None:
    after = [[1, 1, 1]] * 3 + [[1, 1, 0]] * 3 + [[1, 0, 0]] * 2
    report = report_of(grid(RUN0, 0, [[0] * 3] * 8) + grid("dense", 1, after))
    found = difference(report, RUN0, "dense", RUN0)
    assert found.p == found.smallest_p == pytest.approx(2 / 2**8) and found.verdict == "no claim"
    assert "8 tasks are too few" in found.says
    assert any("8 tasks: intervals are unreliable" in caveat for caveat in report.caveats)


def test_enough_tasks_that_improve_carry_one() -> None:
    runs = (
        grid(RUN0, 0, [[0] * 3] * 20)
        + grid("none", 1, [[0] * 3] * 20)
        + grid("dense", 1, [[1] * 3] * 15 + [[0] * 3] * 5)
    )
    report = report_of(runs)
    found = difference(report, "none", "dense", "none")
    assert found.verdict == "higher" and found.says.startswith("higher by 75.00 points")
    assert report.headline.endswith("The feedback makes it higher than a second try does.")
    turned = report_of(grid(RUN0, 0, [[1] * 3] * 20) + grid("dense", 1, [[0] * 3] * 15 + [[1] * 3] * 5))
    assert difference(turned, RUN0, "dense", RUN0).verdict == "lower"


def test_an_interval_with_zero_in_it_is_no_claim() -> None:
    rewards = [[1, 0], [0, 1]] * 10
    report = report_of(grid(RUN0, 0, rewards) + grid("dense", 1, rewards[1:] + rewards[:1]) + grid("none", 1, rewards))
    found = difference(report, "none", "dense", "none")
    assert found.verdict == "no claim" and "includes zero" in found.says
    assert "No claim that the feedback is the cause: the interval includes zero" in report.headline


def test_one_task_is_told_without_interval_and_p() -> None:
    report = report_of(grid(RUN0, 0, [[0, 0]]) + grid("dense", 1, [[1, 1]]))
    found = difference(report, RUN0, "dense", RUN0)
    assert (found.points.value, found.points.interval, found.p, found.holm) == (100.0, None, None, None)
    assert any(caveat.startswith("1 task:") for caveat in report.caveats)
    assert "no interval: 1 task" in report.headline


def test_without_a_control_a_gain_is_not_attributed() -> None:
    report = report_of(grid(RUN0, 0, [[0]] * 3) + grid("dense", 1, [[1]] * 3))
    assert "No `none` control" in report.headline
    assert any("second try" in caveat for caveat in report.caveats)
    assert any(caveat.startswith("1 repetition:") for caveat in report.caveats)


def test_without_round_0_rates_stand_and_changes_do_not() -> None:
    report = report_of(grid("none", 1, [[0, 1]] * 3) + grid("dense", 1, [[1, 1]] * 3))
    dense = row(report, "dense")
    assert (dense.passed.value, dense.change, dense.transition, report.baseline) == (100.0, None, None, None)
    assert difference(report, "none", "dense", "none").points.value == 50.0
    assert any("No round 0" in caveat for caveat in report.caveats)
    assert report.cumulative == ()


def test_nothing_scored_yet_is_said() -> None:
    planned = tuple(result.cell for result in grid(RUN0, 0, [[1]] * 2) + grid("dense", 1, [[1]] * 2))
    found = build(Experiment("new", (), planned=planned), draws=200)
    assert "nothing can be said" in found.headline
    assert build(Experiment("empty", ()), draws=200).headline == "No result yet."


def test_methods_of_ones_own_keep_their_names_and_the_best_is_the_focus() -> None:
    runs = grid(RUN0, 0, [[0]] * 12) + grid("none", 1, [[0]] * 12) + grid("mine", 1, [[1]] * 12)
    runs += grid("dense-no-shortcuts", 1, [[0]] * 12)
    found = whole(runs)
    assert [(name.label, name.role) for name in found.methods[2:]] == [
        ("mine", "method"),
        ("DENSE without shortcuts", "method"),
    ], "without DENSE there is nothing that it is an ablation of"
    assert found.headline.startswith("With mine (the highest, chosen after the fact)")


def test_privileged_methods_are_last_and_unranked() -> None:
    runs = grid(RUN0, 0, [[0]] * 3) + grid("verifier-feedback", 1, [[1]] * 3) + grid("dense", 1, [[1]] * 2 + [[0]])
    report = report_of(runs, privileged=frozenset({"verifier-feedback"}), methods=("verifier-feedback", "dense"))
    assert [(one.method, one.ranks.passed) for one in report.rows] == [("dense", 1), ("verifier-feedback", None)]
    assert row(report, RUN0).ranks.passed == 2


def test_equal_counts_share_a_rank_however_they_are_spread() -> None:
    runs = grid(RUN0, 0, [[0, 0, 0]] * 3) + grid("a", 1, [[1, 1, 1], [0, 0, 0], [0, 0, 0]])
    runs += grid("b", 1, [[1, 0, 0]] * 3) + grid("c", 1, [[1, 1, 0], [0, 0, 0], [0, 0, 1]])
    assert [one.ranks.passed for one in report_of(runs).rows] == [1, 1, 1]


def test_cumulative_uses_only_pairs_that_are_whole() -> None:
    runs = grid(RUN0, 0, [[0, 1], [0, 0]])
    runs += grid("dense", 1, [[1, 0], [0, 0]]) + grid("dense", 2, [[0, 0], [1, 1]])
    runs += grid("none", 1, [[0, 0], [0, None]]) + grid("none", 2, [[0, 0], [0, 0]])
    report = report_of(runs)
    assert (report.cumulative_pairs, report.cumulative_dropped) == (3, 1)
    assert [[point.solved for point in line.points] for line in report.cumulative] == [[1, 2, 3], [1, 1, 1]]
    assert [(one.method, one.round) for one in report.later] == [("dense", 2), ("none", 2)]
    assert difference(report, "cumulative", "dense", "none").points.value == pytest.approx(200 / 3)


def test_excluding_gives_all_numbers_once_more() -> None:
    runs = grid(RUN0, 0, [[0], [0], [1]]) + grid("dense", 1, [[1], [1], [0]])
    found = whole(runs, exclude=["t2"])
    assert [row(one[0], "dense").passed.value for one in (found.recipients, found.sensitivity)] == [
        pytest.approx(200 / 3),
        100.0,
    ]
    assert found.excluded == ("t2",) and len(found.sensitivity[0].tasks) == 2


@pytest.mark.parametrize(
    ("results", "exclude", "said"),
    [
        ([made("t", 0, 0, RUN0, 1), made("t", 0, 0, "other", 1)], [], "two results"),
        ([made("t", 0, 1, RUN0, 1)], [], "name of round 0"),
        ([made("t", 0, 0, RUN0, 1)], ["u"], "cannot exclude u"),
        ([made("t", 0, 0, RUN0, 1)], ["t"], "all tasks are excluded"),
    ],
)
def test_what_would_spoil_numbers_is_refused(results: list[Result], exclude: list[str], said: str) -> None:
    with pytest.raises(DenseError, match=said):
        whole(results, exclude=exclude)


REWARD = st.sampled_from([None, 0.0, 0.5, 1.0])
TABLE = st.lists(st.lists(REWARD, min_size=3, max_size=3), min_size=2, max_size=6)


@settings(max_examples=60, deadline=None)
@given(TABLE, TABLE, TABLE)
def test_numbers_agree_with_each_other(
    first: list[list[float | None]], dense: list[list[float | None]], none: list[list[float | None]]
) -> None:
    report = report_of(grid(RUN0, 0, first) + grid("dense", 1, dense) + grid("none", 1, none))
    for found in report.rows:
        if found.transition is None or found.change is None:
            continue
        counts = found.transition
        assert counts.pairs == found.passed.known and counts.successes == found.passes
        assert found.passed.value is not None and found.source_passed is not None and found.change.value is not None
        assert found.change.value == pytest.approx(found.passed.value - found.source_passed, abs=1e-9)
        assert found.counts.scored + found.counts.invalid == found.counts.planned
        assert found.counts.scored - found.counts.unpaired == found.passed.known
    for line in report.cumulative:
        solved = [point.solved for point in line.points]
        assert solved == sorted(solved) and solved[-1] <= report.cumulative_pairs
    ours = [one for one in report.differences if (one.family, one.reference) == ("dense", "none")]
    theirs = [one for one in report.differences if (one.family, one.method) == ("none", "dense")]
    for one, other in zip(ours, theirs, strict=bool(theirs)):
        assert (one.points, one.p, one.mcnemar) == (other.points, other.p, other.mcnemar)
