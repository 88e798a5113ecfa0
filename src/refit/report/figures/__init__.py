"""Every figure of a report, as SVG and PNG, from the report alone.

    draw(report, folder) → folder/figures/*.svg, *.png, figures.json

In: a `Report`. Out: files, and what was drawn, or left out and why. The same report gives the same bytes. Figures are
made for print: seven inches wide, no text below seven points. Never imports tables or the page."""

from __future__ import annotations

from refit.report.figures.draw import draw, drawings
from refit.report.figures.panel import Drawing

__all__ = ["Drawing", "draw", "drawings"]
