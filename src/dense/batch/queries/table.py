"""The rows of a batch as a DuckDB view: those of its spec, the newest of each place, each key once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from dense.batch.libraries import duckdb
from dense.batch.sources import file_system
from dense.batch.store import Target
from dense.errors import DenseError

CURRENT = """
CREATE VIEW traces AS
WITH dated AS (
  SELECT * REPLACE (coalesce(written, 'epoch'::TIMESTAMPTZ) AS written)
  FROM (FROM parts UNION ALL BY NAME SELECT NULL::TIMESTAMPTZ AS written WHERE false)
  WHERE spec = getvariable('spec')
), newest AS (
  FROM dated QUALIFY written = max(written) OVER (PARTITION BY source, part)
  AND (error = '' OR written = max(written) OVER (PARTITION BY item))
  AND (error = '' OR part <> ''
       OR written >= coalesce(max(written) FILTER (error = '') OVER (PARTITION BY source), written))
)
SELECT *, count(DISTINCT (source, part)) OVER (PARTITION BY key) AS places
FROM newest QUALIFY row_number() OVER (PARTITION BY key ORDER BY error <> '', written DESC, source, part) = 1
"""
"""The rows that count. An input that changed has a later row at its place. An error is over when its input has later
rows, or, if it was that of a whole file, when the file has later rows without one. Equal traces are one row, with the
number of their places."""

type AnswerRow = tuple[Any, ...]


class AnswerTable(Struct, frozen=True):
    """The answer to a query."""

    name: str
    """Its short name, for JSON."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[AnswerRow, ...]
    note: str = ""
    """What must be said with it."""


class BatchTable:
    """The table of one target, open for queries."""

    def __init__(self, uri: str) -> None:
        target = Target(uri)
        spec, parts = target.spec(), target.parts()
        if spec is None or not parts:
            raise DenseError(f"{uri}: no table of `dense batch` there; make one with: dense batch SRC… --out {uri}")
        self.uri, self.spec = uri, spec
        self._connection = duckdb().connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        if not target.is_local:
            system, _ = file_system(uri)
            self._connection.register_filesystem(system)
            parts = [system.unstrip_protocol(part) for part in parts]
        self._connection.read_parquet(parts, union_by_name=True).create_view("parts")
        self._connection.execute(CURRENT)
        self._connection.execute("SET VARIABLE spec = $spec", {"spec": spec.hash})

    def ask(self, query: str, **values: Any) -> list[AnswerRow]:
        """The rows of a query over `traces`."""
        try:
            return self._connection.execute(query, values or None).fetchall()
        except duckdb().Error as error:
            raise DenseError(f"{self.uri}: cannot be read ({str(error).partition(chr(10))[0]})") from None

    def answer(self, name: str, title: str, columns: Sequence[str], query: str, **values: Any) -> AnswerTable:
        """The same as a table."""
        return AnswerTable(name, title, tuple(columns), tuple(self.ask(query, **values)))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
