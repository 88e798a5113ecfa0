"""Read what can still be read of a damaged SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any


def salvage_table(path: Path, table: str, key: str, prepare: Callable[[sqlite3.Connection], object]) -> str:
    """Copy a table's readable rows into a new file beside a damaged one; gives a sentence that says what was saved.

    The table is read from both ends of its key until the damaged place. `prepare` makes the empty new file's tables."""
    target = path.with_name(f"{path.stem}.saved{path.suffix}")
    rows = {row[0]: row for order in ("ASC", "DESC") for row in _readable(path, f"{table} ORDER BY {key} {order}")}
    if not rows:
        return "Nothing in it can be read"
    marks = ", ".join("?" * len(next(iter(rows.values()))))
    try:
        target.unlink(missing_ok=True)
        target.touch(mode=0o600)
        with closing(sqlite3.connect(target)) as connection, connection:
            prepare(connection)
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [rows[one] for one in sorted(rows)])
    except (OSError, sqlite3.Error) as error:
        return f"{len(rows)} of its records can be read, but they cannot be written to {target} ({error})"
    return f"{len(rows)} of its records could be read and are saved in {target}: put that file in its place to go on"


def _readable(path: Path, query: str) -> Iterator[tuple[Any, ...]]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            yield from connection.execute(f"SELECT * FROM {query}")
    except sqlite3.DatabaseError:
        return
