"""One attempt, or two side by side, as a page: `dense view`.

    load (a path → what it holds) → model (what the page shows) → page (one HTML file)

In: a trace, a folder that `dense distill` wrote, or a cell of an experiment. Out: one file that needs nothing else.
All text of a trace is data: it reaches the page compressed, and the page's script shows it as text. Never imports
`cli`."""

from __future__ import annotations

from dense.view.load import LoadedRun, load_runs, load_trajectory
from dense.view.page import page_html, write_view

__all__ = ["LoadedRun", "load_runs", "load_trajectory", "page_html", "write_view"]
