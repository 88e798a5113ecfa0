"""Writes `index.html`: one file that needs nothing else, and that lets nothing in it act but its own script.

Style and script are named by their hashes in the page's policy: whatever text of a task or an exception might come to
stand in the page as markup would not run, and no address is ever asked. Figures stand in it as images, in which nothing
runs either."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from dense.errors import DenseError
from dense.report.figures import Drawing, drawings
from dense.report.model import Report
from dense.report.page import view
from dense.report.page.case import make_case
from dense.report.page.cells import inline_cells
from dense.report.tables import tables
from dense.results import Experiment
from dense.text.html import page_source, page_template, policy_hash, script_json

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
        images={drawing.name: _image(folder, drawing) for drawing in drawn if drawing.is_drawn},
        sizes={drawing.name: _size(folder, drawing) for drawing in drawn if drawing.is_drawn},
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


def _image(folder: Path, drawing: Drawing) -> str:
    """The SVG as an address that holds it."""
    data = (folder / "figures" / drawing.files[0]).read_bytes()
    return "data:image/svg+xml;base64," + base64.b64encode(data).decode()


SIZE = re.compile(
    rb'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"|<svg[^>]*? height="([\d.]+)pt"[^>]*? width="([\d.]+)pt"'
)


def _size(folder: Path, drawing: Drawing) -> tuple[int, int] | None:
    """Width and height in the browser's pixels, half as large again as in print; so the page does not jump."""
    with (folder / "figures" / drawing.files[0]).open("rb") as file:
        found = SIZE.search(file.read(2000))
    if found is None:
        return None
    width, height = (found[1], found[2]) if found[1] else (found[4], found[3])
    return round(float(width) * 2), round(float(height) * 2)
