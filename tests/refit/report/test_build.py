"""Numbers by hand from small experiments: what is excluded, unknown or attributed, and what cannot be said."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_result import with_attempt

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.report import Report, build
from refit.report.model import Difference, MethodRow, RecipientReport
from refit.report.prices import usd
from refit.report.statistics.significance import holm
from refit.report.tables.cell_counts import invalid_table
from refit.results import ANALYST, RUN0, AttemptResult, Cell, Experiment, Prices, Result

NO_CALL = Usage(0, 0, 0, 0, 0.0)


def made(task: str, repetition: int, round: int, method: str, reward: float | None, **more: Any) -> Result:
    own = {name: value for name, value in more.items() if name in Result.__struct_fields__}
    attempt = AttemptResult(reward=reward, **{name: value for name, value in more.items() if name not in own})
    return Result(Cell("one", task, repetition, round, method), attempt, **own)


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
    assert report.baseline.means["reward"].value == pytest.approx(4.499 / 6)


def test_invalid_cells_are_excluded_with_their_pairs_and_counted() -> None:
    report = report_of(grid(RUN0, 0, [[1, 0], [1, 1]]) + grid("dense", 1, [[1, None], [0, 1]], exception="Boom"))
    dense = row(report, "dense")
    assert (dense.counts.scored, dense.counts.invalid, dense.passed.known) == (3, 1, 3)
    assert dense.passed.value == pytest.approx(75.0), "task 0: one of one; task 1: one of two"
    assert dense.change is not None and dense.change.value == pytest.approx(-25.0)
    assert dense.source_passed == pytest.approx(100.0)
    assert row(report, RUN0).passed.value == pytest.approx(75.0), "the baseline's row has all of its cells"
    assert any("never scored: DENSE 1 of 4 cells." in caveat for caveat in report.caveats)
    assert any("different pairs" in caveat for caveat in report.caveats)


def test_agents_that_ran_out_of_context_are_reported_apart() -> None:
    lost = grid("dense", 1, [[1, None], [None, 1]], exception="not scored in 3 executions; the last: Boom")
    full = "not scored in 3 executions; the last: ContextLengthExceededError: 200,000 tokens"
    cell = next(result for result in lost if result.attempt.reward is None)
    # One that was graded all the same is no loss.
    runs = [with_attempt(one, exception=full) if one is cell or one.attempt.reward == 1 else one for one in lost]
    everything = whole([*grid(RUN0, 0, [[1, 0], [1, 1]]), *runs])
    report = everything.recipients[0]
    assert (row(report, "dense").counts.invalid, row(report, "dense").counts.out_of_context) == (2, 1)
    assert any("ran out of its model's context in: DENSE 1 of 4 cells." in caveat for caveat in report.caveats)
    assert any("2 cells invalid (1 of them out of their model's context)" in caveat for caveat in everything.caveats)
    assert [line.entries[5].text for line in invalid_table(everything).lines] == ["out of context", "invalid"]


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
    assert row(report, "dense").means["combined_tokens"].value == 1_600_000
    assert any("not recorded for: own" in caveat for caveat in report.caveats)


def test_a_second_try_has_no_feedback_whether_that_is_recorded_or_not() -> None:
    usage = Usage(1_000_000, None, None, 0)
    runs = grid(RUN0, 0, [[1], [0]], usage=usage) + grid("none", 1, [[1], [0]], usage=usage)
    none = row(report_of(runs, prices={"one": Prices(2, 10)}), "none")
    assert none.is_generated is False and none.means["feedback_tokens"].value == 0
    assert none.cost is not None and none.cost.total.value == pytest.approx(2.0)


def test_cached_input_has_its_price_where_it_is_reported_apart() -> None:
    prices = Prices(5, 30, cache_read=0.5)
    reported = Usage(100_000, 900_000, 0, 0)
    assert usd(reported, prices) == pytest.approx(0.95)
    assert usd(reported, Prices(5, 30)) == pytest.approx(5.0)
    assert usd(Usage(1_000_000, None, None, 0), prices) == pytest.approx(5.0)
    assert usd(Usage(1_000_000), prices) is None and usd(reported, None) is None
    report = report_of(
        [made("t0", 0, 0, RUN0, 1, usage=reported), made("t1", 0, 0, RUN0, 1, usage=Usage(5, None, None, 5))],
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
    assert [pair[1] for pair in pairs if pair[0] == RUN0] == ["none", "self-reflection", "dense", "own"]
    assert [pair[1] for pair in pairs if pair[0] == "none"] == ["self-reflection", "dense", "own"]
    assert [pair[1] for pair in pairs if pair[0] == "self-reflection"] == ["dense", "own"]
    assert [pair[2] for pair in pairs if pair[0] == "dense"] == ["own"]
    assert len({frozenset(pair[1:]) for pair in pairs}) == len(pairs), "no comparison has two adjusted p-values"
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
    assert report.headline.endswith("Its pass rate is higher than that of a second try.")
    turned = report_of(grid(RUN0, 0, [[1] * 3] * 20) + grid("dense", 1, [[0] * 3] * 15 + [[1] * 3] * 5))
    assert difference(turned, RUN0, "dense", RUN0).verdict == "lower"


def test_an_interval_with_zero_in_it_is_no_claim() -> None:
    rewards = [[1, 0], [0, 1]] * 10
    report = report_of(grid(RUN0, 0, rewards) + grid("dense", 1, rewards[1:] + rewards[:1]) + grid("none", 1, rewards))
    found = difference(report, "none", "dense", "none")
    assert found.verdict == "no claim" and "includes zero" in found.says
    assert "No claim that the feedback is the cause: the interval includes zero" in report.headline


def test_one_task_is_reported_without_interval_and_p() -> None:
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


def lossy(unscored: int, side: str = "dense") -> RecipientReport:
    """15 of 20 tasks improve over a second try; then so many cells of one side lose their grades, task by task."""
    rewards: dict[str, list[list[float | None]]] = {
        "none": [[0.0] * 3 for _ in range(20)],
        "dense": [[float(task < 15)] * 3 for task in range(20)],
    }
    for number in range(unscored):
        rewards[side][number % 20][number // 20] = None
    return report_of(
        [*grid(RUN0, 0, [[0] * 3] * 20), *(one for name in rewards for one in grid(name, 1, rewards[name]))]
    )


def test_a_claim_holds_with_a_few_cells_counted_against_it() -> None:
    found = difference(lossy(3), "none", "dense", "none")
    assert found.verdict == "higher" and found.worst is not None
    assert (found.worst.method_unscored, found.worst.reference_unscored) == (3, 0)
    assert found.worst.points.value == pytest.approx(70.0) and found.worst.holm is not None
    assert difference(lossy(0), "none", "dense", "none").worst is None


def test_whoever_loses_failures_does_not_gain_by_it() -> None:
    """Only passes of DENSE are graded: 100 % of a third of the pairs is no result."""
    chance = random.Random(3)
    runs: list[Result] = []
    for method, at in ((RUN0, 0), ("none", 1)):
        runs += grid(method, at, [[float(chance.random() < 0.4) for _ in range(3)] for _ in range(12)])
    runs += grid("dense", 1, [[1.0 if at == task % 3 else None for at in range(3)] for task in range(12)])
    report = report_of(runs)
    assert "passes 100.00 % (12 of 36 pairs, 12 tasks)" in report.headline
    assert "do not survive counting 24 unscored cells of DENSE as failures" in report.headline
    assert {one.verdict for one in report.differences} == {"no claim"}
    assert any("never scored: DENSE 24 of 36 cells." in caveat for caveat in report.caveats)


def test_the_references_lost_cells_count_as_passes() -> None:
    found = difference(lossy(40, "none"), "none", "dense", "none")
    assert found.points.value == 75.0 and found.verdict == "no claim"
    assert found.worst is not None and found.worst.points.value == pytest.approx(25 / 3)
    assert "40 unscored cells of None (second try) as passes" in found.says


def test_a_lower_method_is_counted_the_other_way() -> None:
    none = [[1.0] * 3] * 20
    dense: list[list[float | None]] = [[0.0, None, None] for _ in range(15)] + [[1.0] * 3 for _ in range(5)]
    report = report_of(grid(RUN0, 0, none) + grid("none", 1, none) + grid("dense", 1, dense))
    found = difference(report, "none", "dense", "none")
    assert found.points.value == pytest.approx(-75.0) and found.worst is not None
    assert found.worst.points.value == pytest.approx(-25.0), "its unscored cells as passes"
    assert found.verdict == "lower" and "Its pass rate is lower than that of a second try." in report.headline


def test_cells_that_nobody_has_run_yet_are_not_counted_against_anyone() -> None:
    runs = grid(RUN0, 0, [[0]] * 30) + grid("none", 1, [[0]] * 20) + grid("dense", 1, [[1]] * 15 + [[0]] * 5)
    planned = [one.cell for one in grid(RUN0, 0, [[0]] * 30) + grid("none", 1, [[0]] * 30)]
    planned += [one.cell for one in grid("dense", 1, [[0]] * 30)]
    found = difference(report_of(runs, planned=tuple(planned)), "none", "dense", "none")
    assert found.verdict == "higher" and found.worst is None


def test_cumulative_claims_must_survive_too() -> None:
    """Both rounds of DENSE lose the grades of what it did not solve."""
    runs = grid(RUN0, 0, [[0] * 3] * 20)
    for at in (1, 2):
        runs += grid("none", at, [[0, 0, 1]] * 20)
        runs += grid("dense", at, [[1, None, None]] * 20)
    report = report_of(runs)
    found = difference(report, "cumulative", "dense", "none")
    assert found.points.value == 100.0 and found.worst is not None
    assert found.worst.points.value == pytest.approx(0.0) and found.verdict == "no claim"
    assert any(
        "40 of 60 pairs are not scored throughout" in caveat and "Round 0 passes 0.0 % of those kept" in caveat
        for caveat in report.caveats
    )


def test_comparisons_stand_on_pairs_whose_first_attempt_has_a_grade() -> None:
    first: list[list[float | None]] = [[0.0, 0.0] for _ in range(4)]
    first[0][0] = None
    report = report_of(grid(RUN0, 0, first) + grid("none", 1, [[0, 0]] * 4) + grid("dense", 1, [[1, 1]] * 4))
    found = difference(report, "none", "dense", "none")
    assert found.points.known == row(report, "dense").passed.known == row(report, "none").passed.known == 7


def several(**verdicts: str) -> Report:
    """Recipients for which DENSE is better than, worse than or like a second try, or has one task."""
    results: list[Result] = []
    for recipient, kind in verdicts.items():
        passes = {
            "higher": (0.0, 1.0),
            "lower": (1.0, 0.0),
            "same": (1.0, 1.0),
            "one": (0.0, 1.0),
            "unscored": (0.0, None),
        }
        none, dense = passes[kind]
        for task in range(1 if kind == "one" else 20):
            for method, at, reward in ((RUN0, 0, none), ("none", 1, none), ("dense", 1, dense)):
                results.append(Result(Cell(recipient, f"t{task}", 0, at, method), AttemptResult(reward=reward)))
    return whole(results)


def test_several_recipients_are_reported_with_their_directions() -> None:
    found = several(A="lower", B="higher", C="same", D="one", E="unscored").headline
    assert "Higher for B; lower for A; no claim for C, D; nothing to compare for E." in found
    assert "D +100.00 (no interval: 1 task)" in found and "A −100.00 [" in found


def test_only_privileged_methods_are_reported_as_such() -> None:
    runs = grid(RUN0, 0, [[0]] * 12) + grid("none", 1, [[0]] * 12) + grid("verifier-feedback", 1, [[1]] * 12)
    found = report_of(runs, privileged=frozenset({"verifier-feedback"})).headline
    assert found.startswith("With Verifier feedback †, one passes 100.00 % (12 tasks × 1 repetition)")
    assert found.endswith("It saw outcomes, and no method that did not is scored.")


def test_a_control_that_was_never_scored_is_reported_as_such() -> None:
    runs = grid(RUN0, 0, [[0]] * 12) + grid("none", 1, [[None]] * 12) + grid("dense", 1, [[1]] * 12)
    report = report_of(runs)
    assert "The `none` control was run and never scored: the change cannot be distinguished" in report.headline
    assert any(caveat.startswith("The `none` control was run and never scored") for caveat in report.caveats)
    assert not any("No `none` control" in caveat for caveat in report.caveats)


def test_without_any_feedback_no_scored_run_is_denied() -> None:
    second = report_of(grid(RUN0, 0, [[0]] * 3) + grid("none", 1, [[1]] * 3)).headline
    assert second == "one: no run with feedback is there (a second try has none), so nothing can be said of feedback."
    lost = report_of(grid(RUN0, 0, [[0]] * 3) + grid("dense", 1, [[None]] * 3)).headline
    assert "runs with feedback are there, and none was ever scored" in lost


def test_labels_that_would_be_one_tell_who_they_are() -> None:
    runs = grid(RUN0, 0, [[0]] * 3)
    for method in ("dense", "DENSE", "none", "None", "baseline"):
        runs += grid(method, 1, [[1]] * 3)
    names = whole(runs).methods
    assert [name.label for name in names] == [
        "Baseline (run0)",
        "DENSE (dense)",
        "DENSE (DENSE)",
        "None (second try)",
        "None",
        "baseline (baseline)",
    ]
    assert len({name.short for name in names}) == len(names)


def test_what_few_differing_tasks_can_reach_is_reported() -> None:
    runs = grid(RUN0, 0, [[0]] * 11) + grid("none", 1, [[0]] * 11) + grid("dense", 1, [[1]] * 4 + [[0]] * 7)
    says = difference(report_of(runs), "none", "dense", "none").says
    assert says.endswith("even if all 4 differing tasks pointed one way, p could not be below 0.125")


def test_later_rounds_have_no_workflow_of_two_runs() -> None:
    usage = Usage(1_000_000, None, None, 0)
    runs = grid(RUN0, 0, [[0]] * 3, usage=usage)
    for at in (1, 2):
        runs += grid("none", at, [[0]] * 3, usage=usage)
    report = report_of(runs, prices={"one": Prices(2, 10)})
    costs = [report.rows[0].cost, report.later[0].cost]
    assert [cost.workflow.value if cost else 0 for cost in costs] == [pytest.approx(4.0), None]
    assert costs[1] is not None and costs[1].total.value == pytest.approx(2.0)


def test_sums_of_tokens_count_and_cannot_be_priced() -> None:
    runs = grid(RUN0, 0, [[0]] * 3, total=100)
    for at in (1, 2):
        runs += grid("dense", at, [[0]] * 3, total=100, feedback_total=50)
    prices = {"one": Prices(2, 10), ANALYST: Prices(1, 1)}
    caveats = report_of(runs, prices=prices).caveats
    assert any(caveat.startswith("9 of 9 results report only the sum of their tokens") for caveat in caveats)
    assert any(caveat.endswith("cannot be priced, so no total for: DENSE.") for caveat in caveats), "named once"
    assert not any("No price of the feedback" in caveat for caveat in caveats)
    blind = report_of(
        grid(RUN0, 0, [[0]]) + grid("dense", 1, [[0]], feedback=Usage(1, 0, 0, 1)), prices={"one": Prices(2, 10)}
    )
    assert any(caveat.startswith("No price of the feedback's model") for caveat in blind.caveats)


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
    for found in report.differences:
        if found.family == RUN0 and found.points.value is not None:
            change = row(report, found.method).change
            assert change is not None and change == found.points, "the table's change is the comparison's difference"
        if found.worst is not None:
            assert found.worst.method_unscored + found.worst.reference_unscored > 0
            assert found.worst.points.known >= found.points.known
