"""What the page shows, from the report: tables that can be sorted, a row for each task, what was run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from refit.report.figures.heatmap import first_outcomes, shade
from refit.report.figures.panel import rows_of
from refit.report.grid import is_scored
from refit.report.model import RecipientReport, Report, TaskOutcome
from refit.report.numbers import NOTHING, count_of
from refit.report.table import ReportTable, TableCell, TableRow
from refit.results import Experiment

MAX_PAGE_ROWS = 500
"""Of a table on the page; its files have all."""


class PageCell(Struct, frozen=True):
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


class PageTable(Struct, frozen=True):
    """A table of the page."""

    table: ReportTable
    """The whole table."""
    groups: tuple[tuple[tuple[PageCell, ...], ...], ...]
    """Rows between rules: sorting stays within them, so that separate rows stay separate."""
    left: int
    """Rows that only the files have."""


def page_table(table: ReportTable) -> PageTable:
    """A table as the page shows it."""
    groups: list[list[tuple[PageCell, ...]]] = []
    for line in table.lines[:MAX_PAGE_ROWS]:
        if line.rule or not groups:
            groups.append([])
        groups[-1].append(_places(line, table.names))
    return PageTable(table, tuple(map(tuple, groups)), max(len(table.lines) - MAX_PAGE_ROWS, 0))


def _places(line: TableRow, names: int) -> tuple[PageCell, ...]:
    return tuple(_place(entry, is_name=at < names) for at, entry in enumerate(line.entries))


def _place(entry: TableCell, *, is_name: bool) -> PageCell:
    if is_name:
        return PageCell(entry.text, entry.below, mark=entry.mark)
    return PageCell(entry.text, entry.below, "n", entry.mark, number_in(entry.text))


NUMBER = re.compile(r"[<$(\s]*([+-]?)\$?(\d[\d,]*(?:\.\d+)?)")


def number_in(text: str) -> str | None:
    """The number that a text begins with, for sorting; empty for a dash; None where the text is words."""
    if text.strip() in {"", NOTHING}:
        return ""
    match = NUMBER.match(text.replace("−", "-"))
    return None if match is None else f"{match[1]}{match[2]}".replace(",", "").removeprefix("+")


class TaskEntry(Struct, frozen=True):
    """A task of a recipient."""

    number: int
    """By which the page finds its cells."""
    task: str
    """Its name."""
    cells: tuple[PageCell, ...]
    """Passes under each method."""


class RecipientTasks(Struct, frozen=True):
    """All tasks of a recipient."""

    recipient: str
    """Its name."""
    heads: tuple[tuple[str, str], ...]
    """The methods, by their short names and their whole ones."""
    rows: tuple[TaskEntry, ...]
    """The tasks that it has."""


def parts(report: Report) -> list[RecipientTasks]:
    """A row for each task that a recipient has, numbered through all recipients."""
    by_recipient: list[RecipientTasks] = []
    short = {method.method: method.short for method in report.methods}
    number = 0
    for recipient in report.recipients:
        columns = rows_of(recipient)
        heads = tuple((short[row.method] + (" †" if row.role == "privileged" else ""), row.label) for row in columns)
        lines: list[TaskEntry] = []
        for task in recipient.tasks:
            if task.is_applicable:
                outcomes = first_outcomes(task)
                cells = tuple(_passes(outcomes.get(row.method)) for row in columns)
                lines.append(TaskEntry(number, task.task, cells))
                number += 1
        by_recipient.append(RecipientTasks(recipient.recipient, heads, tuple(lines)))
    return by_recipient


def _passes(outcome: TaskOutcome | None) -> PageCell:
    if outcome is None or outcome.rate is None:
        return PageCell(NOTHING, kind="unscored", sort="")
    return PageCell(f"{outcome.passes}/{outcome.scored}", kind=f"q{shade(outcome.rate)}", sort=f"{outcome.rate:.6g}")


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
        f"{recipient.recipient} ({count_of(tasks, 'task')}, {count_of(recipient.repetitions, 'repetition')}, "
        f"{count_of(rounds, 'round')} of feedback)"
    )


def _cells(experiment: Experiment) -> str:
    done = {result.cell for result in experiment.results}
    scored = sum(is_scored(result) for result in experiment.results)
    missing = sum(cell not in done for cell in experiment.planned)
    planned = len(done) + missing
    return f"{planned:,} in all; {scored:,} scored, {len(done) - scored:,} without a grade, {missing:,} not run yet"


def facts(recorded: dict[str, Any]) -> list[tuple[str, str]]:
    """Whatever is recorded, as text: plain values on a line, others as indented JSON."""
    return [(name, _fact(value)) for name, value in sorted(recorded.items())]


def _fact(value: Any) -> str:
    if isinstance(value, str | int | float | bool) or value is None:
        return str(value)
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)


def pairs_of(by_recipient: Iterable[RecipientTasks]) -> list[tuple[str, str]]:
    """The rows in order of their numbers, each a recipient and a task."""
    return [(part.recipient, row.task) for part in by_recipient for row in part.rows]


def texts_of(tables: Sequence[ReportTable]) -> list[PageTable]:
    """The tables that the page shows: those of single tasks are its own rows."""
    return [page_table(table) for table in tables if not re.fullmatch(r"tasks-\d+", table.name)]
