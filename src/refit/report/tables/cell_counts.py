"""Which cells there are, and which have no grade."""

from __future__ import annotations

from refit.report.model import Report
from refit.report.numbers import NOTHING, count_of
from refit.report.table import ReportTable
from refit.report.tables.layout import TableLines, all_rows, count_column, row_table
from refit.results import RUN0


def count_table(report: Report) -> ReportTable:
    """How many cells there are, and what came of them."""
    columns = (
        count_column("Planned", "planned", lambda row: row.counts.planned),
        count_column("Scored", "scored", lambda row: row.counts.scored),
        count_column("Invalid", "invalid", lambda row: row.counts.invalid),
        count_column("Missing", "missing", lambda row: row.counts.missing),
        count_column("Unpaired", "unpaired", lambda row: row.counts.unpaired),
        count_column("Used", "used", lambda row: row.passed.known),
    )
    caption = (
        "Invalid: run, never scored. Missing: planned, not there. Unpaired: scored, but the first attempt of the pair "
        "was not. None of these is in any rate."
    )
    return row_table("cells", "Cells", caption, all_rows(report), columns, legend=None)


def invalid_table(report: Report) -> ReportTable:
    """Every cell without a grade."""
    labels = {name.method: name.label for name in report.methods}
    shown = TableLines()
    for invalid in report.invalid:
        cell, what = invalid.cell, "missing" if invalid.is_missing else "invalid"
        what = "out of context" if invalid.is_out_of_context else what
        method = RUN0 if cell.round == 0 else cell.method
        names = (cell.recipient, cell.task, str(cell.repetition), str(cell.round), labels.get(method, method))
        record = (cell.recipient, cell.task, cell.repetition, cell.round, cell.method, what, invalid.reason)
        shown.add(None, (*names, what, invalid.reason or NOTHING), [record])
    header = ("Recipient", "Task", "Repetition", "Round", "Method", "What", "Why")
    fields = ("recipient", "task", "repetition", "round", "method", "what", "why")
    caption = f"{count_of(len(shown.lines), 'cell')} without a grade: in no rate, and never zero."
    if any(invalid.is_out_of_context for invalid in report.invalid):
        caption += " Out of context: the agent's conversation outgrew its model, and what it had done was not graded."
    return shown.table("invalid", "Missing and invalid cells", caption, header, fields, names=7)
