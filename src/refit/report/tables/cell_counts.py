"""Which cells there are, and which have no grade."""

from __future__ import annotations

from refit.report.model import Report
from refit.report.numbers import NOTHING, count_of
from refit.report.table import CsvValue, ReportTable, TableCell, TableRow
from refit.report.tables.layout import KEY, all_rows, row_key, row_label
from refit.results import RUN0


def count_table(report: Report) -> ReportTable:
    """How many cells there are, and what came of them."""
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient, row in all_rows(report):
        counts = row.counts
        numbers = (counts.planned, counts.scored, counts.invalid, counts.missing, counts.unpaired, row.passed.known)
        start = bool(lines) and recipient.recipient != lines[-1].entries[0].text
        names = (TableCell(recipient.recipient), TableCell(row_label(row)), TableCell(str(row.round)))
        lines.append(TableRow((*names, *(TableCell(f"{count:,}") for count in numbers)), start))
        records.append((*row_key(recipient, row), *numbers))
    header = ("Recipient", "Method", "Round", "Planned", "Scored", "Invalid", "Missing", "Unpaired", "Used")
    fields = (*KEY, "planned", "scored", "invalid", "missing", "unpaired", "used")
    caption = (
        "Invalid: run, never scored. Missing: planned, not there. Unpaired: scored, but the first attempt of the pair "
        "was not. None of these is in any rate."
    )
    return ReportTable(
        name="cells",
        title="Cells",
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=2,
        is_long=True,
    )


def invalid_table(report: Report) -> ReportTable:
    """Every cell without a grade."""
    labels = {name.method: name.label for name in report.methods}
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for invalid in report.invalid:
        cell, what = invalid.cell, "missing" if invalid.is_missing else "invalid"
        what = "out of context" if invalid.is_out_of_context else what
        method = RUN0 if cell.round == 0 else cell.method
        names = (cell.recipient, cell.task, str(cell.repetition), str(cell.round), labels.get(method, method))
        lines.append(TableRow(tuple(TableCell(text) for text in (*names, what, invalid.reason or NOTHING))))
        records.append((cell.recipient, cell.task, cell.repetition, cell.round, cell.method, what, invalid.reason))
    header = ("Recipient", "Task", "Repetition", "Round", "Method", "What", "Why")
    fields = ("recipient", "task", "repetition", "round", "method", "what", "why")
    caption = f"{count_of(len(lines), 'cell')} without a grade: in no rate, and never zero."
    if any(invalid.is_out_of_context for invalid in report.invalid):
        caption += " Out of context: the agent's conversation outgrew its model, and what it had done was not graded."
    name, title = "invalid", "Missing and invalid cells"
    return ReportTable(
        name=name,
        title=title,
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=7,
        is_long=True,
    )
