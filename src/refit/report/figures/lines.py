"""Cumulative pass by round: pairs solved at least once, a line for each method, a panel for each recipient."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refit.report.figures.canvas import Axes, legend, percent_up
from refit.report.figures.panel import (
    Drawing,
    ends_of,
    finished,
    framed,
    headed,
    labelled,
    line_handle,
    number_of,
    paged,
)
from refit.report.figures.style import MethodStyle, method_styles
from refit.report.model import CumulativeLine, RecipientReport, Report
from refit.results import RUN0

NAME = "cumulative"
TITLE = "Cumulative pass rate by round"


def cumulative(report: Report, folder: Path) -> list[Drawing]:
    """The lines, over as many figures as the recipients take; left out where there is one round only."""
    recipients = [recipient for recipient in report.recipients if recipient.rounds > 1 and recipient.cumulative]
    if not recipients:
        return [Drawing(name=NAME, title=TITLE, reason=_reason(report))]
    return [_figure(report, folder, name, few) for name, few in paged(recipients, NAME)]


def _reason(report: Report) -> str:
    """Why there are no lines."""
    several = [recipient for recipient in report.recipients if recipient.rounds > 1]
    if not several:
        some = any(recipient.rounds for recipient in report.recipients)
        return "there is one round of feedback" if some else "there is no round with feedback"
    if all(recipient.baseline is None for recipient in several):
        return "no round 0 is scored, so there is nothing to start from"
    return "no pair was scored in every round under every method"


def _figure(report: Report, folder: Path, name: str, recipients: Sequence[RecipientReport]) -> Drawing:
    present = {line.method for recipient in recipients for line in recipient.cumulative}
    drawn = method_styles([method.method for method in report.methods])
    handles = [
        line_handle(labelled(method), _styled(drawn[method.method]))
        for method in report.methods
        if method.method in present
    ]
    figure, axes = framed(report, len(recipients), [handle.get_label() for handle in handles])
    for axis, recipient in zip(axes, recipients, strict=True):
        start = recipient.cumulative[0].points[0]
        axis.plot((start.round,), (number_of(start.passed),), **_styled(drawn[RUN0]), zorder=4)
        for number, line in enumerate(recipient.cumulative):
            shift = 0.34 * ((number + 0.5) / len(recipient.cumulative) - 0.5)
            _line(axis, line, drawn[line.method], shift)
        axis.set_xticks(range(recipient.rounds + 1))
        axis.set_xlabel("Through round")
        axis.set_ylabel("Solved at least once (%)")
        axis.grid(visible=False, axis="x")
        percent_up(axis)
        headed(axis, recipient)
    legend(figure, handles)
    matched = ", ".join(
        f"{recipient.recipient} {recipient.cumulative_pairs}"
        + (f" ({recipient.cumulative_dropped} more are not)" if recipient.cumulative_dropped else "")
        for recipient in recipients
    )
    caption = (
        "Share of task and repetition pairs that were solved at least once through a round, over the pairs that were "
        f"scored in every round under every method: {matched}. Lines up are 95 % intervals over tasks; methods are "
        "side by side so that they can be distinguished. † saw outcomes."
    )
    return finished(figure, report, folder, name, TITLE, caption, recipients)


def _line(axis: Axes, line: CumulativeLine, look: MethodStyle, shift: float) -> None:
    places = [(point.round + (shift if point.round else 0), point.passed) for point in line.points]
    known = [(x, value) for x, estimate in places if (value := number_of(estimate)) is not None]
    axis.plot([x for x, _ in known], [y for _, y in known], **_styled(look), markevery=slice(1, None), zorder=3)
    for x, estimate in places[1:]:
        if (ends := ends_of(estimate)) is not None:
            axis.plot((x, x), ends, color=look.colour, linewidth=0.7, alpha=0.7, zorder=2)


def _styled(look: MethodStyle) -> dict[str, Any]:
    return {
        "color": look.colour,
        "dashes": look.dash or (None, None),
        "marker": look.marker,
        "markeredgecolor": "black",
        "markeredgewidth": 0.5,
        "markersize": 7 if look.marker == "*" else 4.5,
    }
