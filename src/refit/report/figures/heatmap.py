"""Every task under every method, a figure for each recipient: how many repetitions passed; grey where none was scored.

Tasks are in two columns of a printed page if the methods leave room, so that a hundred of them stay legible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from refit.report.figures.canvas import (
    SMALL,
    WIDTH,
    Axes,
    Figure,
    fitting,
    legend,
    legend_height,
    stamp,
    width_of,
)
from refit.report.figures.panel import Drawing, finished, first_round, note_height, rows_of, slug
from refit.report.figures.style import short_name
from refit.report.model import RecipientReport, Report, TaskOutcome, TaskRow

ROWS = 54
"""Tasks in one column of a page."""
PITCH = 0.135
"""Inches from one task to the next: seven-point text needs 0.1."""
NARROW, WIDE = 0.135, 0.26
"""Inches: how wide a method's column may be."""
NAME = 31
"""Characters of a task's name."""
SHORT = 16
"""Characters of a method's."""
GAP = 0.25
"""Inches between the columns of a page."""
EDGE = 0.04
"""Inches at its right."""
MOST_TASKS, MOST_METHODS = 600, 30
"""Beyond them a heatmap is no picture any more; the tables and the page have every task."""
UNSCORED = "#c8c8c8"
CORNER = "#111111"
RAMP = ("#fff7ec", "#cfe1f2", "#93c3df", "#4a98c9", "#1764ab")
"""From no repetition to all of them: each step is darker, also in grey."""


class HeatmapLayout(Struct, frozen=True):
    """Where things are on a page of one recipient's heatmap, in inches."""

    columns: tuple[str, ...]
    """The methods, round 0 first."""
    heads: tuple[str, ...]
    """Their names over the columns."""
    places: tuple[float, ...]
    """Where each begins, in units of a column's width: there is a little space before the privileged ones."""
    label: float
    """Width of the tasks' names."""
    column: float
    """Width of a method's column."""
    side: int
    """Panels side by side."""
    header: float
    """Height of the methods' names."""

    @property
    def body(self) -> float:
        """Width of all methods' columns."""
        return (self.places[-1] + 1) * self.column


def heatmaps(report: Report, folder: Path) -> list[Drawing]:
    """One for each recipient; over several pages where the tasks are many."""
    return [
        drawing
        for number, recipient in enumerate(report.recipients, start=1)
        for drawing in _recipient(report, folder, recipient, f"tasks-{number}-{slug(recipient.recipient)}")
    ]


def _recipient(report: Report, folder: Path, recipient: RecipientReport, name: str) -> list[Drawing]:
    title = f"Tasks by method: {recipient.recipient}"
    rows, methods = recipient.tasks, rows_of(recipient)
    reason = ""
    if not any(outcome.scored for task in rows for outcome in first_outcomes(task).values()):
        reason = "no cell is scored"
    elif len(rows) > MOST_TASKS or len(methods) > MOST_METHODS:
        reason = (
            f"{len(rows)} tasks and {len(methods)} columns are too many for a picture; the page and tables have all"
        )
    if reason:
        return [Drawing(name=name, title=title, recipients=(recipient.recipient,), reason=reason)]
    grid = _grid(report, recipient)
    size = ROWS * grid.side
    pages = [rows[start : start + size] for start in range(0, len(rows), size)]
    drawings: list[Drawing] = []
    for number, page in enumerate(pages, start=1):
        figure = _page(report, recipient, grid, page)
        file = name if number == 1 else f"{name}-page{number}"
        part = f" (page {number} of {len(pages)})" if len(pages) > 1 else ""
        drawings.append(finished(figure, report, folder, file, title + part, _caption(recipient), [recipient]))
    return drawings


def _caption(recipient: RecipientReport) -> str:
    return (
        f"The number in a cell is how many repetitions of the task passed, of {recipient.repetitions}; the darker, the "
        "larger their share of the scored ones. Grey: the recipient does not have this task, or no repetition was "
        "scored. A dark corner: some repetitions were not scored. Base is round 0; † saw outcomes."
        + first_round([recipient])
    )


def _grid(report: Report, recipient: RecipientReport) -> HeatmapLayout:
    short = {method.method: method.short for method in report.methods}
    rows = rows_of(recipient)
    heads = tuple(
        short_name(short.get(row.method, row.label), SHORT) + (" †" if row.role == "privileged" else "") for row in rows
    )
    spaces, places = 0.0, list[float]()
    for number, row in enumerate(rows):
        if number and (row.role == "privileged" or rows[number - 1].role == "baseline"):
            spaces += 0.35 if rows[number - 1].role != row.role else 0
        places.append(number + spaces)
    label = max(width_of(short_name(task.task, NAME)) for task in recipient.tasks) + 0.1
    units = places[-1] + 1
    is_double = len(recipient.tasks) > ROWS and 2 * (label + units * NARROW) + GAP <= WIDTH - EDGE
    side = 2 if is_double else 1
    room = (WIDTH - EDGE - GAP * (side - 1)) / side - label
    column = min(max(room / units, 0.1), WIDE)
    header = max(map(width_of, heads)) + 0.08
    return HeatmapLayout(
        columns=tuple(row.method for row in rows),
        heads=heads,
        places=tuple(places),
        label=label,
        column=column,
        side=side,
        header=header,
    )


