"""What all kinds of figures share: which rows a panel has, what a figure is called, and what becomes of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from refit.report.figures.canvas import SMALL, TEXT, WIDTH, Axes, Figure, fitting, legend_height, panels, save
from refit.report.figures.style import short_name
from refit.report.model import MeanEstimate, MethodName, MethodRow, RecipientReport, Report

PANELS = 6
"""Recipients in one figure; more go on in the next one."""


class Drawing(Struct, frozen=True, omit_defaults=True):
    """A figure that was drawn, or why it was not."""

    name: str
    """Of its files, without their ends."""
    title: str
    """What it shows."""
    caption: str = ""
    """How to read it."""
    files: tuple[str, ...] = ()
    """In the folder of figures: SVG, then PNG."""
    recipients: tuple[str, ...] = ()
    """Whose numbers it shows."""
    reason: str = ""
    """Why it was left out; empty where it was drawn."""

    @property
    def is_drawn(self) -> bool:
        """Whether there are files."""
        return not self.reason


Value = Callable[[MethodRow], MeanEstimate | None]


def rows_of(recipient: RecipientReport) -> tuple[MethodRow, ...]:
    """The baseline, then every method of the first round with feedback."""
    baseline = () if recipient.baseline is None else (recipient.baseline,)
    return (*baseline, *recipient.rows)


def shown(report: Report, value: Value) -> tuple[RecipientReport, ...]:
    """The recipients for which anything but the baseline has this number."""
    return tuple(
        recipient for recipient in report.recipients if any(number_of(value(row)) is not None for row in recipient.rows)
    )


def without(report: Report, otherwise: str, *, needs_first: bool = False) -> str:
    """Why a figure of methods is left out: there are none, none is scored, nothing to compare with; or `otherwise`."""
    rows = [row for recipient in report.recipients for row in recipient.rows]
    if not rows:
        return "there is no run with feedback"
    if not any(row.counts.scored for row in rows):
        return "no run with feedback is scored"
    if needs_first and all(recipient.baseline is None for recipient in report.recipients):
        return "no round 0 is scored, so there is nothing to compare with"
    return otherwise


def number_of(estimate: MeanEstimate | None) -> float | None:
    """Its number, if there is one."""
    return None if estimate is None else estimate.value


def ends_of(estimate: MeanEstimate | None) -> tuple[float, float] | None:
    """The interval's ends, if there is one."""
    return None if estimate is None or estimate.interval is None else (estimate.interval.low, estimate.interval.high)


def paged(recipients: Sequence[RecipientReport], name: str) -> Iterator[tuple[str, Sequence[RecipientReport]]]:
    """The figures that so many recipients take, with their names."""
    for start in range(0, len(recipients), PANELS):
        page = start // PANELS + 1
        yield (name if page == 1 else f"{name}-{page}"), recipients[start : start + PANELS]


def width_for(count: int) -> float:
    """One panel alone does not stretch over the page."""
    return WIDTH if count > 1 else 4.6


def framed(report: Report, count: int, labels: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Panels for points or lines, with room for a legend of these entries and for the notes."""
    width = width_for(count)
    more = legend_height(labels, width) + note_height(report.notes, width)
    return panels(count, 2, 2.3, width=width, more=more)


def labelled(method: MethodName) -> str:
    """A method's name at an axis or in a legend."""
    return fitting(method.label, 1.5, TEXT) + (" †" if method.role == "privileged" else "")


def headed(axis: Axes, recipient: RecipientReport) -> None:
    """The recipient's name over its panel."""
    axis.set_title(fitting(recipient.recipient, 2.0, 8.5))


def noted(figure: Figure, notes: Sequence[str]) -> None:
    """What must be said wherever a number is shown, over all panels: pictures travel without their captions."""
    if notes:
        width, height = figure.get_size_inches()
        text = "\n".join(_note(notes, width))
        # Where a layout engine finds the place, it is not to be named; elsewhere it is in inches, as all else is.
        position = {} if figure.get_layout_engine() else {"y": 1 - 0.03 / height, "va": "top"}
        figure.suptitle(text, x=0.01, ha="left", fontsize=SMALL, style="italic", color="#333333", **position)


def finished(
    figure: Figure,
    report: Report,
    folder: Path,
    name: str,
    title: str,
    caption: str,
    recipients: Sequence[RecipientReport],
) -> Drawing:
    """A figure with the report's notes over it, saved."""
    noted(figure, report.notes)
    files = save(figure, folder, name)
    names = tuple(recipient.recipient for recipient in recipients)
    return Drawing(name=name, title=title, caption=caption, files=files, recipients=names)


def line_handle(label: str, look: dict[str, Any]) -> Any:
    """An entry of a legend that looks like a line or a point."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def note_height(notes: Sequence[str], width: float) -> float:
    """What the notes take, in inches."""
    return 0.12 * len(_note(notes, width)) + 0.06 if notes else 0


def _note(notes: Sequence[str], width: float) -> list[str]:
    return textwrap.wrap(short_name("Note: " + "; ".join(note.rstrip(".") for note in notes), 420), int(width * 18))


def slug(text: str) -> str:
    """A name as part of a file's."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "x"


def first_round(recipients: Sequence[RecipientReport]) -> str:
    """A sentence on which round is shown; empty where there is one only."""
    rounds = sorted({row.round for recipient in recipients for row in recipient.rows})
    if not rounds or all(recipient.rounds == rounds[0] for recipient in recipients):
        return ""
    return f" Methods are shown in their first round with feedback (round {', '.join(map(str, rounds))})."


def unknown(recipients: Sequence[RecipientReport], value: Value, what: str) -> str:
    """A sentence on numbers that are over some of the results only; empty if all are known."""
    incomplete = [
        f"{row.label} on {recipient.recipient} ({estimate.known} of {estimate.of})"
        for recipient in recipients
        for row in rows_of(recipient)
        if (estimate := value(row)) is not None and estimate.value is not None and estimate.known < estimate.of
    ]
    if not incomplete:
        return ""
    more = f" and {len(incomplete) - 6} more" if len(incomplete) > 6 else ""
    return f" {what} are known for some results only: {', '.join(incomplete[:6])}{more}."
