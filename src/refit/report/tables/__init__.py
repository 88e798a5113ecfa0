"""Every table of a report. Methods are rows; the best value is bold and the second underlined, by unrounded values,
ties sharing; privileged rows are apart below, with a dagger, unranked. Intervals are in every table.

In: a `Report`. Out: `Table`s, which `refit.report.write` writes as Markdown, LaTeX and CSV. Never imports figures or
the page."""

from __future__ import annotations

from refit.report.model import Report
from refit.report.table import ReportTable
from refit.report.tables.cases import case_table, settings_table
from refit.report.tables.cell_counts import count_table, invalid_table
from refit.report.tables.contrasts import comparison_table
from refit.report.tables.costs import cost_table, recorded_table
from refit.report.tables.outcomes import behaviour_table, cumulative_table, task_table, transition_table
from refit.report.tables.rates import ablations, pass_table, round_table, sensitivity_table, token_table

__all__ = ["pass_table", "tables"]


def tables(report: Report) -> list[ReportTable]:
    """All that the data give, in the order in which they are read."""
    every_table = [
        pass_table(report),
        token_table(report),
        comparison_table(report),
        ablations(report),
        cost_table(report),
        recorded_table(report),
        transition_table(report),
        behaviour_table(report),
        cumulative_table(report),
        round_table(report),
        sensitivity_table(report),
        *(task_table(report, recipient) for recipient in report.recipients),
        case_table(report),
        settings_table(report),
        count_table(report),
        invalid_table(report),
    ]
    always = ("pass", "tokens", "comparisons", "cells", "invalid")
    return [table for table in every_table if table.lines or table.name in always]
