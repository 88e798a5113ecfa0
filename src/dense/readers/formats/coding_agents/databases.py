"""SQLite stores of coding agents: which program's it is, by its tables, and its sessions as documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from dense.errors import NotATrace, NoTrajectory
from dense.readers.files import TraceFile, TraceRecord
from dense.readers.folders.databases import Database, open_database
from dense.readers.formats.coding_agents import cursor, goose, opencode
from dense.readers.reader import Reader, TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source

type Sessions = Callable[[Database, str | None], Iterator[tuple[str, object]]]

STORES: dict[type[Reader], tuple[frozenset[str], Sessions]] = {
    opencode.Opencode: (frozenset({"session", "message", "part"}), opencode.database_sessions),
    goose.Goose: (frozenset({"sessions", "messages"}), goose.database_sessions),
    cursor.Cursor: (frozenset({"cursorDiskKV"}), cursor.database_sessions),
}
"""Which tables show a program's store, and how its sessions are read."""


class SqliteStore:
    """A database of sessions."""

    def read_container(self, file: TraceFile, location: TraceLocation, forced: str | None) -> Iterator[Stream]:
        """The sessions of the program whose tables it has, one at a time."""
        with open_database(file.path) as database:
            tables = database.tables()
            for kind, (needed, sessions) in STORES.items():
                reader = kind()
                if needed <= tables and forced in (None, reader.name):
                    records = (
                        TraceRecord(value, Source(file.name, part=name))
                        for name, value in sessions(database, file.only)
                    )
                    first = next(records, None)
                    if first is None:  # the editors keep such a file for each folder that was ever opened
                        raise NotATrace(f"{file.name}: a database of {reader.name} without a session")
                    yield from reader.read(chain((first,), records), location)
                    return
        known = ", ".join(kind.name for kind in STORES)
        if forced is not None:
            raise NoTrajectory(f"{file.name}: not a database of {forced}")
        raise NotATrace(f"{file.name}: a database, but of none of these programs: {known}")
