"""Draws all figures of a report, and keeps the list of them beside the files."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from dense.errors import DenseError
from refit.report.figures.bars import GAINS, PASSED, TOKENS, bars
from refit.report.figures.canvas import drawing
from refit.report.figures.costs import costs
from refit.report.figures.heatmap import heatmaps
from refit.report.figures.lines import cumulative
from refit.report.figures.panel import Drawing
from refit.report.figures.points import COMBINED, EXECUTION, points
from refit.report.model import Report

FOLDER = "figures"
LIST = "figures.json"
"""What was drawn and what was left out, for the page and for people."""


def draw(report: Report, folder: Path) -> tuple[Drawing, ...]:
    """Everything into `folder/figures`, which holds nothing else afterwards: no figure of an earlier report stays."""
    place = folder / FOLDER
    try:
        if place.is_dir():
            shutil.rmtree(place)
        place.mkdir(parents=True)
        with drawing():
            found = tuple(_all(report, place))
        (place / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    except OSError as error:
        raise DenseError(f"figures cannot be written to {place}: {error.strerror or error}") from None
    return found


def _all(report: Report, place: Path) -> list[Drawing]:
    return [
        *points(report, place, EXECUTION),
        *points(report, place, COMBINED),
        *bars(report, place, PASSED),
        *bars(report, place, GAINS),
        *bars(report, place, TOKENS),
        *costs(report, place),
        *cumulative(report, place),
        *heatmaps(report, place),
    ]


def drawings(folder: Path) -> tuple[Drawing, ...]:
    """The list that `draw` left in a report's folder; empty where none was drawn."""
    file = folder / FOLDER / LIST
    return msgspec.json.decode(file.read_bytes(), type=tuple[Drawing, ...]) if file.is_file() else ()
