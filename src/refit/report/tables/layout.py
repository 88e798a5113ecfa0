"""What tables have in common: which rows they show, how these are named and marked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from msgspec import Struct

from refit.report.model import MeanEstimate, MethodName, MethodRow, RecipientReport, Report
from refit.report.numbers import BOUND, NOTHING, format_interval, format_number, known_of
from refit.report.table import CsvValue, Mark, ReportTable, TableCell, TableRow
from refit.report.wording import control_caveat, few_tasks_caveat

MARKS = "Bold and underline mark the best and the second; ties share."
DAGGER = "† saw outcomes: apart, not ranked."
INTERVALS = "Brackets are 95 % intervals over tasks."
BOUNDS = (
    f"{INTERVALS[:-1]}; with {BOUND} fewer than three tasks differ from the rest, or an amount is of fewer than ten "
    "tasks, and the interval is widened to what so few cannot rule out."
)
NO_VALUE = TableCell(NOTHING)


class RowColumn(Struct, frozen=True):
    """A column of a table with a line for each method's row: what people read of a row, and what the CSV has."""

    header: str = ""
    """Its head; empty if only the CSV has it."""
    cell: Callable[[MethodRow], TableCell] = lambda _: NO_VALUE
    """What people read."""
    fields: tuple[str, ...] = ()
    """Its columns of the CSV."""
    values: Callable[[MethodRow], tuple[CsvValue, ...]] = lambda _: ()
    """What these have."""


def count_column(header: str, field: str, count: Callable[[MethodRow], int | None]) -> RowColumn:
    """A column of whole numbers; with an empty head one that only the CSV has."""
    return RowColumn(header, lambda row: count_cell(count(row)), (field,), lambda row: (count(row),))


def mean_column(
    header: str, field: str, mean: Callable[[MethodRow], MeanEstimate | None], cell: Callable[[MethodRow], TableCell]
) -> RowColumn:
    """A column of means, which the CSV has with the ends of their intervals: `field` names the value, and before a
    slash what the ends are called."""
    ends, _, value = field.rpartition("/")
    return RowColumn(header, cell, interval_fields(value, ends), lambda row: interval_values(mean(row)))


class TableLines:
    """The lines of a table and the records of its CSV, as they come: a rule is above each new group."""

    def __init__(self) -> None:
        self.lines: list[TableRow] = []
        self.records: list[tuple[CsvValue, ...]] = []
        self._group: Hashable = None

    def add(
        self, group: Hashable, cells: Iterable[TableCell | str], records: Iterable[tuple[CsvValue, ...]] = ()
    ) -> None:
        """A line of a group, and what the CSV has of it."""
        entries = tuple([TableCell(cell) if isinstance(cell, str) else cell for cell in cells])
        self.lines.append(TableRow(entries, bool(self.lines) and group != self._group))
        self._group = group
        self.records += records

    def table(
        self,
        name: str,
        title: str,
        caption: str,
        header: Iterable[str],
        fields: Iterable[str],
        *,
        names: int = 1,
        is_long: bool = True,
    ) -> ReportTable:
        """The table of these lines. The arguments are the fields of `ReportTable`."""
        return ReportTable(
            name=name,
            title=title,
            caption=caption,
            header=tuple(header),
            lines=tuple(self.lines),
            fields=tuple(fields),
            records=tuple(self.records),
            names=names,
            is_long=is_long,
        )


def row_table(
    name: str,
    title: str,
    caption: str,
    rows: Iterable[tuple[RecipientReport, MethodRow]],
    columns: Sequence[RowColumn],
    *,
    group: Callable[[RecipientReport, MethodRow], Hashable] = lambda recipient, _: recipient.recipient,
    has_round: bool = True,
    legend: str | None = "",
) -> ReportTable:
    """A line for each row, with a rule above each new `group`. What intervals are follows the caption, then `legend`;
    neither if that is None."""
    shown = TableLines()
    for recipient, row in rows:
        names = (recipient.recipient, row_label(row), *([str(row.round)] if has_round else []))
        cells = (column.cell(row) for column in columns if column.header)
        values = (value for column in columns for value in column.values(row))
        shown.add(group(recipient, row), (*names, *cells), [(*row_key(recipient, row), *values)])
    heads = ("Recipient", "Method", *(["Round"] if has_round else []))
    legends = [] if legend is None else [interval_legend(shown.lines), legend]
    return shown.table(
        name,
        title,
        " ".join(filter(None, (caption, *legends))),
        (*heads, *(column.header for column in columns if column.header)),
        (*KEY, *(field for column in columns for field in column.fields)),
        names=2,
    )


