"""The one place that touches matplotlib: panels to draw on, and files whose bytes follow from what was drawn.

Axes and figures are `Any` here and wherever they are passed on; matplotlib's own types are not strict. No display, no
global state of pyplot, no setting of the user's: the same report gives the same bytes."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from dense.errors import DenseError, install_hint
from refit.report.figures.style import short_name

Axes = Any
Figure = Any

WIDTH = 7.0
"""Inches: the text width of a printed page. Nothing is scaled after it, so a point of text is a point of print."""
TEXT = 7.5
"""Points of ordinary text; no text in a figure is below `SMALL`."""
SMALL = 7.0
DPI = 200
"""Of the PNG."""
SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.labelsize": TEXT,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "figure.constrained_layout.h_pad": 0.05,
    "figure.constrained_layout.w_pad": 0.05,
    "font.size": TEXT,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.fontsize": TEXT,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "dense",
    "text.parse_math": False,
    "xtick.labelsize": SMALL,
    "xtick.major.width": 0.6,
    "ytick.labelsize": SMALL,
    "ytick.major.width": 0.6,
}
SCRIPTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "WenQuanYi Zen Hei",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
)
"""Fonts for names in scripts that matplotlib's own font lacks, where the machine has them."""


@contextmanager
def drawing() -> Generator[None]:
    """Within it figures are made and saved."""
    try:
        import matplotlib
        from matplotlib import font_manager
    except ImportError:
        raise DenseError(f"figures need matplotlib: {install_hint('report')}") from None
    library: Any = matplotlib
    with library.rc_context(), warnings.catch_warnings():
        # A character that no font has is drawn as an empty box, and the page has the name in full.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        library.rcdefaults()
        installed = {font.name for font in font_manager.fontManager.ttflist}
        library.rcParams.update(SETTINGS)
        library.rcParams["font.family"] = ["DejaVu Sans", *(name for name in SCRIPTS if name in installed)]
        yield


def panels(
    count: int, columns: int, height: float, *, width: float = WIDTH, more: float = 0, **how: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels of `height` inches each, in rows of `columns`; `more` is for what is around them."""
    from matplotlib.figure import Figure as New

    columns = min(columns, count)
    rows = -(-count // columns)
    figure: Any = New(figsize=(width, rows * height + more), layout="constrained")
    grid: list[list[Any]] = figure.subplots(rows, columns, squeeze=False, **how)
    axes = [axis for row in grid for axis in row]
    for axis in axes[count:]:
        axis.set_axis_off()
    return figure, axes[:count]


def save(figure: Figure, folder: Path, name: str) -> tuple[str, ...]:
    """Writes it as SVG and PNG; gives the names of the files."""
    files = (f"{name}.svg", f"{name}.png")
    nameless: list[dict[str, Any]] = [{"Date": None, "Creator": None}, {"Software": None}]
    for file, metadata in zip(files, nameless, strict=True):
        figure.savefig(folder / file, dpi=DPI, metadata=metadata, facecolor="white")
        figure.set_layout_engine("none")  # what was laid out once stays: both files have the same layout
    return files


def legend(figure: Figure, handles: Sequence[Any], location: str = "outside lower center") -> None:
    """Below all panels, in as many columns as the width has."""
    columns = legend_columns([handle.get_label() for handle in handles], figure.get_size_inches()[0])
    figure.legend(handles=handles, loc=location, ncols=columns, handlelength=2.2, columnspacing=1.5)


def legend_columns(labels: Sequence[str], width: float) -> int:
    """How many entries are side by side."""
    widest = max(width_of(label, TEXT) for label in labels) + 0.48
    return max(1, min(len(labels), 5, int((width - 0.2) / widest)))


def legend_height(labels: Sequence[str], width: float) -> float:
    """What a legend needs, in inches."""
    return 0.1 + 0.17 * -(-len(labels) // legend_columns(labels, width))


@cache
def width_of(text: str, size: float = SMALL) -> float:
    """How wide a text is, in inches."""
    from matplotlib import font_manager

    fonts: Any = font_manager
    font = fonts.get_font(fonts.findfont("DejaVu Sans"))
    font.set_size(size, 72)
    font.set_text(text, 0)
    return font.get_width_height()[0] / 64 / 72


def fitting(text: str, inches: float, size: float = SMALL) -> str:
    """A name that is shortened until it fits."""
    length = 48
    while length > 6 and width_of(short_name(text, length), size) > inches:
        length -= 1
    return short_name(text, length)


def stamp(axis: Axes, text: str, places: Sequence[tuple[float, float]], colour: str, size: float = SMALL) -> None:
    """The same short text at many places: as a marker, which costs a hundredth of as many texts."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path as Outline
    from matplotlib.textpath import TextPath

    letters: Any = TextPath((0, 0), text, size=size, prop=FontProperties(family="DejaVu Sans"))
    box: Any = letters.get_extents()
    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
    outline = Outline(letters.vertices - middle, letters.codes)
    across, up = zip(*places, strict=True)
    extent = max(box.width, box.height)
    axis.plot(across, up, linestyle="none", marker=outline, markersize=extent, color=colour, markeredgewidth=0)


def percent_up(axis: Axes) -> None:
    """A vertical axis of percentages: it does not leave 0 … 100, and does not magnify where nothing differs."""
    low, high = axis.get_ylim()
    if high - low < 10:
        low, high = (low + high) / 2 - 5, (low + high) / 2 + 5
    low, high = max(low, -3), min(high, 103)
    axis.set_ylim(low, high)
    axis.set_yticks([tick for tick in axis.get_yticks() if max(low, 0) <= tick <= min(high, 100)])


def thousands(value: float, _position: int = 0) -> str:
    """Tokens as they are read at an axis: 950, 12k, 1.3M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
