"""What an attempt gave reaches the export, the report's tables and its page; a field that nobody shows fails here."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from msgspec import Struct
from msgspec.structs import replace

from dense.trajectory import Usage
from refit.experiment.results_table.files import read_table, write_table
from refit.experiment.results_table.rows import row_of
from refit.measures import AVERAGED, MEASURES, ON_PAGE, MeanColumn, Measure
from refit.report import build
from refit.report.page.cells import inline_cells
from refit.report.statistics import metrics
from refit.report.table import comma_separated
from refit.report.tables import outcomes, tables
from refit.results import ANALYST, RUN0, AttemptResult, Cell, Experiment, Prices, Result

PLACES = {"export", "tables", "page"}
PARTS = {"cell", "attempt"}
"""Fields of a result that are structs themselves."""
FIELDS = [
    *(f"attempt.{name}" for name in AttemptResult.__struct_fields__),
    *(name for name in Result.__struct_fields__ if name not in PARTS),
]


def sample(kind: Any, number: int) -> Any:
    """A value of a type; other numbers give others."""
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    values: dict[Any, Any] = {
        str: f"file-{number}",
        bool: bool(number % 2),
        int: 1000 + number,
        float: 100.0 + number,
        Usage: Usage(100 + number, 200 + number, 300 + number, 400 + number, 500.0 + number),
    }
    assert kind in values, f"say what a value of {kind} may be in `sample`, and how a measure reads it"
    return values[kind]


def filled(struct: type[Struct], *keep: str) -> dict[str, Any]:
    """A value for every field of a struct."""
    types_of_fields = get_type_hints(struct)
    return {name: sample(types_of_fields[name], 1) for name in struct.__struct_fields__ if name not in keep}


def bases() -> Iterator[Result]:
    """Results in which a change of a field may show: with all that can be known, without a score, with little."""
    cell = Cell("r", "t0", 0, 1, "dense")
    full = Result(cell, AttemptResult(**filled(AttemptResult, "total")), **filled(Result, "feedback_total", *PARTS))
    yield full
    yield replace(full, attempt=replace(full.attempt, reward=None))
    yield Result(cell, AttemptResult(reward=1.0))
    yield Result(cell)


def with_field(result: Result, field: str, number: int) -> Result:
    part, _, name = field.rpartition(".")
    if not part:
        return replace(result, **{name: sample(get_type_hints(Result)[name], number)})
    return replace(
        result, attempt=replace(result.attempt, **{name: sample(get_type_hints(AttemptResult)[name], number)})
    )


def shown_in(result: Result, folder: Path) -> dict[str, str]:
    """What the export, the report's tables and the page's cells say of an experiment with this result."""
    first = Result(Cell("r", "t0", 0, 0, RUN0), AttemptResult(reward=1.0, usage=Usage(9, 9, 9, 9)))
    prices = {"r": Prices(5, 30), ANALYST: Prices(1, 2)}
    experiment = Experiment("x", (first, result), methods=("dense",), prices=prices, folder=str(folder))
    report = build(experiment, draws=100)
    cells = inline_cells(experiment, folder, [("r", "t0")], {"dense": "DENSE"})
    return {
        "export": json.dumps(row_of(result)),
        "tables": "".join(map(comma_separated, tables(report))),
        "page": json.dumps(cells),
    }


def places_of(field: str, folder: Path) -> set[str]:
    """Where another value of a field is seen."""
    for number in (1, 2):
        (folder / f"file-{number}").mkdir(exist_ok=True)
    found: set[str] = set()
    for base in bases():
        one, other = (shown_in(with_field(base, field, number), folder) for number in (1, 2))
        found |= {place for place in PLACES if one[place] != other[place]}
    return found


def measures_of(field: str) -> list[Measure]:
    return [measure for measure in MEASURES if measure.field == field or measure.field.startswith(f"{field}.")]


def without_a_measure(fields: list[str]) -> str:
    """What to do about fields that no measure reads."""
    lost = [field for field in fields if not measures_of(field)]
    return "".join(
        f"{field} reaches no table and no page: give it a row in MEASURES of refit/measures.py "
        "(CONTRIBUTING.md, 'A column from the attempt to the page'). "
        for field in lost
    )


def test_every_field_has_a_measure() -> None:
    assert without_a_measure(FIELDS) == ""
    assert "attempt.peak_memory reaches no table and no page: give it a row" in without_a_measure(
        [*FIELDS, "attempt.peak_memory"]
    )


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_reaches_all_places_but_those_that_its_measure_excepts(field: str, tmp_path: Path) -> None:
    excepted = {place for measure in measures_of(field) for place in measure.unshown}
    assert places_of(field, tmp_path) == PLACES - excepted, (
        f"a change of {field} is seen in {sorted(places_of(field, tmp_path))}: give its measure a `mean`, a `page` "
        "column or a `remark`, or name the places that do not show it as `unshown`"
    )


def test_every_field_of_a_result_comes_back_from_a_table(tmp_path: Path) -> None:
    results = tuple(
        replace(result, cell=replace(result.cell, repetition=number)) for number, result in enumerate(bases())
    )
    write_table(results, tmp_path / "a.csv")
    assert read_table(tmp_path / "a.csv").results == results


def test_names_are_given_once() -> None:
    names = [measure.name for measure in MEASURES]
    spellings = [spelling for measure in MEASURES for spelling in measure.spellings]
    assert len({*names, *spellings}) == len(names) + len(spellings)
    assert len({mean.column or measure.name for measure, mean in AVERAGED}) == len(AVERAGED)
    assert [measure.name for measure, _ in ON_PAGE][:3] == ["repetition", "round", "method"], (
        "cells are sorted by these"
    )


def test_a_new_row_is_a_new_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is averaged is in the table and its CSV file, and nothing else says what there is."""
    row = Measure(name="run_tokens", kind="count", meaning="tokens", read=lambda result: result.attempt.tokens)
    averaged = (*AVERAGED, (row, MeanColumn(header="Run tokens (thousands)", digits=1, scale=0.001)))
    for module in (metrics, outcomes):
        monkeypatch.setattr(module, "AVERAGED", averaged)
    results = tuple(
        Result(Cell("one", f"t{task}", 0, 0, RUN0), AttemptResult(reward=1.0, usage=Usage(1000 * (task + 1), 0, 0, 0)))
        for task in range(3)
    )
    table = outcomes.behaviour_table(build(Experiment("x", results), draws=200))
    at = table.header.index("Run tokens (thousands)")
    assert table.lines[0].entries[at].text == "2.0"
    assert table.records[0][table.fields.index("run_tokens")] == 2000.0
