"""Writes `index.html`: one file that needs nothing else, and that lets nothing in it act but its own script.

Style and script are named by their hashes in the page's policy: whatever text of a task or an exception might come to
stand in the page as markup would not run, and no address is ever asked. Figures stand in it as images, in which nothing
runs either."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

from dense.errors import DenseError
from dense.text.html import page_source, page_template, policy_hash, script_json
from refit.report.figures import Drawing, drawings
from refit.report.figures.panel import note_height
from refit.report.model import Report
from refit.report.page import view
from refit.report.page.case import make_case
from refit.report.page.cells import inline_cells
from refit.report.tables import tables
from refit.results import Experiment

HERE = Path(__file__).parent
NAME = "index.html"


def write_page(report: Report, experiment: Experiment, folder: Path, case: str | None = None) -> Path:
    """The page of a report whose figures have been drawn into `folder`, with the case of a task; gives its path."""
    from markupsafe import Markup

    style, script = (page_source(HERE, name) for name in ("page.css", "page.js"))
    drawn = drawings(folder)
    parts = view.parts(report)
    labels = {method.method: method.label for method in report.methods}
    cells = inline_cells(experiment, folder, view.pairs_of(parts), labels)
    text = page_template(HERE).render(
        report=report,
        run=view.run(report, experiment),
        facts=view.facts(report.facts),
        tables=view.texts_of(tables(report)),
        figures=drawn,
        images={drawing.name: _image(folder, drawing, report.notes) for drawing in drawn if drawing.is_drawn},
        parts=parts,
        case=make_case(report, experiment, folder, case),
        count=f"{len(experiment.results):,}",
        cells=Markup(script_json(cells)),  # `script_json` leaves nothing that a parser of HTML acts on
        style=Markup(style),
        script=Markup(script),
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DenseError(f"the page cannot be written to {path}: {error.strerror or error}") from None
    return path


SIZE = re.compile(rb'<svg\b[^>]*? width="([\d.]+)pt" height="([\d.]+)pt" viewBox="0 0 [\d. ]+"')


def _image(folder: Path, drawing: Drawing, notes: Sequence[str]) -> tuple[str, int, int]:
    """The SVG as an address that holds it, with its size in the browser's pixels, twice as large as in print, so that
    the page does not jump. Without the notes over it, which the file has: the page says them once."""
    data = (folder / "figures" / drawing.files[0]).read_bytes()
    match = SIZE.search(data, 0, 2000)
    if match is None:
        raise DenseError(f"{folder / 'figures' / drawing.files[0]}: not a figure of ours; make the report again")
    width, height = float(match[1]), float(match[2])
    top = round(note_height(notes, width / 72) * 72, 1)
    root = f'width="{width}pt" height="{height - top}pt" viewBox="0 {top} {width} {height - top}"'.encode()
    data = data[: match.start()] + match[0][: match[0].index(b" width=") + 1] + root + data[match.end() :]
    return (
        "data:image/svg+xml;base64," + base64.b64encode(data).decode(),
        round(width * 2),
        round((height - top) * 2),
    )
