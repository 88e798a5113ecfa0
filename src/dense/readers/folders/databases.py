"""SQLite files of other programs, read only. Whatever is wrong with one is an error of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.json_text import BadJson, decode


class Database:
    """An open database."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        connection.text_factory = _text

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise NoTrajectory(f"{self.path}: the database cannot be read ({error})") from None

    def tables(self) -> frozenset[str]:
        """The names of its tables."""
        return frozenset(str(name) for (name,) in self.rows("select name from sqlite_master where type = 'table'"))

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns."""
        return frozenset(str(row[1]) for row in self.rows(f"pragma table_info({table})"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


@contextmanager
def open_database(path: Path) -> Generator[Database]:
    """A database for reading. What a running program has not merged into it yet is seen as well where possible."""
    connection = None
    for mode in ("mode=ro", "immutable=1"):  # a write-ahead log in a folder that we may not write to needs the second
        try:
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
            connection.execute("select 1 from sqlite_master").fetchone()
            break
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if mode == "immutable=1":
                raise NoTrajectory(f"{path}: the database cannot be read ({error})") from None
    if connection is None:
        raise NoTrajectory(f"{path}: the database cannot be read")
    try:
        yield Database(path, connection)
    finally:
        connection.close()


def json_value(data: Any) -> Any:
    """A JSON column's value; None if it is none."""
    if isinstance(data, str | bytes) and data:
        try:
            return decode(data.encode("utf-8", errors="replace") if isinstance(data, str) else data)[0]
        except BadJson:
            return None
    return None
