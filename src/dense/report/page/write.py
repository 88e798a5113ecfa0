"""Writes `index.html`: one file that needs nothing else, and that lets nothing in it act but its own script.

Style and script are named by their hashes in the page's policy: whatever text of a task or an exception might come to
stand in the page as markup would not run, and no address is ever asked. Figures stand in it as images, in which nothing
runs either."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dense.errors import DenseError
from dense.report.figures import Drawing, drawings
from dense.report.model import Report
from dense.report.page import view
from dense.report.page.cells import inline_cells
from dense.report.page.escaping import escape_controls, script_json
from dense.report.tables import tables
from dense.results import Experiment

if TYPE_CHECKING:
    from jinja2 import Template

HERE = Path(__file__).parent
NAME = "index.html"


def write_page(report: Report, experiment: Experiment, folder: Path) -> Path:
    """The page of a report whose figures have been drawn into `folder`; gives its path."""
    from markupsafe import Markup

    style, script = (_source(name) for name in ("page.css", "page.js"))
    drawn = drawings(folder)
    parts = view.parts(report)
    labels = {method.method: method.label for method in report.methods}
    cells = inline_cells(experiment, folder, view.pairs_of(parts), labels)
    text = _template().render(
        report=report,
        run=view.run(report, experiment),
        facts=view.facts(report.facts),
        tables=view.texts_of(tables(report)),
        figures=drawn,
        images={drawing.name: _image(folder, drawing) for drawing in drawn if drawing.is_drawn},
        sizes={drawing.name: _size(folder, drawing) for drawing in drawn if drawing.is_drawn},
        parts=parts,
        count=f"{len(experiment.results):,}",
        cells=Markup(script_json(cells)),  # `script_json` leaves nothing that a parser of HTML acts on
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise DenseError(f"the page cannot be written to {path}: {error.strerror or error}") from None
    return path


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["escape_controls"] = escape_controls
    return environment.get_template("page.html.j2")


@cache
def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


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
