"""What tables have in common: which rows they show, how these are named and marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dense.report.model import Estimate, MethodName, MethodRow, RecipientReport, Report
from dense.report.numbers import NOTHING
from dense.report.table import Entry, Line, Mark, Table, Value

MARKS = "Bold and underline mark the best and the second; ties share."
DAGGER = "† saw outcomes: apart, not ranked."
INTERVALS = "Brackets are 95 % intervals over tasks."
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
    return Table(name, title, caption, header, tuple(lines), fields, records)


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


def key(recipient: RecipientReport, row: MethodRow) -> tuple[Value, ...]:
    return recipient.recipient, row.method, row.role, row.round


def ends(estimate: Estimate | None) -> tuple[Value, Value, Value]:
    """A value and its interval, for CSV."""
    if estimate is None:
        return None, None, None
    found = estimate.interval
    return estimate.value, found.low if found else None, found.high if found else None


def mark(rank: int | None) -> Mark:
    return "best" if rank == 1 else "second" if rank == 2 else ""


def label(row: MethodRow) -> str:
    return f"{row.label} †" if row.role == "privileged" else row.label


def named(method: MethodName) -> str:
    return f"{method.label} †" if method.role == "privileged" else method.label


def count(count: int | None) -> Entry:
    return NONE if count is None else Entry(str(count))
