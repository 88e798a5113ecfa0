"""What tables have in common: which rows they show, how these are named and marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dense.report.model import Estimate, MethodName, MethodRow, RecipientReport, Report
from dense.report.numbers import BOUND, NOTHING
from dense.report.table import Entry, Line, Mark, Table, Value
from dense.report.words import control, few

MARKS = "Bold and underline mark the best and the second; ties share."
DAGGER = "† saw outcomes: apart, not ranked."
INTERVALS = "Brackets are 95 % intervals over tasks."
BOUNDS = (
    f"{INTERVALS[:-1]}; with {BOUND} fewer than three tasks differ from the rest, and the interval is widened to what "
    "so few cannot rule out."
)
NONE = Entry(NOTHING)


def wide(
    report: Report,
    name: str,
    title: str,
    caption: str,
    entry: Callable[[MethodRow], Entry],
    fields: tuple[str, ...],
    records: tuple[tuple[Value, ...], ...],
) -> Table:
    """Methods down, recipients across; ablations have a table of their own."""
    columns = [{row.method: row for row in shown(recipient)} for recipient in report.recipients]
    methods = [method for method in report.methods if method.role != "ablation"]
    methods.sort(key=lambda method: method.role == "privileged")
    lines: list[Line] = []
    for at, method in enumerate(methods):
        found = [column.get(method.method) for column in columns]
        if any(found):
            apart = method.role == "privileged" and (at == 0 or methods[at - 1].role != "privileged")
            lines.append(Line((Entry(named(method)), *(entry(row) if row else NONE for row in found)), apart))
    header = ("Method", *(recipient.recipient for recipient in report.recipients))
    return Table(name, title, f"{caption} {intervals(lines)} {MARKS} {DAGGER}", header, tuple(lines), fields, records)


def intervals(lines: Sequence[Line]) -> str:
    """What brackets are, and what the mark at some is."""
    has_bound = any(BOUND in entry.text + entry.below for line in lines for entry in line.entries)
    return BOUNDS if has_bound else INTERVALS


def reserved(report: Report) -> str:
    """What must be known before any difference is believed: too few tasks, no second try to compare with."""
    said: list[str] = []
    for found in (
        [few(one.tasks_applicable) for one in report.recipients],
        [control(one.rows) for one in report.recipients],
    ):
        if len(set(found)) == 1:
            said += found[:1]
        else:
            said += [f"{one.recipient}: {text}" for one, text in zip(report.recipients, found, strict=True) if text]
    return "".join(f" {text}" for text in said if text)


def shown(recipient: RecipientReport, *, with_ablations: bool = False) -> list[MethodRow]:
    """Round 0 and the first round with feedback: methods, then ablations if wanted, then the privileged."""
    rows = [row for row in (recipient.baseline, *recipient.rows) if row is not None]
    order = ("baseline", "method", "ablation", "privileged")
    return sorted(
        (row for row in rows if with_ablations or row.role != "ablation"), key=lambda row: order.index(row.role)
    )


def every(report: Report) -> Iterator[tuple[RecipientReport, MethodRow]]:
    """All rows of all rounds."""
    for recipient in report.recipients:
        for row in (recipient.baseline, *recipient.rows, *recipient.later):
            if row is not None:
                yield recipient, row


KEY = ("recipient", "method", "role", "round")
"""The first columns of most CSVs."""


def key(recipient: RecipientReport, row: MethodRow) -> tuple[Value, ...]:
    return recipient.recipient, row.method, row.role, row.round


def ends(estimate: Estimate | None) -> tuple[Value, Value, Value, Value]:
    """A value, the ends of its interval and how that was made, for CSV."""
    if estimate is None or estimate.interval is None:
        return estimate and estimate.value, None, None, None
    found = estimate.interval
    return estimate.value, found.low, found.high, found.kind


def end_fields(value: str, name: str = "") -> tuple[str, str, str, str]:
    """The columns of these; the ends by another name than the value's where that has its unit in it."""
    name = name or value
    return value, f"{name}_low", f"{name}_high", f"{name}_interval"


def mark(rank: int | None) -> Mark:
    return "best" if rank == 1 else "second" if rank == 2 else ""


def label(row: MethodRow) -> str:
    return f"{row.label} †" if row.role == "privileged" else row.label


def named(method: MethodName) -> str:
    return f"{method.label} †" if method.role == "privileged" else method.label


def count(count: int | None) -> Entry:
    return NONE if count is None else Entry(str(count))
