"""A new measure is a field of `MethodRow` and a row in `MEASURES`: the table and its CSV follow."""

from __future__ import annotations

import pytest

from dense.trajectory import Usage
from refit.report import build
from refit.report.model import MethodRow
from refit.report.statistics.measures import MEASURES, Measure
from refit.report.tables import outcomes
from refit.results import RUN0, AttemptResult, Cell, Experiment, Result


def test_every_measure_has_its_field() -> None:
    assert {measure.field for measure in MEASURES} <= set(MethodRow.__struct_fields__)
    assert len({measure.column for measure in MEASURES}) == len(MEASURES)


def test_a_new_row_is_a_new_column(monkeypatch: pytest.MonkeyPatch) -> None:
    results = tuple(
        Result(Cell("one", f"t{task}", 0, 0, RUN0), AttemptResult(reward=1.0, usage=Usage(1000 * (task + 1), 0, 0, 0)))
        for task in range(3)
    )
    report = build(Experiment("x", results), draws=200)
    row = Measure("tokens", "run_tokens", "Tokens (thousands)", 1, lambda result: result.attempt.tokens, 0.001)
    monkeypatch.setattr(outcomes, "MEASURES", (*MEASURES, row))
    table = outcomes.behaviour_table(report)
    at = table.header.index("Tokens (thousands)")
    assert table.lines[0].entries[at].text == "2.0"
    assert table.records[0][table.fields.index("run_tokens")] == 2000.0