def _page(report: Report, recipient: RecipientReport, grid: HeatmapLayout, tasks: Sequence[TaskRow]) -> Figure:
    from matplotlib.figure import Figure as New

    side = grid.side if len(tasks) > ROWS // 2 else 1
    count = -(-len(tasks) // side)
    width = max(side * (grid.label + grid.body) + GAP * (side - 1) + EDGE, 4.6)
    notes = note_height(report.notes, width)
    keys = _keys(recipient)
    top, bottom = 0.22 + notes + grid.header, legend_height([key.get_label() for key in keys], width) + 0.12
    height = top + count * PITCH + bottom
    figure: Any = New(figsize=(width, height))
    for number in range(side):
        left = number * (grid.label + grid.body + GAP) + grid.label
        box = (left / width, bottom / height, grid.body / width, count * PITCH / height)
        _panel(figure.add_axes(box), grid, tasks[number * count : (number + 1) * count], count)
    name = fitting(recipient.recipient, width * 0.85, 8.5)
    figure.text(0.04 / width, 1 - (notes + 0.06) / height, name, va="top", fontsize=8.5, weight="bold")
    legend(figure, keys, "lower center")
    return figure


def _panel(axis: Axes, grid: HeatmapLayout, tasks: Sequence[TaskRow], count: int) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Polygon, Rectangle

    boxes: dict[str, list[Any]] = {}
    numbers: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for y, task in enumerate(tasks):
        first = first_outcomes(task)
        for x, method in zip(grid.places, grid.columns, strict=True):
            outcome = first.get(method)
            colour = _colour(outcome)
            boxes.setdefault(colour, []).append(Rectangle((x, y), 1, 1))
            if outcome is None or not outcome.scored:
                continue
            ink = "white" if colour == RAMP[-1] else "black"
            numbers.setdefault((str(outcome.passes), ink), []).append((x + 0.5, y + 0.5))
            if outcome.scored < outcome.planned:
                boxes.setdefault(CORNER, []).append(Polygon([(x + 0.7, y), (x + 1, y), (x + 1, y + 0.35)]))
    for colour, patches in boxes.items():
        hatch = "//////" if colour == UNSCORED else None
        edge = "#efefef" if colour == UNSCORED else "white"
        width = 0 if colour == CORNER else 0.8
        boxed = PatchCollection(patches, facecolor=colour, edgecolor=edge, linewidth=width, hatch=hatch)
        axis.add_collection(boxed, autolim=False)
    for (text, ink), places in numbers.items():
        stamp(axis, text, places, ink)
    axis.set_xlim(0, grid.places[-1] + 1)
    axis.set_ylim(count, 0)
    axis.set_yticks([y + 0.5 for y in range(len(tasks))], [short_name(task.task, NAME) for task in tasks])
    axis.set_xticks([x + 0.5 for x in grid.places], grid.heads, rotation=90)
    axis.tick_params(length=0, pad=2, labeltop=True, labelbottom=False, labelsize=SMALL)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def first_outcomes(task: TaskRow) -> dict[str, TaskOutcome]:
    """Each method's outcome in its first round."""
    earliest: dict[str, TaskOutcome] = {}
    for outcome in task.outcomes if task.is_applicable else ():
        if outcome.method not in earliest or outcome.round < earliest[outcome.method].round:
            earliest[outcome.method] = outcome
    return earliest


def _colour(outcome: TaskOutcome | None) -> str:
    if outcome is None or outcome.rate is None:
        return UNSCORED
    return RAMP[shade(outcome.rate)]


def shade(rate: float) -> int:
    """Which step of the ramp: none, up to a third, up to a half, more, all."""
    if rate in {0, 100}:
        return 4 if rate else 0
    return 1 if rate < 100 / 3 + 0.1 else 2 if rate <= 50 else 3


def _keys(recipient: RecipientReport) -> list[Any]:
    """What the colours mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    said = {0: "none passed", 1: "up to a third", 2: "up to a half", 3: "more", 4: "all passed"}
    outcomes = [outcome for task in recipient.tasks for outcome in first_outcomes(task).values()]
    used = {shade(outcome.rate) for outcome in outcomes if outcome.rate is not None}
    handles: list[Any] = [
        Patch(facecolor=RAMP[step], edgecolor="#888888", label=said[step]) for step in sorted(used | {0, 4})
    ]
    handles.append(Patch(facecolor=UNSCORED, edgecolor="#efefef", hatch="//////", label="none scored, or no such task"))
    if any(0 < outcome.scored < outcome.planned for outcome in outcomes):
        how: dict[str, Any] = {"marker": (3, 0, -45), "color": CORNER, "linestyle": "none", "markersize": 5}
        handles.append(Line2D([], [], label="some not scored", **how))
    return handles
