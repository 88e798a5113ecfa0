"""What the page shows, from the report: tables that can be sorted, a row for each task, what was run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from dense.report.figures.heatmap import first_outcomes, shade
from dense.report.figures.panel import rows_of
from dense.report.model import RecipientReport, Report, TaskOutcome
from dense.report.numbers import NOTHING, counted
from dense.report.pairs import is_scored
from dense.report.table import Entry, Line, Table
from dense.results import Experiment

MOST_LINES = 500
"""Of a table on the page; its files have all."""


class Head(Struct, frozen=True):
    """A column's head."""

    text: str
    """What it says."""
    is_number: bool
    """Whether the column is set to the right."""


class Place(Struct, frozen=True):
    """A cell of a table."""

    text: str
    """Its first line."""
    below: str = ""
    """Its second, smaller one."""
    kind: str = ""
    """Its class."""
    mark: str = ""
    """Best or second."""
    sort: str | None = None
    """The number by which it sorts, empty where that is unknown; None sorts by the text."""


class Shown(Struct, frozen=True):
    """A table of the page."""

    name: str
    """Of its files."""
    title: str
    """Its heading."""
    caption: str
    """How to read it."""
    heads: tuple[Head, ...]
    """Of the columns."""
    names: int
    """How many columns at the left are names."""
    groups: tuple[tuple[tuple[Place, ...], ...], ...]
    """Rows between rules: sorting stays within them, so that what stands apart stays apart."""
    files: tuple[str, ...]
    """Its files."""
    left: int
    """Rows that only the files have."""


def shown(table: Table) -> Shown:
    """A table as the page shows it."""
    heads = tuple(Head(text, at >= table.names) for at, text in enumerate(table.header))
    groups: list[list[tuple[Place, ...]]] = []
    for line in table.lines[:MOST_LINES]:
        if line.rule or not groups:
            groups.append([])
        groups[-1].append(_places(line, table.names))
    files = tuple(f"{table.name}.{end}" for end in ("md", "csv", "tex"))
    rows = tuple(tuple(group) for group in groups)
    left = max(len(table.lines) - MOST_LINES, 0)
    return Shown(table.name, table.title, table.caption, heads, table.names, rows, files, left)


def _places(line: Line, names: int) -> tuple[Place, ...]:
    return tuple(_place(entry, is_name=at < names) for at, entry in enumerate(line.entries))


def _place(entry: Entry, *, is_name: bool) -> Place:
    if is_name:
        return Place(entry.text, entry.below, mark=entry.mark)
    return Place(entry.text, entry.below, "n", entry.mark, number_in(entry.text))


NUMBER = re.compile(r"[<$(\s]*([+-]?)\$?(\d[\d,]*(?:\.\d+)?)")


def number_in(text: str) -> str | None:
    """The number that a text begins with, for sorting; empty for a dash; None where the text is words."""
    if text.strip() in {"", NOTHING}:
        return ""
    found = NUMBER.match(text.replace("−", "-"))
    return None if found is None else f"{found[1]}{found[2]}".replace(",", "").removeprefix("+")


class TaskLine(Struct, frozen=True):
    """A task of a recipient."""

    number: int
    """By which the page finds its cells."""
    task: str
    """Its name."""
    cells: tuple[Place, ...]
    """Passes under each method."""


class Part(Struct, frozen=True):
    """All tasks of a recipient."""

    recipient: str
    """Its name."""
    heads: tuple[tuple[str, str], ...]
    """The methods, by their short names and their whole ones."""
    rows: tuple[TaskLine, ...]
    """The tasks that it has."""


def parts(report: Report) -> list[Part]:
    """A row for each task that a recipient has, numbered through all recipients."""
    found: list[Part] = []
    short = {method.method: method.short for method in report.methods}
    number = 0
    for recipient in report.recipients:
        columns = rows_of(recipient)
        heads = tuple((short[row.method] + (" †" if row.role == "privileged" else ""), row.label) for row in columns)
        lines: list[TaskLine] = []
        for task in recipient.tasks:
            if task.is_applicable:
                outcomes = first_outcomes(task)
                cells = tuple(_passes(outcomes.get(row.method)) for row in columns)
                lines.append(TaskLine(number, task.task, cells))
                number += 1
        found.append(Part(recipient.recipient, heads, tuple(lines)))
    return found


def _passes(outcome: TaskOutcome | None) -> Place:
    if outcome is None or outcome.rate is None:
        return Place(NOTHING, kind="unscored", sort="")
    return Place(f"{outcome.passes}/{outcome.scored}", kind=f"q{shade(outcome.rate)}", sort=f"{outcome.rate:.6g}")


def run(report: Report, experiment: Experiment) -> list[tuple[str, str]]:
    """What was run, in a few lines."""
    names = [method.label for method in report.methods if method.role != "baseline"]
    lines = [
        ("Recipients", "; ".join(map(_recipient, report.recipients)) or "none"),
        ("Methods", ", ".join(names) or "none"),
        ("Tasks", f"{len(report.tasks)}"),
        ("Cells", _cells(experiment)),
    ]
    if report.excluded:
        lines.append(("Left out for sensitivity", ", ".join(report.excluded)))
    return lines


def _recipient(recipient: RecipientReport) -> str:
    tasks, rounds = recipient.tasks_applicable, recipient.rounds
    return (
        f"{recipient.recipient} ({counted(tasks, 'task')}, {counted(recipient.repetitions, 'repetition')}, "
        f"{counted(rounds, 'round')} of feedback)"
    )


def _cells(experiment: Experiment) -> str:
    done = {result.cell for result in experiment.results}
    scored = sum(is_scored(result) for result in experiment.results)
    missing = sum(cell not in done for cell in experiment.planned)
    planned = len(done) + missing
    return f"{planned:,} in all; {scored:,} scored, {len(done) - scored:,} without a grade, {missing:,} not run yet"


def facts(told: dict[str, Any]) -> list[tuple[str, str]]:
    """Whatever is recorded, as text: plain values on a line, others as indented JSON."""
    return [(name, _fact(value)) for name, value in sorted(told.items())]


def _fact(value: Any) -> str:
    if isinstance(value, str | int | float | bool) or value is None:
        return str(value)
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)


def pairs_of(found: Iterable[Part]) -> list[tuple[str, str]]:
    """The rows in order of their numbers, each a recipient and a task."""
    return [(part.recipient, row.task) for part in found for row in part.rows]


def texts_of(found: Sequence[Table]) -> list[Shown]:
    """The tables that the page shows: those of single tasks are its own rows."""
    return [shown(table) for table in found if not re.fullmatch(r"tasks-\d+", table.name)]
