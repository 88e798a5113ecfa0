"""An experiment with the published counts gives the published numbers, to the digit, with the published marks."""

from __future__ import annotations

import pytest

from refit.report import Report
from refit.report.build import build
from refit.report.model import Difference, MethodRow
from refit.report.numbers import format_fixed
from refit.report.table import ReportTable
from refit.report.tables import tables
from refit.results import RUN0, AttemptResult, Cell, Experiment, Result

PASS = """
Baseline | _44.57 | 51.44 | 68.54 | 39.33
Advisor | 41.20 / -3.37 | 53.91 / +2.47 | 69.29 / +0.75 | 43.82 / +4.49
Self-reflection | 38.58 / -5.99 | 63.79 / +12.35 | 72.28 / +3.75 | 46.07 / +6.74
All-at-once | _44.57 / +0.00 | 62.14 / +10.70 | _73.03 / +4.49 | _47.94 / +8.61
Step-by-step | 42.70 / -1.87 | _65.43 / +13.99 | _73.03 / +4.49 | 46.82 / +7.49
DENSE | *52.43 / +7.87 | *73.25 / +21.81 | *75.66 / +7.12 | *50.94 / +11.61
Verifier feedback † | 44.94 / +0.37 | 66.67 / +15.23 | 83.90 / +15.36 | 53.93 / +14.61
"""
TOKENS = """
Baseline | 1,402.2 | 2,075.0 | 319.1 | _545.3
Advisor | 1,729.6 / +23.4% | 2,224.4 / +7.2% | 302.6 / -5.2% | 602.2 / +10.4%
Self-reflection | _1,198.3 / -14.5% | 1,709.0 / -17.6% | 230.7 / -27.7% | 559.7 / +2.6%
All-at-once | 1,353.9 / -3.4% | 1,710.5 / -17.6% | _211.4 / -33.7% | 546.9 / +0.3%
Step-by-step | 1,609.8 / +14.8% | *1,500.9 / -27.7% | 294.8 / -7.6% | 587.8 / +7.8%
DENSE | *1,136.0 / -19.0% | _1,536.8 / -25.9% | *179.9 / -43.6% | *416.1 / -23.7%
Verifier feedback † | 1,718.5 / +22.6% | 1,835.0 / -11.6% | 260.2 / -18.5% | 682.0 / +25.1%
"""
COSTS = """
Baseline | 1.8085 | — | 1.8085 | 68.54
Advisor | 1.7067 | *0.0024 | 1.7091 / -5.5% | 69.29
Self-reflection | 1.2596 | — | 1.2596 / -30.4% | 72.28
All-at-once | _1.1565 | _0.0138 | _1.1704 / -35.3% | _73.03
Step-by-step | 1.5947 | 0.1207 | 1.7154 / -5.2% | _73.03
DENSE | *1.0075 | 0.1396 | *1.1470 / -36.6% | *75.66
"""
MARKS = {"": "", "best": "*", "second": "_"}


def shown(table: ReportTable, columns: list[int]) -> str:
    """The first lines of the cells, with * for bold and _ for underlined."""
    rows = [
        " | ".join(MARKS[line.entries[at].mark] + line.entries[at].text.replace("−", "-") for at in columns)
        for line in table.lines
    ]
    return "\n".join(["", *rows, ""])


def named(report: Report, name: str) -> ReportTable:
    return next(table for table in tables(report) if table.name == name)


def row(report: Report, recipient: str, method: str) -> MethodRow:
    found = next(one for one in report.recipients if one.recipient == recipient)
    return next(one for one in (found.baseline, *found.rows) if one is not None and one.method == method)


def gap(report: Report, method: str, *, reduced: bool = False) -> Difference:
    recipients = report.sensitivity if reduced else report.recipients
    found = next(one for one in recipients if one.recipient == "GPT-5.5")
    return next(one for one in found.differences if one.family == "dense" and one.reference == method)


def test_strict_pass_and_change(published: Report) -> None:
    assert shown(named(published, "pass"), [0, 1, 2, 3, 4]) == PASS


def test_tokens_and_change(published: Report) -> None:
    assert shown(named(published, "tokens"), [0, 1, 2, 3, 4]) == TOKENS


def test_priced_costs(published: Report) -> None:
    table = named(published, "costs")
    assert {line.entries[0].text for line in table.lines} == {"GPT-5.5"}, "the others have no prices"
    rows = [line for line in table.lines if "without" not in line.entries[1].text and "†" not in line.entries[1].text]
    assert "\n".join(shown(table, [1, 2, 3, 4, 6]).splitlines()[: len(rows) + 1]) + "\n" == COSTS


def test_the_whole_workflow_and_the_shares_of_feedback(published: Report) -> None:
    cost, base = row(published, "GPT-5.5", "dense").cost, row(published, "GPT-5.5", RUN0).cost
    assert cost is not None and base is not None
    made, run, first = (estimate.value or 0.0 for estimate in (cost.feedback, cost.execution, base.execution))
    assert format_fixed(cost.workflow.value or 0.0, 2) == "2.96"
    assert (format_fixed(100 * made / first, 1), format_fixed(100 * made / run, 1)) == ("7.7", "13.9")


