"""What a result costs: estimated at fixed prices, and as recorded."""

from __future__ import annotations

from collections.abc import Callable

from refit.report.model import MeanEstimate, MethodRow, RecordedCost, Report, StandardCost
from refit.report.numbers import format_interval, format_number
from refit.report.table import ReportTable, TableCell
from refit.report.tables.layout import (
    DAGGER,
    MARKS,
    RowColumn,
    all_rows,
    amount_cell,
    count_column,
    mean_column,
    passed_cell,
    rank_mark,
    row_table,
    shown_rows,
)
from refit.results import Prices


def cost_table(report: Report) -> ReportTable:
    """Standardised USD of a run and its feedback."""
    columns = (
        mean_column("Execution ($)", "execution_usd", lambda row: _cost(row).execution, _execution_cell),
        mean_column("Feedback ($)", "feedback_usd", lambda row: _cost(row).feedback, _feedback_cell),
        mean_column("Total ($) / Δ", "total_usd", lambda row: _cost(row).total, _total_cell),
        mean_column("", "total_change_percent", lambda row: _cost(row).total_change, _total_cell),
        mean_column("With source run ($)", "workflow_usd", lambda row: _cost(row).workflow, _workflow_cell),
        RowColumn("Pass (%)", lambda row: passed_cell(row, is_ranked=row.role != "ablation")),
        count_column("", "known", lambda row: _cost(row).total.known),
        count_column("", "results", lambda row: _cost(row).total.of),
        count_column("", "cache_not_reported", lambda row: _cost(row).uncached),
    )
    caption = (
        f"Estimated USD for one result: recorded tokens at fixed prices ({_prices(report)}), whatever was charged. "
        f"The total adds one feedback to its run, and not the source run. A dash under feedback: no call was made. "
        f"Feedback is ranked among methods that make calls; ablations are not ranked."
    )
    rows = (
        (recipient, row)
        for recipient in report.recipients
        for row in shown_rows(recipient, with_ablations=True)
        if row.cost is not None
    )
    return row_table(
        "costs",
        "Priced costs",
        caption,
        rows,
        columns,
        group=lambda recipient, row: (recipient.recipient, row.role if row.role in {"ablation", "privileged"} else ""),
        has_round=False,
        legend=f"{MARKS} {DAGGER}",
    )


UNKNOWN = MeanEstimate()
NO_COST = StandardCost(
    execution=UNKNOWN, feedback=UNKNOWN, total=UNKNOWN, total_change=UNKNOWN, workflow=UNKNOWN, uncached=0
)


def _cost(row: MethodRow) -> StandardCost:
    return row.cost or NO_COST


def _dollars(row: MethodRow, mean: MeanEstimate, rank: int | None) -> TableCell:
    return amount_cell(mean, 4, mark="" if row.role == "ablation" else rank_mark(rank))


def _execution_cell(row: MethodRow) -> TableCell:
    return _dollars(row, _cost(row).execution, row.ranks.execution)


def _feedback_cell(row: MethodRow) -> TableCell:
    is_unknown = _cost(row).feedback.value is None and row.is_generated is not False
    return TableCell("unknown") if is_unknown else _dollars(row, _cost(row).feedback, row.ranks.feedback)


def _total_cell(row: MethodRow) -> TableCell:
    total, change = _dollars(row, _cost(row).total, row.ranks.total), _cost(row).total_change
    if change is None or change.value is None:
        return total
    below = " / ".join(filter(None, (total.below, format_interval(change.interval, 1, sign=True))))
    return TableCell(f"{total.text} / {format_number(change.value, 1, sign=True, unit='%')}", below, total.mark)


def _workflow_cell(row: MethodRow) -> TableCell:
    return _dollars(row, _cost(row).workflow, None)


def _prices(report: Report) -> str:
    """All prices for a million tokens."""
    given = [(recipient.recipient, recipient.prices) for recipient in report.recipients]
    parts = [(name, prices) for name, prices in (*given, ("feedback", report.analyst_prices)) if prices]
    return "; ".join(_price(name, prices) for name, prices in parts)


def _price(name: str, prices: Prices) -> str:
    """Cached input at its own price where there is one; otherwise it is priced as input."""
    cached = ((prices.cache_read, "read from a cache"), (prices.cache_write, "written to one"))
    parts = [f"${prices.input:g} in", *(f"${price:g} {how}" for price, how in cached if price is not None)]
    return f"{name} {', '.join(parts)} and ${prices.output:g} out for a million tokens, {prices.source}"


def recorded_table(report: Report) -> ReportTable:
    """USD as programs recorded it."""

    def column(header: str, name: str, money: Callable[[RecordedCost], MeanEstimate]) -> RowColumn:
        def mean(row: MethodRow) -> MeanEstimate:
            return money(row.recorded) if row.recorded is not None else UNKNOWN

        return mean_column(header, f"{name}/{name}_usd", mean, lambda row: amount_cell(mean(row), 4))

    columns = (
        column("Execution ($)", "execution", lambda recorded: recorded.execution),
        column("Feedback ($)", "feedback", lambda recorded: recorded.feedback),
        count_column("", "execution_known", lambda row: row.recorded and row.recorded.execution.known),
        count_column("", "feedback_known", lambda row: row.recorded and row.recorded.feedback.known),
        count_column("", "results", lambda row: row.passed.known),
    )
    caption = "USD for one result as the programs themselves recorded it, where they did."
    rows = ((recipient, row) for recipient, row in all_rows(report) if row.recorded is not None)
    return row_table("recorded-costs", "Recorded costs", caption, rows, columns, group=lambda _recipient, _row: None)
