"""Parquet files whose rows hold traces, as on Hugging Face: a column `messages`, `trajectory` or alike.

The column holds lists and objects, or JSON as text (Inspect Scout's transcripts). What is in it is read by the reader
that claims it, mostly `messages`. Of the other columns only IDs and the model's name are looked at: they may grade.
Rows are read a few at a time. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from dense.errors import NotATrace, NoTrajectory, install_hint
from dense.readers.detect import READERS, reader
from dense.readers.files import TraceFile, TraceRecord
from dense.readers.folders.databases import json_value
from dense.readers.json_value import is_obj, is_seq, obj
from dense.readers.reader import Reader, TraceLocation, unique_id
from dense.readers.stream import Stream, held_back
from dense.trajectory import Source

COLUMNS = ("messages", "trajectory", "conversations", "conversation", "traj", "history", "steps", "transcript")
FACTS = ("id", "transcript_id", "trajectory_id", "session_id", "conversation_id", "instance_id", "uuid", "model")
ROWS = 16
"""So many rows are in memory at a time."""


class ParquetRows:
    """A table with a trace in each row."""

    def read_container(self, file: TraceFile, location: TraceLocation, forced: str | None) -> Iterator[Stream]:
        """The traces, row by row."""
        yield from held_back(self.streams(file, location, forced), location.notices)

    def streams(self, file: TraceFile, location: TraceLocation, forced: str | None) -> Iterator[Stream]:
        ids: set[str] = set()
        for number, row in enumerate(_rows(file)):
            source = Source(file.name, part=f"row {number}")
            trace = _trace(row, forced)
            if trace is None:
                location.notices.skip("row without a trace of a known format", source)
                continue
            chosen, value = trace
            for stream in chosen.read(iter([TraceRecord(value, source)]), location):
                stream.source = source
                stream.id = unique_id(stream.id, source, ids)
                yield stream


def _rows(file: TraceFile) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow  # pyright: ignore[reportMissingTypeStubs]
        import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise NoTrajectory(f"{file.name}: Parquet needs pyarrow: {install_hint('parquet')}") from None
    arrow, tables = cast("Any", pyarrow), cast("Any", pyarrow.parquet)
    try:
        with tables.ParquetFile(file.path) as table:
            names = table.schema_arrow.names
            if not any(name in names for name in COLUMNS):
                raise NotATrace(f"{file.name}: a table without a column of messages ({', '.join(COLUMNS)})")
            wanted = [name for name in names if name in COLUMNS or name in FACTS]
            for batch in table.iter_batches(ROWS, columns=wanted):
                yield from batch.to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise NoTrajectory(f"{file.name}: the table cannot be read ({str(error).splitlines()[0][:200]})") from None


def _trace(row: dict[str, Any], forced: str | None) -> tuple[Reader, Any] | None:
    """The reader of a row, and what it reads."""
    facts = {name: str(row[name]) for name in FACTS if row.get(name) is not None}
    if "transcript_id" in facts:
        facts.setdefault("id", facts["transcript_id"])
    for name in COLUMNS:
        stored = row.get(name)
        value = _filled(json_value(stored) if isinstance(stored, str) else stored)
        views = [value, facts | {"messages": value}] if is_seq(value) else [value]
        for known in [forced] if forced else READERS:
            for view in views:
                if view and reader(known).claims([view]):
                    return reader(known), views[-1] if known == "messages" else view
    return None


def _filled(value: Any) -> Any:
    """The value without fields that are null: a table has every field of every row."""
    if is_seq(value):
        return [_filled(item) for item in value]
    return {key: _filled(item) for key, item in obj(value).items() if item is not None} if is_obj(value) else value
