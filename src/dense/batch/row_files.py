"""Files with a whole trace in each line or row: how they are known, and how their rows are read one at a time.

A row that is too large, or cannot be decoded, is a value: the rows around it are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from itertools import islice
from typing import IO, Any, NamedTuple, cast

from dense.batch.libraries import parquet
from dense.errors import DenseError
from dense.readers.detect import READERS, reader
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import is_obj

SESSION_FORMATS = frozenset(
    {"claude-code", "codex", "gemini-cli", "pi", "openclaw", "copilot-cli", "qwen-code", "otel", "inspect"}
)
"""Formats in which all lines of a file together are one trace, or the lines of one trace are spread over a file."""
HEAD_LINES = 20
MAX_HEAD_LINE = 4_000_000
CHUNK = 1 << 20
PARQUET_BATCH = 16
"""So many rows of a Parquet file are decoded at once."""


class RawRow(NamedTuple):
    """One row as bytes that a reader can read."""

    part: str
    """Its place: `row 12`, `byte 4096`."""
    data: bytes | None
    """JSON; None if the row is longer than the limit, or cannot be decoded."""
    problem: str = ""
    """Why there is no data."""
    texts: tuple[bytes, ...] = ()
    """Of a Parquet row: its columns that may hold a whole trace as JSON, the longest first."""


def has_rows(stream: IO[bytes]) -> bool:
    """Whether the lines of a file are traces of their own. Leaves the stream at its beginning, if it can."""
    try:
        for _, line in islice(lines(stream, MAX_HEAD_LINE), HEAD_LINES):
            if line is None:
                continue
            try:
                value, _ = decode(line)
            except (BadJson, RecursionError):
                continue
            if is_obj(value) and "role" not in value:
                name = next((name for name in READERS if reader(name).claims([value])), None)
                return name is not None and name not in SESSION_FORMATS
            return False
        return False
    finally:
        if stream.seekable():
            stream.seek(0)


def lines(stream: IO[bytes], limit: int, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes | None]]:
    """The lines that begin in a range of bytes, each with the place of its first byte; None for one beyond the limit,
    of which never more than the limit is held."""
    offset = start
    if start:
        stream.seek(start - 1)
        while (part := stream.readline(CHUNK)) and not part.endswith(b"\n"):
            offset += len(part)
            if end is not None and offset > end:
                return  # no line begins here
        offset += len(part) - 1
    while end is None or offset < end:
        parts: list[bytes] = []
        length = 0
        while part := stream.readline(CHUNK):
            length += len(part)
            if length <= limit:
                parts.append(part)
            else:
                parts.clear()
            if part.endswith(b"\n"):
                break
        if not length:
            return
        line = b"".join(parts) if length <= limit else None
        if line is None or not line.isspace():
            yield offset, line
        offset += length


def line_rows(stream: IO[bytes], limit: int, start: int = 0, end: int | None = None) -> Iterator[RawRow]:
    """The rows of a file of lines, or of a range of it."""
    for offset, line in lines(stream, limit, start, end):
        problem = f"the line is longer than {limit >> 20:,} MiB (--max-trace-mb)" if line is None else ""
        yield RawRow(f"byte {offset}", line, problem)


def parquet_rows(stream: IO[bytes], limit: int, group: int | None = None, column: str = "") -> Iterator[RawRow]:
    """The rows of a Parquet file, or of one row group, each as a JSON object of its columns."""
    file = parquet().ParquetFile(stream)
    names = file.schema_arrow.names
    if column and column not in names and column.partition(".")[0] not in names:
        raise DenseError(f"no column {column!r} (--column); there are {', '.join(names)}")
    first = sum(file.metadata.row_group(number).num_rows for number in range(group or 0))
    groups = None if group is None else [group]
    batches = file.iter_batches(PARQUET_BATCH, row_groups=groups, columns=[column] if column else None)
    for batch in batches:
        for offset in range(batch.num_rows):
            yield _parquet_row(batch, offset, first, limit)
            first += 1


def _parquet_row(batch: Any, offset: int, number: int, limit: int) -> RawRow:
    part = f"row {number}"
    row = batch.slice(offset, 1)
    if row.get_total_buffer_size() > limit and row.nbytes > limit:
        return RawRow(part, None, f"the row is larger than {limit >> 20:,} MiB (--max-trace-mb)")
    values: dict[str, Any] = {}
    for name in batch.schema.names:
        values[name] = _plain(_value(row.column(name)))
    texts = [value.encode("utf-8", "replace") for value in values.values() if isinstance(value, str)]
    texts = sorted((text for text in texts if text.lstrip()[:1] in (b"{", b"[")), key=len, reverse=True)
    return RawRow(part, json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"), texts=tuple(texts))


def _value(column: Any) -> Any:
    try:
        return column[0].as_py()
    except UnicodeDecodeError:  # a column of text whose bytes are none
        return column.cast("binary")[0].as_py() if str(column.type) in ("string", "large_string") else None


def _plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime | date):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
