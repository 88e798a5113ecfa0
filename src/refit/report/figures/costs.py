"""What one result costs: execution and feedback as one bar, a panel for each recipient; round 0 as a dashed line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refit.report.figures.bars import bar, empty_panels, in_order, method_names, row_text, whisker
from refit.report.figures.canvas import Axes, legend, legend_height
from refit.report.figures.panel import (
    Drawing,
    Value,
    ends_of,
    finished,
    first_round,
    headed,
    number_of,
    paged,
    rows_of,
    shown,
    unknown,
    width_for,
    without,
)
from refit.report.figures.style import MethodStyle, darker, method_styles
from refit.report.model import MethodRow, RecipientReport, Report
from refit.report.numbers import format_fixed
from refit.results import RUN0

NAME = "costs"
TITLE = "Cost of one result"
FEEDBACK = "#d0d0d0"
PARTS = ("execution", "feedback", "round 0")


def costs(report: Report, folder: Path) -> list[Drawing]:
    """Execution and feedback in USD, one on the other; round 0 as a dashed line."""

    def total(row: MethodRow) -> Any:
        return None if row.cost is None else row.cost.total

    recipients = shown(report, total)
    if not any(number_of(total(row)) for recipient in recipients for row in rows_of(recipient)):
        return [Drawing(name=NAME, title=TITLE, reason=without(report, _reason(report)))]
    return [_costs(report, folder, name, few, total) for name, few in paged(recipients, NAME)]


def _reason(report: Report) -> str:
    """Why no total is known."""
    costs = [row.cost for recipient in report.recipients for row in recipient.rows if row.cost is not None]
    if not costs:
        return "no prices are known"
    if all(number_of(cost.total) == 0 for cost in costs):
        return "none recorded: every price is 0"
    if any(cost.execution.known for cost in costs):
        return "what feedback costs is not known: its tokens, or the price of its model"
    has_tokens = any(row.tokens.known for recipient in report.recipients for row in recipient.rows)
    return "only sums of tokens are known, which cannot be priced" if has_tokens else "tokens are not known"


def _costs(report: Report, folder: Path, name: str, recipients: Sequence[RecipientReport], total: Value) -> Drawing:
    methods = in_order(report, recipients)
    figure, axes = empty_panels(report, methods, recipients, legend_height(PARTS, width_for(len(recipients))))
    drawn = method_styles([method.method for method in report.methods])
    for axis, recipient in zip(axes, recipients, strict=True):
        rows = {row.method: row for row in rows_of(recipient)}
        for line, method in enumerate(methods):
            _stack(axis, line, rows.get(method.method), drawn[method.method])
        baseline = number_of(total(rows[RUN0])) if RUN0 in rows else None
        if baseline is not None:
            axis.axvline(baseline, color="#444444", linewidth=0.9, dashes=(4, 2), zorder=3)
        axis.set_xlabel("USD for one result")
        axis.grid(visible=False, axis="y")
        axis.xaxis.get_major_locator().set_params(nbins=6)
        headed(axis, recipient)
    method_names(axes, methods)
    legend(figure, _parts())
    caption = (
        "Recorded tokens at the report's prices. In the method's colour: the recipient's execution; light grey with "
        "dots: making the feedback once; whiskers: 95 % intervals over tasks of both together. The dashed line is "
        "round 0, which no other bar includes. * over the results whose tokens are known."
        + first_round(recipients)
        + unknown(recipients, total, "Costs")
    )
    return finished(figure, report, folder, name, TITLE, caption, recipients)


def _parts() -> list[Any]:
    """What the parts of a bar are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Patch(facecolor="white", edgecolor="#444444", linewidth=0.6, label=PARTS[0]),
        Patch(facecolor=FEEDBACK, edgecolor=darker(FEEDBACK), hatch="....", linewidth=0.5, label=PARTS[1]),
        Line2D([], [], color="#444444", linewidth=0.9, dashes=(4, 2), label=PARTS[2]),
    ]


def _stack(axis: Axes, line: int, row: MethodRow | None, look: MethodStyle) -> None:
    estimate = None if row is None or row.cost is None else row.cost.total
    value = number_of(estimate)
    if row is None or row.cost is None or estimate is None or value is None:
        row_text(axis, line, "unknown" if row else "not run")
        return
    # The total is over results of which both parts are known, the parts on their own: the total is what is drawn.
    feedback = min(number_of(row.cost.feedback) or 0.0, value)
    bar(axis, line, value - feedback, look)
    if feedback:
        bar(axis, line, feedback, look, left=value - feedback, colour=FEEDBACK, hatch="....")
    whisker(axis, line, ends_of(estimate))
    row_text(axis, line, format_dollars(value) + ("*" if estimate.known < estimate.of else ""))


def format_dollars(value: float) -> str:
    """USD with as many digits as say something."""
    return f"${format_fixed(value, 2 if value >= 0.1 or not value else 4)}"
