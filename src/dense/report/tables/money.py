"""What a result costs: estimated at fixed prices, and as recorded."""

from __future__ import annotations

from dense.report.model import Cost, Estimate, MethodRow, Report
from dense.report.numbers import interval, known, number
from dense.report.table import Entry, Line, Table, Value
from dense.report.tables.parts import DAGGER, KEY, MARKS, end_fields, ends, every, intervals, key, label, mark, shown
from dense.results import Prices


def cost_table(report: Report) -> Table:
    """Standardised USD of a run and its feedback."""
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient in report.recipients:
        before = ""
        for row in shown(recipient, with_ablations=True):
            if (cost := row.cost) is None:
                continue
            group = "ranked" if row.role in {"baseline", "method"} else row.role
            lines.append(Line(_cost(recipient.recipient, row, cost), bool(lines) and group != before))
            before = group
            money = (cost.execution, cost.feedback, cost.total, cost.total_change, cost.workflow)
            flat = [end for estimate in money for end in ends(estimate)]
            records.append((*key(recipient, row), *flat, cost.total.known, cost.total.of, cost.uncached))
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
        fields += end_fields(name)
    fields += ("known", "results", "cache_not_told")
    caption = (
        f"Estimated USD for one result: recorded tokens at fixed prices ({_prices(report)}), whatever was charged. "
        f"The total adds one feedback to its run, and not the source run. A dash under feedback: no call was made. "
        f"Feedback is ranked among methods that make calls; ablations are not ranked. {intervals(lines)} {MARKS} "
        f"{DAGGER}"
    )
    return Table("costs", "Priced costs", caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)


def _cost(recipient: str, row: MethodRow, cost: Cost) -> tuple[Entry, ...]:
    parts = row.role == "ablation"

    def dollars(estimate: Estimate, rank: int | None) -> Entry:
        below = " / ".join(filter(None, (interval(estimate.interval, 4), known(estimate))))
        return Entry(number(estimate.value, 4), below, "" if parts else mark(rank))

    change = cost.total_change
    total = dollars(cost.total, row.ranks.total)
    if change is not None and change.value is not None:
        below = " / ".join(filter(None, (total.below, interval(change.interval, 1, sign=True))))
        total = Entry(f"{total.text} / {number(change.value, 1, sign=True, unit='%')}", below, total.mark)
    made = dollars(cost.feedback, row.ranks.feedback)
    if cost.feedback.value is None and row.is_generated is not False:
        made = Entry("unknown")
    passed = Entry(
        number(row.passed.value, 2), interval(row.passed.interval, 1), "" if parts else mark(row.ranks.passed)
    )
    execution, workflow = dollars(cost.execution, row.ranks.execution), dollars(cost.workflow, None)
    return Entry(recipient), Entry(label(row)), execution, made, total, workflow, passed


def _prices(report: Report) -> str:
    """All prices for a million tokens."""
    given = [(recipient.recipient, recipient.prices) for recipient in report.recipients]
    told = [(name, prices) for name, prices in (*given, ("feedback", report.analyst_prices)) if prices]
    return "; ".join(_price(name, prices) for name, prices in told)


def _price(name: str, prices: Prices) -> str:
    """Cached input at its own price where there is one; otherwise it is priced as input."""
    cached = ((prices.cache_read, "read from a cache"), (prices.cache_write, "written to one"))
    told = [f"${prices.input:g} in", *(f"${price:g} {how}" for price, how in cached if price is not None)]
    return f"{name} {', '.join(told)} and ${prices.output:g} out for a million tokens, {prices.source}"


def recorded_table(report: Report) -> Table:
    """USD as programs recorded it."""
    rows = [(recipient, row, row.recorded) for recipient, row in every(report) if row.recorded]
    lines: list[Line] = []
    records: list[tuple[Value, ...]] = []
    for recipient, row, recorded in rows:
        entries = [
            Entry(number(money.value, 4), " / ".join(filter(None, (interval(money.interval, 4), known(money)))))
            for money in (recorded.execution, recorded.feedback)
        ]
        lines.append(Line((Entry(recipient.recipient), Entry(label(row)), Entry(str(row.round)), *entries)))
        counts = (recorded.execution.known, recorded.feedback.known, row.passed.known)
        records.append((*key(recipient, row), *ends(recorded.execution), *ends(recorded.feedback), *counts))
    fields = (*KEY, *end_fields("execution_usd", "execution"), *end_fields("feedback_usd", "feedback"))
    fields += ("execution_known", "feedback_known", "results")
    caption = f"USD for one result as the programs themselves recorded it, where they did. {intervals(lines)}"
    header = ("Recipient", "Method", "Round", "Execution ($)", "Feedback ($)")
    name, title = "recorded-costs", "Recorded costs"
    return Table(name, title, caption, header, tuple(lines), fields, tuple(records), 2, is_long=True)
