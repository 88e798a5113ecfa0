"""Bars, a panel for each recipient, with the interval on each: pass rates, gains, changes of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from refit.report.figures.canvas import SMALL, Axes, Figure, panels
from refit.report.figures.panel import (
    Drawing,
    Value,
    ends_of,
    finished,
    first_round,
    headed,
    labelled,
    note_height,
    number_of,
    paged,
    rows_of,
    shown,
    unknown,
    width_for,
    without,
)
from refit.report.figures.style import MethodStyle, darker, method_styles
from refit.report.model import MethodName, MethodRow, RecipientReport, Report
from refit.report.numbers import format_fixed


class BarKind(Struct, frozen=True):
    """One kind of bars."""

    name: str
    """Of the files."""
    title: str
    """What they show."""
    caption: str
    """How to read them."""
    axis: str
    """What is on the axis."""
    value: Value
    """A row's number."""
    said: Callable[[float], str]
    """The number as shown at the bar."""
    missing: str
    """Why there are none, where methods were scored and no row has the number."""
    is_percent: bool = False
    """Whether the axis is 0 … 100 in every panel."""
    has_baseline: bool = True
    """Whether round 0 has a bar."""
    lines: bool = False
    """Whether privileged rows are dashed lines through all rows, not bars."""
    known: str = ""
    """What may be known for some results only."""


def _percent(value: float) -> str:
    return format_fixed(value, 1)


def _signed(value: float) -> str:
    return format_fixed(value, 1, sign=True)


PASSED = BarKind(
    name="pass-rates",
    title="Strict pass rates",
    caption="Share of runs with a reward of exactly one: repetitions averaged within a task, then tasks equally. "
    "Whiskers are 95 % intervals over tasks. † saw the outcome of the run before.",
    axis="Strict pass rate (%)",
    value=lambda row: row.passed,
    said=_percent,
    missing="no run of any method is scored together with its first attempt",
    is_percent=True,
)
GAINS = BarKind(
    name="gains",
    title="Change of the pass rate from round 0",
    caption="Paired change of the strict pass rate in percentage points, over pairs of which both runs were scored. "
    "Whiskers are 95 % intervals over tasks; one that crosses zero supports no claim. A dashed line is a privileged "
    "reference, which saw the outcome of the run before.",
    axis="Change from round 0 (points)",
    value=lambda row: row.change,
    said=_signed,
    missing="no change from round 0 is known: there is no pair of which both runs were scored",
    has_baseline=False,
    lines=True,
)
TOKENS = BarKind(
    name="token-change",
    title="Change of recipient tokens from round 0",
    caption="Mean recipient tokens against the baseline row's, in percent; the making of feedback is not in it. "
    "Negative is less. Whiskers are 95 % intervals over tasks. * over the results whose tokens are known.",
    axis="Change of recipient tokens (%)",
    value=lambda row: row.tokens_change,
    said=_signed,
    missing="recipient tokens are not recorded for round 0 or for any method",
    has_baseline=False,
    known="Recipient tokens",
)


NARROWEST = 2.0
"""Points or percent: where nothing changed, the axis does not magnify it."""


def bars(report: Report, folder: Path, kind: BarKind) -> list[Drawing]:
    """One kind of bars, over as many figures as the recipients take."""
    recipients = shown(report, kind.value)
    if not recipients:
        return [
            Drawing(
                name=kind.name,
                title=kind.title,
                reason=without(report, kind.missing, needs_first=not kind.has_baseline),
            )
        ]
    return [_figure(report, folder, kind, name, few) for name, few in paged(recipients, kind.name)]


def _figure(report: Report, folder: Path, kind: BarKind, name: str, recipients: Sequence[RecipientReport]) -> Drawing:
    methods = [method for method in in_order(report, recipients) if method.role != "baseline" or kind.has_baseline]
    figure, axes = empty_panels(report, methods, recipients)
    drawn = method_styles([method.method for method in report.methods])
    for axis, recipient in zip(axes, recipients, strict=True):
        rows = {row.method: row for row in rows_of(recipient)}
        for line, method in enumerate(methods):
            _row(axis, line, kind, rows.get(method.method), drawn[method.method])
        _fitted(axis, kind)
        headed(axis, recipient)
    method_names(axes, methods)
    caption = kind.caption + first_round(recipients) + unknown(recipients, kind.value, kind.known or kind.title)
    return finished(figure, report, folder, name, kind.title, caption, recipients)