@pytest.mark.parametrize(
    ("method", "numbers"),
    [
        ("self-reflection", (83, 36, 20, -16, 103)),
        ("dense", (110, 9, 30, 21, 140)),
        ("verifier-feedback", (82, 37, 38, 1, 120)),
    ],
)
def test_minimax_transitions(published: Report, method: str, numbers: tuple[int, ...]) -> None:
    found = row(published, "MiniMax-M2.7", method).transition
    assert found is not None
    assert (found.retained, found.regressed, found.repaired, found.net, found.successes) == numbers
    assert found.pairs == 267


def test_regressions_without_tools(published: Report) -> None:
    rows = [row(published, "MiniMax-M2.7", method) for method in ("verifier-feedback", "self-reflection", "dense")]
    found = [one.transition.regressed_without_tools if one.transition else None for one in rows]
    assert found == [32, 27, 0]
    assert rows[2].without_tools == 0
    assert [format_fixed(100 * one.transition.regressed / 119, 2) for one in rows if one.transition][::2] == [
        "31.09",
        "7.56",
    ]


def test_dense_exceeds_verifier_feedback_on_minimax(published: Report) -> None:
    found = next(
        one
        for one in published.recipients[0].differences
        if (one.family, one.reference) == ("dense", "verifier-feedback")
    )
    assert format_fixed(found.points.value or 0.0, 2, sign=True) == "+7.49"


def test_ablations(published: Report) -> None:
    methods = [RUN0, "dense-no-shortcuts", "dense-no-hierarchy", "dense"]
    rows = [row(published, "GPT-5.5", method) for method in methods]
    assert [one.passes for one in rows] == [183, 193, 194, 202]
    assert [format_fixed(one.passed.value or 0.0, 2) for one in rows] == ["68.54", "72.28", "72.66", "75.66"]
    assert [format_fixed((one.tokens.value or 0.0) / 1000, 1) for one in rows] == ["319.1", "228.6", "199.2", "179.9"]
    assert [format_fixed(one.means["reward"].value or 0.0, 4) for one in rows] == [
        "0.7901",
        "0.8208",
        "0.8245",
        "0.8449",
    ]
    assert sum(one.partial for one in rows) == 64 and sum(one.passed.known for one in rows) == 1068
    gaps = [format_fixed(gap(published, method).points.value or 0.0, 2) for method in methods[1:3]]
    assert gaps == ["3.37", "3.00"]
    lines = named(published, "ablations").lines
    assert [line.entries[3].mark for line in lines] == ["", "", "second", "best"]


def test_sensitivity_without_the_task_with_port_conflicts(published: Report) -> None:
    found = next(one for one in published.sensitivity if one.recipient == "GPT-5.5")
    rows = {one.method: one for one in (found.baseline, *found.rows) if one is not None}
    methods = [RUN0, "dense-no-shortcuts", "dense-no-hierarchy", "dense"]
    assert {rows[method].passed.known for method in methods} == {264}
    rates = [format_fixed(rows[method].passed.value or 0.0, 2) for method in methods]
    assert rates == ["69.32", "72.73", "73.48", "76.14"]
    gaps = [format_fixed(gap(published, method, reduced=True).points.value or 0.0, 2) for method in methods[1:3]]
    assert gaps == ["3.41", "2.65"]
    line = next(
        one for one in named(published, "sensitivity").lines if one.entries[1].text == "DENSE without shortcuts"
    )
    assert [entry.text for entry in line.entries[4:]] == ["+3.37", "+3.41"], "both numbers are shown"


def test_deepseek_has_81_tasks_and_grey_ones(published: Report) -> None:
    deepseek = published.recipients[1]
    assert (deepseek.tasks_applicable, len(deepseek.tasks)) == (81, 89)
    assert sum(not task.is_applicable for task in deepseek.tasks) == 8


@pytest.mark.parametrize(
    ("ahead", "tasks", "points"), [(3, 30, "3.3"), (7, 30, "7.8"), (6, 30, "6.7"), (8, 26, "10.3")]
)
def test_cumulative_gaps_of_the_hard_tasks(ahead: int, tasks: int, points: str) -> None:
    """After three rounds DENSE has solved so many pairs more than Self-reflection."""
    results: list[Result] = []
    for number, (task, repetition) in enumerate((t, r) for r in range(3) for t in range(tasks)):
        for method, solved in (("self-reflection", 20), ("dense", 20 + ahead)):
            for at in (1, 2, 3):
                cell = Cell("one", f"t{task}", repetition, at, method)
                results.append(Result(cell, AttemptResult(reward=float(number < solved and number % 3 + 1 == at))))
        results.append(Result(Cell("one", f"t{task}", repetition, 0, RUN0), AttemptResult(reward=0.0)))
    report = build(Experiment("hard", tuple(results)), draws=200)
    lines = {line.method: line.points for line in report.recipients[0].cumulative}
    last = [lines[method][3] for method in ("dense", "self-reflection")]
    assert format_fixed((last[0].passed.value or 0.0) - (last[1].passed.value or 0.0), 1) == points
    assert lines["dense"][0].solved == 0 and last[1].solved == 20
    found = next(one for one in report.recipients[0].differences if one.family == "cumulative")
    assert format_fixed(found.points.value or 0.0, 1) == points and found.points.known == 3 * tasks
