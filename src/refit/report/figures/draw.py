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
    figure_folder = folder / FOLDER
    try:
        if figure_folder.is_dir():
            shutil.rmtree(figure_folder)
        figure_folder.mkdir(parents=True)
        with drawing():
            figures = tuple(_all(report, figure_folder))
        (figure_folder / LIST).write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=1) + b"\n")
    except OSError as error:
        raise DenseError(f"figures cannot be written to {figure_folder}: {error.strerror or error}") from None
    return figures


def _all(report: Report, folder: Path) -> list[Drawing]:
    return [
        *points(report, folder, EXECUTION),
        *points(report, folder, COMBINED),
        *bars(report, folder, PASSED),
        *bars(report, folder, GAINS),
        *bars(report, folder, TOKENS),
        *costs(report, folder),
        *cumulative(report, folder),
        *heatmaps(report, folder),
    ]


def drawings(folder: Path) -> tuple[Drawing, ...]:
    """The list that `draw` left in a report's folder; empty where none was drawn."""
    file = folder / FOLDER / LIST
    return msgspec.json.decode(file.read_bytes(), type=tuple[Drawing, ...]) if file.is_file() else ()