def empty_panels(
    report: Report, methods: Sequence[MethodName], recipients: Sequence[RecipientReport], more: float = 0
) -> tuple[Figure, list[Axes]]:
    """Panels with a row for each method."""
    height, width = 0.62 + 0.172 * max(len(methods), 2), width_for(len(recipients))
    more += note_height(report.notes, width)
    return panels(len(recipients), 2, height, width=width, more=more, sharey=True)


def in_order(report: Report, recipients: Sequence[RecipientReport]) -> list[MethodName]:
    """The methods that any of the recipients has, round 0 first and the privileged last."""
    everyone = {row.method for recipient in recipients for row in rows_of(recipient)}
    methods = [method for method in report.methods if method.method in everyone]
    return sorted(methods, key=lambda method: method.role == "privileged")


def _row(axis: Axes, line: int, kind: BarKind, row: MethodRow | None, look: MethodStyle) -> None:
    """A method's bar with its interval, and its number at the right."""
    estimate = None if row is None else kind.value(row)
    value = number_of(estimate)
    if row is None or estimate is None or value is None:
        row_text(axis, line, "unknown" if row else "not run")
        return
    if kind.lines and row.role == "privileged":
        axis.axvline(value, color="#444444", linewidth=0.9, dashes=(4, 2), zorder=3)
        axis.plot((value,), (line,), marker="D", markersize=4, color="#444444")
    else:
        bar(axis, line, value, look)
    whisker(axis, line, ends_of(estimate))
    row_text(axis, line, kind.said(value) + ("*" if estimate.known < estimate.of and kind.known else ""))


def row_text(axis: Axes, line: int, text: str) -> None:
    """What is shown at the right of a row, in a column of its own: no bar and no line runs through it."""
    axis.annotate(
        text,
        (1, line),
        xycoords=axis.get_yaxis_transform(),
        xytext=(32, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=SMALL,
    )


def whisker(axis: Axes, line: int, ends: tuple[float, float] | None) -> None:
    """An interval on a bar: black with a light rim, seen on every colour."""
    if ends is None:
        return
    axis.plot(ends, (line, line), color="white", linewidth=2.2, alpha=0.75, solid_capstyle="butt")
    axis.plot(ends, (line, line), color="black", linewidth=0.8, marker="|", markersize=4, markeredgewidth=0.8)


def bar(
    axis: Axes, line: int, value: float, look: MethodStyle, *, left: float = 0, colour: str = "", hatch: str = ""
) -> None:
    """One bar, from `left`, in its method's look or in another."""
    fill = colour or look.colour
    axis.barh(
        line,
        value,
        height=0.72,
        left=left,
        color=fill,
        edgecolor=darker(fill),
        hatch=hatch if colour else look.hatch,
        linewidth=0.5,
    )


def _fitted(axis: Axes, kind: BarKind) -> None:
    """The axis, and a zero line."""
    axis.set_xlabel(kind.axis)
    axis.grid(visible=False, axis="y")
    if kind.is_percent:
        axis.set_xlim(0, 100)
        return
    axis.axvline(0, color="black", linewidth=0.8)
    axis.margins(x=0.04)
    low, high = axis.get_xlim()
    if high - low < NARROWEST:
        axis.set_xlim(-NARROWEST, NARROWEST)


def method_names(axes: Sequence[Axes], methods: Sequence[MethodName]) -> None:
    """Names of the methods at the left, the first one on top, privileged ones below a line."""
    for axis in axes:
        axis.set_ylim(len(methods) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        for line, method in enumerate(methods):
            if method.role == "privileged" and line and methods[line - 1].role != "privileged":
                axis.axhline(line - 0.5, color="#999999", linewidth=0.6, linestyle=(0, (2, 2)))
    axes[0].set_yticks(range(len(methods)), [labelled(method) for method in methods])