def wide_table(
    report: Report,
    name: str,
    title: str,
    caption: str,
    entry: Callable[[MethodRow], TableCell],
    fields: tuple[str, ...],
    values: Callable[[MethodRow], tuple[CsvValue, ...]],
) -> ReportTable:
    """Methods down, recipients across; ablations have a table of their own."""
    columns = [{row.method: row for row in shown_rows(recipient)} for recipient in report.recipients]
    methods = [method for method in report.methods if method.role != "ablation"]
    methods.sort(key=lambda method: method.role == "privileged")
    shown = TableLines()
    for method in methods:
        across = [column.get(method.method) for column in columns]
        if any(across):
            cells = (entry(row) if row else NO_VALUE for row in across)
            shown.add(method.role == "privileged", (method_label(method), *cells))
    shown.records += [(*row_key(recipient, row), *values(row)) for recipient, row in all_rows(report)]
    header = ("Method", *(recipient.recipient for recipient in report.recipients))
    return shown.table(
        name, title, f"{caption} {interval_legend(shown.lines)} {MARKS} {DAGGER}", header, fields, is_long=False
    )


def interval_legend(lines: Sequence[TableRow]) -> str:
    """What brackets are, and what the mark at some is."""
    has_bound = any(BOUND in entry.text + entry.below for line in lines for entry in line.entries)
    return BOUNDS if has_bound else INTERVALS


def caveats_before_differences(report: Report) -> str:
    """What must be known before any difference is believed: too few tasks, no second try to compare with."""
    said: list[str] = []
    for caveats in (
        [few_tasks_caveat(recipient.tasks_applicable) for recipient in report.recipients],
        [control_caveat(recipient.rows) for recipient in report.recipients],
    ):
        if len(set(caveats)) == 1:
            said += caveats[:1]
        else:
            said += [
                f"{recipient.recipient}: {text}"
                for recipient, text in zip(report.recipients, caveats, strict=True)
                if text
            ]
    return "".join(f" {text}" for text in said if text)


def shown_rows(recipient: RecipientReport, *, with_ablations: bool = False) -> list[MethodRow]:
    """Round 0 and the first round with feedback: methods, then ablations if wanted, then the privileged."""
    rows = [row for row in (recipient.baseline, *recipient.rows) if row is not None]
    order = ("baseline", "method", "ablation", "privileged")
    return sorted(
        (row for row in rows if with_ablations or row.role != "ablation"), key=lambda row: order.index(row.role)
    )


def all_rows(report: Report) -> Iterator[tuple[RecipientReport, MethodRow]]:
    """All rows of all rounds."""
    for recipient in report.recipients:
        for row in (recipient.baseline, *recipient.rows, *recipient.later):
            if row is not None:
                yield recipient, row


KEY = ("recipient", "method", "role", "round")
"""The first columns of most CSVs."""


def row_key(recipient: RecipientReport, row: MethodRow) -> tuple[CsvValue, ...]:
    return recipient.recipient, row.method, row.role, row.round


def interval_values(estimate: MeanEstimate | None) -> tuple[CsvValue, CsvValue, CsvValue, CsvValue]:
    """A value, the ends of its interval and how that was made, for CSV."""
    if estimate is None or estimate.interval is None:
        return estimate and estimate.value, None, None, None
    interval = estimate.interval
    return estimate.value, interval.low, interval.high, interval.kind


def interval_fields(value: str, name: str = "") -> tuple[str, str, str, str]:
    """The columns of these; the ends by another name than the value's where that has its unit in it."""
    name = name or value
    return value, f"{name}_low", f"{name}_high", f"{name}_interval"


def rank_mark(rank: int | None) -> Mark:
    return "best" if rank == 1 else "second" if rank == 2 else ""


def row_label(row: MethodRow) -> str:
    return f"{row.label} †" if row.role == "privileged" else row.label


def method_label(method: MethodName) -> str:
    return f"{method.label} †" if method.role == "privileged" else method.label


def passed_cell(row: MethodRow, *, is_ranked: bool = True) -> TableCell:
    """The strict pass rate with its interval."""
    passed = row.passed
    mark = rank_mark(row.ranks.passed) if is_ranked else ""
    return TableCell(format_number(passed.value, 2), format_interval(passed.interval, 1), mark)


def amount_cell(mean: MeanEstimate, digits: int, *, scale: float = 1.0, mark: Mark = "") -> TableCell:
    """A mean with its interval, and of how many it is if some are unknown."""
    value = None if mean.value is None else mean.value * scale
    interval = format_interval(mean.interval, digits, scale=scale)
    return TableCell(format_number(value, digits), " / ".join(filter(None, (interval, known_of(mean)))), mark)


def count_cell(count: int | None) -> TableCell:
    return NO_VALUE if count is None else TableCell(f"{count:,}")
