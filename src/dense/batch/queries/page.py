"""The answers as one self-contained HTML page. All text of traces is escaped, and nothing is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dense.batch.queries.table import AnswerTable
from dense.text.clip import clip_end

MAX_CELL = 200
STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #4a7bd055; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
td.number { text-align: right; }
td.text { max-width: 34rem; overflow-wrap: anywhere; }
td.share { background: linear-gradient(to right, var(--bar) var(--part), transparent var(--part)); min-width: 6rem; }
p.note { color: GrayText; }
"""


def page(title: str, tables: Sequence[AnswerTable]) -> str:
    """The page."""
    sections = "\n".join(map(_section, tables))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"{sections}\n</body>\n</html>\n"
    )


def _section(table: AnswerTable) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    head = f"<thead><tr>{head}</tr></thead>" if any(table.columns) else ""
    body = "\n".join("<tr>" + "".join(map(_cell, row, table.columns)) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>\n' if table.note else ""
    if not table.rows:
        return f"<h2>{escape(table.title)}</h2>\n{note}<p>None.</p>"
    whole = f"<table>{head}<tbody>\n{body}\n</tbody></table>"
    return f'<h2>{escape(table.title)}</h2>\n{note}<div class="scroll">{whole}</div>'


def _cell(value: object, column: str) -> str:
    if is_share(column) and isinstance(value, float):
        return f'<td class="share" style="--part: {min(value, 1):.1%}">{value:.1%}</td>'
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f'<td class="text">{escape(clip_end(cell_text(value, column), MAX_CELL))}</td>'
    return f'<td class="number">{cell_text(value, column)}</td>'


def cell_text(value: object, column: str) -> str:
    """A value for people; what is unknown is a dash."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1%}" if is_share(column) else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def is_share(column: str) -> bool:
    """Whether the values of a column are parts of a whole."""
    return column.startswith("share") or column == "recovered"
