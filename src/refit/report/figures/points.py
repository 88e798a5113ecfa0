"""Pass rate against tokens, a panel for each recipient: upper left is better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from refit.report.figures.canvas import Axes, legend, percent_up, thousands
from refit.report.figures.panel import (
    Drawing,
    Value,
    ends_of,
    finished,
    first_round,
    framed,
    headed,
    labelled,
    line_handle,
    number_of,
    paged,
    rows_of,
    unknown,
)
from refit.report.figures.style import MethodStyle, method_styles
from refit.report.model import MethodRow, RecipientReport, Report


class TokenAxis(Struct, frozen=True):
    """What the pass rate is drawn against."""

    name: str
    """Of the files."""
    title: str
    """What it shows."""
    axis: str
    """What is on the axis."""
    value: Value
    """A row's tokens."""
    caption: str
    """What is counted."""


EXECUTION = TokenAxis(
    "pass-against-tokens",
    "Pass rate against recipient tokens",
    "Recipient tokens for one result",
    lambda row: row.tokens,
    "Tokens of the recipient's own run: feedback and the source run are not counted.",
)
COMBINED = TokenAxis(
    "pass-against-all-tokens",
    "Pass rate against recipient and feedback tokens",
    "Recipient and feedback tokens for one result",
    lambda row: row.tokens if row.role == "baseline" else row.means["combined_tokens"],
    "Tokens of the recipient's own run and of making its feedback once; the source run is not counted.",
)
ROLES = ("baseline", "method")
"""Ablations have their table, and privileged methods do not compete."""


def points(report: Report, folder: Path, against: TokenAxis) -> list[Drawing]:
    """One such figure, over as many as the recipients take."""
    recipients = [recipient for recipient in report.recipients if len(_placed(recipient, against)) > 1]
    if not recipients:
        reason = "fewer than two conditions have both a pass rate and known tokens"
        return [Drawing(name=against.name, title=against.title, reason=reason)]
    return [_figure(report, folder, against, name, few) for name, few in paged(recipients, against.name)]


def _placed(recipient: RecipientReport, against: TokenAxis) -> list[MethodRow]:
    """The rows that have a place: round 0 and unprivileged methods of which both numbers are known."""
    return [
        row
        for row in rows_of(recipient)
        if row.role in ROLES and number_of(row.passed) is not None and number_of(against.value(row)) is not None
    ]


def _figure(
    report: Report, folder: Path, against: TokenAxis, name: str, recipients: Sequence[RecipientReport]
) -> Drawing:
    present = {row.method for recipient in recipients for row in _placed(recipient, against)}
    drawn = method_styles([method.method for method in report.methods])
    handles = [
        line_handle(labelled(method), _marked(drawn[method.method]))
        for method in report.methods
        if method.method in present
    ]
    figure, axes = framed(report, len(recipients), [handle.get_label() for handle in handles])
    for axis, recipient in zip(axes, recipients, strict=True):
        for row in _placed(recipient, against):
            _point(axis, row, against, drawn[row.method])
        axis.set_xlabel(against.axis)
        axis.set_ylabel("Strict pass rate (%)")
        axis.xaxis.set_major_formatter(thousands)
        axis.xaxis.get_major_locator().set_params(nbins=5)
        axis.margins(0.08)
        percent_up(axis)
        headed(axis, recipient)
    legend(figure, handles)
    caption = (
        f"{against.caption} Repetitions are averaged within a task, then tasks equally; lines are 95 % intervals over "
        "tasks. Axes differ between panels; upper left is better. Ablations and privileged methods are left out."
        + first_round(recipients)
        + unknown(recipients, against.value, "Tokens")
    )
    return finished(figure, report, folder, name, against.title, caption, recipients)


def _point(axis: Axes, row: MethodRow, against: TokenAxis, look: MethodStyle) -> None:
    across, up = against.value(row), row.passed
    x, y = number_of(across), number_of(up)
    if (ends := ends_of(across)) is not None:
        axis.plot(ends, (y, y), color=look.colour, linewidth=0.8, alpha=0.7, zorder=2)
    if (ends := ends_of(up)) is not None:
        axis.plot((x, x), ends, color=look.colour, linewidth=0.8, alpha=0.7, zorder=2)
    axis.plot((x,), (y,), **_marked(look), zorder=3)


def _marked(look: MethodStyle) -> dict[str, Any]:
    size = {"*": 10, "D": 5.5, "s": 5.5, "o": 6}.get(look.marker, 6.5)
    return {
        "color": look.colour,
        "linestyle": "none",
        "marker": look.marker,
        "markeredgecolor": "black",
        "markeredgewidth": 0.6,
        "markersize": size,
    }
