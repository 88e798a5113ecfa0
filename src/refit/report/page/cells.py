"""Every cell of an experiment, small enough for the page: one list for each row, texts by their number.

The page draws a task's cells only when its row is opened. Links are given for files that are there, relative to the
page, so that a report can move together with its experiment."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from dense.text.html import escape_controls
from refit.measures import ON_PAGE, REMARKS
from refit.report.grid import why_unscored
from refit.report.surrogates import LONE_SURROGATE
from refit.results import AttemptResult, Experiment, Result

CellLine = list[Any]
"""A cell as the page reads it; `page.js` names the places."""
VIEWS = "views"
"""Beside the page: a page for each cell whose trace could be shown."""
FEEDBACK = "feedback.txt"
"""What a folder of feedback holds; it, not the folder, is what people want to read."""


class TextIndex:
    """Texts that recur, each once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int | None:
        """Its number; None for no text."""
        return self.numbers.setdefault(text, len(self.numbers)) if text else None


def inline_cells(
    experiment: Experiment, page: Path, rows: Sequence[tuple[str, str]], labels: Mapping[str, str]
) -> dict[str, Any]:
    """The cells of these rows, each a recipient and a task; methods by their labels, in the labels' order."""
    texts = TextIndex()
    for label in labels.values():
        texts.number(label)  # first, so that their numbers are their order
    files = CellFiles(experiment, page)
    cells: dict[tuple[str, str], list[CellLine]] = defaultdict(list)
    for result in _results(experiment):
        cells[result.cell.recipient, result.cell.task].append(_line(result, texts, files, labels))
    lines = [sorted(cells[row], key=lambda line: line[FIRST_VALUE : FIRST_VALUE + 3]) for row in rows]
    columns = [[page.header, page.kind] for _, page in ON_PAGE]
    return {
        "base": files.base,
        "columns": columns,
        "texts": [escape_controls(text) for text in texts.numbers],
        "rows": lines,
    }


NOT_RUN = "not run yet"


def _results(experiment: Experiment) -> Iterator[Result]:
    """What came of every cell, those that have not been run included."""
    yield from experiment.results
    done = {result.cell for result in experiment.results}
    yield from (
        Result(cell=cell, attempt=AttemptResult(problem=NOT_RUN)) for cell in experiment.planned if cell not in done
    )


def _line(result: Result, texts: TextIndex, files: CellFiles, labels: Mapping[str, str]) -> CellLine:
    folder, trace, feedback, message = files.of(result)
    remarks = [why_unscored(result), *(remark(result) for remark in REMARKS)]
    view = f"{result.cell.key}.html" if files.view(result) else ""
    named = [texts.number(text) for text in ("; ".join(filter(None, remarks)), view, trace, feedback, message)]
    values = [_value(measure.shown(result), texts, labels) for measure, _ in ON_PAGE]
    return [int(result.attempt.is_partial), folder or None, *named, *values]


FIRST_VALUE = 7
"""Where the values of the columns begin in a cell's line."""


def _value(value: Any, texts: TextIndex, labels: Mapping[str, str]) -> float | None:
    """As the page reads it: texts by their numbers, methods by their labels."""
    if isinstance(value, str):
        return texts.number(labels.get(value) or value or "?")
    if isinstance(value, float):
        return round(value, 3) if math.isfinite(value) else None
    return value


class CellFiles:
    """Where the files of cells lie, seen from the page. An experiment without a folder has paths from where we are."""

    def __init__(self, experiment: Experiment, page: Path) -> None:
        self.page = page
        self.root = os.path.realpath(experiment.folder)
        way = PurePath(os.path.relpath(self.root, os.path.realpath(page))).as_posix()
        self.base = "" if way == "." else quote(os.fsencode(way)) + "/"

    def of(self, result: Result) -> tuple[str, str, str, str]:
        """The folder that a cell's files share, then trace, feedback and message within it; empty: not there."""
        paths = [self._found(result.attempt.trace), self._feedback(result.feedback_folder), self._found(result.message)]
        there = [path for path in paths if path]
        folder = there[0].rpartition("/")[0] if there else ""
        while folder and not all(path.startswith(f"{folder}/") for path in there):
            folder = folder.rpartition("/")[0]
        folder = f"{folder}/" if folder else ""
        trace, feedback, message = (path[len(folder) :] for path in paths)
        return folder, trace, feedback, message

    def view(self, result: Result) -> bool:
        """Whether the cell has a page of its own beside this one."""
        return (self.page / VIEWS / f"{result.cell.key}.html").is_file()

    def _found(self, path: str) -> str:
        """The path from the experiment's folder, where there is such a file, and a link can name it."""
        if not path or LONE_SURROGATE.search(path):
            return ""
        whole = os.path.join(self.root, path)  # noqa: PTH118
        if not os.path.exists(whole):  # noqa: PTH110
            return ""
        return path if not os.path.isabs(path) else PurePath(os.path.relpath(path, self.root)).as_posix()  # noqa: PTH117

    def _feedback(self, folder: str) -> str:
        return self._found(f"{folder}/{FEEDBACK}") or self._found(folder) if folder else ""
