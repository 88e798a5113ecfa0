"""What a result costs: estimated at fixed prices, and as recorded."""

from __future__ import annotations

from refit.report.model import MeanEstimate, MethodRow, Report, StandardCost
from refit.report.numbers import format_interval, format_number, known_of
from refit.report.table import CsvValue, ReportTable, TableCell, TableRow
from refit.report.tables.layout import (
    DAGGER,
    KEY,
    MARKS,
    all_rows,
    interval_fields,
    interval_legend,
    interval_values,
    rank_mark,
    row_key,
    row_label,
    shown_rows,
)
from refit.results import Prices


def cost_table(report: Report) -> ReportTable:
    """Standardised USD of a run and its feedback."""
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient in report.recipients:
        before = ""
        for row in shown_rows(recipient, with_ablations=True):
            if (cost := row.cost) is None:
                continue
            group = "ranked" if row.role in {"baseline", "method"} else row.role
            lines.append(TableRow(_cost(recipient.recipient, row, cost), bool(lines) and group != before))
            before = group
            money = (cost.execution, cost.feedback, cost.total, cost.total_change, cost.workflow)
            flat = [end for estimate in money for end in interval_values(estimate)]
            records.append((*row_key(recipient, row), *flat, cost.total.known, cost.total.of, cost.uncached))
    header = (
        "Recipient",
        "Method",
        "Execution ($)",
        "Feedback ($)",
        "Total ($) / Δ",
        "With source run ($)",
        "Pass (%)",
    )
    fields = KEY
    for name in ("execution_usd", "feedback_usd", "total_usd", "total_change_percent", "workflow_usd"):
        fields += interval_fields(name)
    fields += ("known", "results", "cache_not_reported")
    caption = (
        f"Estimated USD for one result: recorded tokens at fixed prices ({_prices(report)}), whatever was charged. "
        f"The total adds one feedback to its run, and not the source run. A dash under feedback: no call was made. "
        f"Feedback is ranked among methods that make calls; ablations are not ranked. {interval_legend(lines)} {MARKS} "
        f"{DAGGER}"
    )
    return ReportTable(
        name="costs",
        title="Priced costs",
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=2,
        is_long=True,
    )


def _cost(recipient: str, row: MethodRow, cost: StandardCost) -> tuple[TableCell, ...]:
    parts = row.role == "ablation"

    def dollars(estimate: MeanEstimate, rank: int | None) -> TableCell:
        below = " / ".join(filter(None, (format_interval(estimate.interval, 4), known_of(estimate))))
        return TableCell(format_number(estimate.value, 4), below, "" if parts else rank_mark(rank))

    change = cost.total_change
    total = dollars(cost.total, row.ranks.total)
    if change is not None and change.value is not None:
        below = " / ".join(filter(None, (total.below, format_interval(change.interval, 1, sign=True))))
        total = TableCell(f"{total.text} / {format_number(change.value, 1, sign=True, unit='%')}", below, total.mark)
    made = dollars(cost.feedback, row.ranks.feedback)
    if cost.feedback.value is None and row.is_generated is not False:
        made = TableCell("unknown")
    passed = TableCell(
        format_number(row.passed.value, 2),
        format_interval(row.passed.interval, 1),
        "" if parts else rank_mark(row.ranks.passed),
    )
    execution, workflow = dollars(cost.execution, row.ranks.execution), dollars(cost.workflow, None)
    return TableCell(recipient), TableCell(row_label(row)), execution, made, total, workflow, passed


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
    rows = [(recipient, row, row.recorded) for recipient, row in all_rows(report) if row.recorded]
    lines: list[TableRow] = []
    records: list[tuple[CsvValue, ...]] = []
    for recipient, row, recorded in rows:
        entries = [
            TableCell(
                format_number(money.value, 4),
                " / ".join(filter(None, (format_interval(money.interval, 4), known_of(money)))),
            )
            for money in (recorded.execution, recorded.feedback)
        ]
        lines.append(
            TableRow((TableCell(recipient.recipient), TableCell(row_label(row)), TableCell(str(row.round)), *entries))
        )
        counts = (recorded.execution.known, recorded.feedback.known, row.passed.known)
        records.append(
            (
                *row_key(recipient, row),
                *interval_values(recorded.execution),
                *interval_values(recorded.feedback),
                *counts,
            )
        )
    fields = (*KEY, *interval_fields("execution_usd", "execution"), *interval_fields("feedback_usd", "feedback"))
    fields += ("execution_known", "feedback_known", "results")
    caption = f"USD for one result as the programs themselves recorded it, where they did. {interval_legend(lines)}"
    header = ("Recipient", "Method", "Round", "Execution ($)", "Feedback ($)")
    name, title = "recorded-costs", "Recorded costs"
    return ReportTable(
        name=name,
        title=title,
        caption=caption,
        header=header,
        lines=tuple(lines),
        fields=fields,
        records=tuple(records),
        names=2,
        is_long=True,
    )
