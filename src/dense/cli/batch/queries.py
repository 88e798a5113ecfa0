"""What the queries of a batch print: tables of text, JSON, or a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from dense.batch.queries.difference import difference
from dense.batch.queries.page import cell_text, page
from dense.batch.queries.search import SearchMatch
from dense.batch.queries.search import search as search_table
from dense.batch.queries.summary import summary as summarise
from dense.batch.queries.table import AnswerTable, BatchTable
from dense.cli.text import printable, shortened
from dense.errors import DenseError
from dense.service.private_files import write_files

MAX_CELL = 60


def summary(uri: str, top: int, html: Path | None, *, as_json: bool) -> None:
    """Print the summary of a table, or write its page."""
    with closing(BatchTable(uri)) as table:
        _show(summarise(table, top), f"Batch {uri}", html, as_json=as_json)


def diff(first: str, second: str, top: int, html: Path | None, *, as_json: bool) -> None:
    """Print what is different between two tables, or write it as a page."""
    with closing(BatchTable(first)) as first_table, closing(BatchTable(second)) as second_table:
        _show(difference(first_table, second_table, top), f"Batch A {first}, B {second}", html, as_json=as_json)


def search(uri: str, text: str, limit: int, html: Path | None, *, as_json: bool) -> bool:
    """Print the traces that hold a text, or write them as a page; gives whether there are any."""
    with closing(BatchTable(uri)) as table:
        count, matches = search_table(table, text, limit)
    count_line = f"{count:,} trace{'' if count == 1 else 's'}" + (
        f", the first {len(matches)} are shown (--limit)" if count > len(matches) else ""
    )
    if as_json:
        for match in matches:
            print(msgspec.json.encode(match).decode())
    elif html is not None:
        columns = ("source", "part", "places", "state", "found in", "text")
        rows = [
            (match.source, match.part, match.places, _state(match), match.holder, match.excerpt) for match in matches
        ]
        _write_page(html, page(f"Batch {uri}", [AnswerTable("search", f"“{text}”", columns, tuple(rows), count_line)]))
    else:
        for match in matches:
            where = f"{match.source} [{match.part}]" if match.part else match.source
            more = f" and {match.places - 1} more" if match.places > 1 else ""
            print(f"{printable(where)}{more}  {_state(match)}\n  {match.holder}: {printable(match.excerpt)}")
        print(count_line)
    return count > 0


def _state(match: SearchMatch) -> str:
    return match.state or "no feedback"


def _show(tables: Sequence[AnswerTable], title: str, html: Path | None, *, as_json: bool) -> None:
    if as_json:
        answers = {table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for table in tables}
        if "overview" in answers and tables[0].columns == ("", ""):
            answers["overview"] = [{str(name): value for name, value in tables[0].rows}]
        print(json.dumps(answers, indent=1, default=str))
    elif html is not None:
        _write_page(html, page(title, tables))
    else:
        print("\n\n".join(map(_text, tables)))


def _write_page(html: Path, text: str) -> None:
    """Write a page that only its owner can read."""
    if html.is_symlink() or (html.exists() and not html.is_file()):
        raise DenseError(f"--html {html}: there is a folder, a link or a device of this name; choose another")
    try:
        write_files(html.parent, {html.name: text.encode("utf-8", "replace")})
    except DenseError as error:
        raise DenseError(f"--html {html}: {error}") from None
    print(f"{html}: written")


def _text(table: AnswerTable) -> str:
    """A table for the terminal: numbers on the right, texts shortened."""
    cells = [
        [shortened(cell_text(value, column), MAX_CELL) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    note = [f"  {printable(table.note)}"] if table.note else []
    if not cells:
        return "\n".join([table.title, *note, "  none"])
    head = [list(table.columns)] if any(table.columns) else []
    widths = [max(len(row[index]) for row in (*head, *cells)) for index in range(len(table.columns))]
    columns = list(zip(*table.rows, strict=True))
    numbers = [all(value is None or isinstance(value, int | float) for value in column) for column in columns]

    def line(row: Sequence[str]) -> str:
        each = zip(row, widths, numbers, strict=True)
        return "  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in each).rstrip()

    return "\n".join([table.title, *note, *(f"  {line(row)}" for row in (*head, *cells))])
