"""What happened in an experiment, as it happened: an append-only file that survives `kill -9` at any moment.

Every event is one row, written in one transaction and on disk before the run goes on. Nothing is ever changed or
deleted, which the file itself enforces; what is known of a cell is what its events add up to. The store holds no
opinion: which cells there are is the plan's, what they mean is the report's."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dense.errors import DenseError
from dense.salvage import Record, Value, salvage_table
from dense.trajectory import Usage
from refit.results import AttemptResult, Cell, Result

STORE_FILE = "store.sqlite"
SCHEMA_VERSION = 2
READ_VERSIONS = (1, 2)
"""Version 1 had the fields of an imported result's attempt beside its cell; its other events are the same."""
_SCHEMA = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    cell TEXT,
    data TEXT NOT NULL
) STRICT;
CREATE TRIGGER never_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;
CREATE TRIGGER never_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;
"""


class ExperimentOpened(Struct, frozen=True, tag="opened"):
    """The experiment was made."""

    name: str
    """What it is called."""
    identity: dict[str, Any]
    """What its results depend on, by part; see `identity`."""


class ExperimentExtended(Struct, frozen=True, tag="extended"):
    """Cells were added to the experiment; those that it had stay as they were."""

    identity: dict[str, Any]
    """What its results depend on from here on."""


class SessionStarted(Struct, frozen=True, tag="session"):
    """A run began, or went on."""

    facts: dict[str, Any]
    """Configuration, versions, prompt hashes, task digests, machine."""


class ExecutionStarted(Struct, frozen=True, tag="began"):
    """An execution of a cell was started."""

    number: int
    """1-based: which try."""


class ExecutionEnded(Struct, frozen=True, tag="ended"):
    """An execution ended, scored or not."""

    number: int
    """Which try."""
    attempted: AttemptResult
    """What came of it."""


class ExecutionKilled(Struct, frozen=True, tag="killed"):
    """An execution was killed with its run: noted by the session that goes on. It has no score and is no failure."""

    number: int
    """Which try."""
    usage: Usage | None = None
    """What its trace says that it took; calls that were under way are not in it."""


class FeedbackMade(Struct, frozen=True, tag="feedback"):
    """The feedback that a cell starts with is made, and lies in its folder."""

    usage: Usage
    """What it took, cached answers at what they once cost. What was really spent is in `CallPaid`."""
    seconds: float
    """How long."""
    bytes: int
    """Of the message that the recipient gets."""
    message_sha256: str
    """Its hash."""
    state: str = ""
    """What the method says of the attempt, in a word."""
    fallbacks: int = 0
    """How many questions had no usable answer."""
    profile: str = ""
    """Which calls were made: the model's profile, or `rules`; empty without a message."""
    budget: str = ""
    """How large the feedback could be: bytes, `paper`, or `default`; empty without a message."""


class FeedbackFailed(Struct, frozen=True, tag="feedback-failed"):
    """Making feedback failed."""

    problem: str
    """Why. What was asked and paid for it is in its record; see `feedback.FAILED`."""


class CallPaid(Struct, frozen=True, tag="paid", omit_defaults=True):
    """The analyst's provider was asked: written when the call ends, so that no kill loses what was spent."""

    usage: Usage
    """The tokens of the call; its price is unknown if `cost_usd` is None."""
    is_partial: bool = False
    """Whether it may have cost more than that: tries that were cut off do not report it."""


class CellGivenUp(Struct, frozen=True, tag="invalid"):
    """A cell is given up: it is excluded, and counted as such."""

    reason: str
    """Why."""


class CellReopened(Struct, frozen=True, tag="reopened"):
    """An invalid cell may be tried again."""


class StoreSalvaged(Struct, frozen=True, tag="salvaged"):
    """The store was damaged, and this file has what could be read of it."""

    lost: int
    """How many events are missing."""


class ResultImported(Struct, frozen=True, tag="imported"):
    """A result from elsewhere."""

    result: Result
    """As it was recorded there."""
    source: str
    """The file or folder that it comes from."""


type Event = (
    ExperimentOpened
    | ExperimentExtended
    | SessionStarted
    | ExecutionStarted
    | ExecutionEnded
    | ExecutionKilled
    | FeedbackMade
    | FeedbackFailed
    | CallPaid
    | CellGivenUp
    | CellReopened
    | ResultImported
    | StoreSalvaged
)


class StoredEvent(Struct, frozen=True):
    """One row."""

    at: str
    """When: ISO 8601, UTC."""
    cell: Cell | None
    """Of which cell, where it is of one."""
    event: Event
    """What."""


_INSERT = "INSERT INTO events (at, kind, cell, data) VALUES (?, ?, ?, ?)"
_PREPARED = f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"


class _FirstImport(Struct):
    """What version 1 wrote of an import, as far as it is the attempt's."""

    result: AttemptResult


_events: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_first_imports: msgspec.json.Decoder[_FirstImport] = msgspec.json.Decoder(_FirstImport)
_cells: msgspec.json.Decoder[Cell] = msgspec.json.Decoder(Cell)
_AS_BYTES = ", ".join(f"CAST({column} AS BLOB)" for column in ("at", "cell", "data"))
"""Text that is no UTF-8 is the event's damage; as text SQLite would not hand it over."""
DAMAGED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What reading a damaged event raises."""


class EventStore:
    """The file. One process writes at a time (`lock`); any number may read."""

    def __init__(self, folder: Path, *, must_exist: bool = False) -> None:
        self.path = folder / STORE_FILE
        if must_exist and not self.path.is_file():
            raise DenseError(f"{folder}: no experiment here ({STORE_FILE} is missing)")
        folder.mkdir(parents=True, exist_ok=True)
        self._connection: sqlite3.Connection | None = None
        self._version = 0
        with self._using() as connection:
            self._prepare(connection)

    def append(self, event: Event, cell: Cell | None = None) -> None:
        """One event, on disk when this returns."""
        self.extend([(event, cell)])

    def extend(self, events: Sequence[tuple[Event, Cell | None]]) -> None:
        """Several events, all or none."""
        with self._using() as connection, connection:
            if self._version != SCHEMA_VERSION:  # no older program shall take what it cannot read for unknown
                self._version = SCHEMA_VERSION
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.executemany(_INSERT, [_inserted(event, cell) for event, cell in events])

    def __iter__(self) -> Iterator[StoredEvent]:
        """All events, in the order in which they were written."""
        with self._using() as connection:
            for number, *row in connection.execute(f"SELECT seq, {_AS_BYTES} FROM events ORDER BY seq"):
                try:
                    event = _event(*row)
                except DAMAGED as error:
                    raise DenseError(self._advice(f"event {number} is damaged: {error}")) from None
                yield event

    def close(self) -> None:
        """Nothing is lost without it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> EventStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _using(self) -> Generator[sqlite3.Connection]:
        """The connection. It stays open: the last one that is closed cleans up, which would be after every event."""
        try:
            if self._connection is None:
                self._connection = _connected(self.path)
            yield self._connection
        except sqlite3.OperationalError as error:  # locked, no space left, no access: nothing is damaged
            raise DenseError(f"{self.path}: the store cannot be used ({error})") from None
        except sqlite3.DatabaseError as error:
            raise DenseError(self._advice(str(error))) from None

    def _advice(self, problem: str) -> str:
        """What is damaged, what can be saved, what to do."""
        saved = salvage_table(self.path, "events", _row, _prepare_empty, _note_salvage)
        return (
            f"{self.path}: the store is damaged ({problem}). It holds the record of which cells are done; the trials'"
            f" folders beside it are not affected. {saved} `dense refit run` then takes finished trials over from their"
            " folders and runs nothing again that was scored. Or move the store away to begin anew"
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (self._version,) = connection.execute("PRAGMA user_version").fetchone()
        if self._version == 0 and os.access(self.path.parent, os.W_OK):
            connection.executescript(_PREPARED)
            self._version = SCHEMA_VERSION
        elif self._version not in READ_VERSIONS:
            raise DenseError(
                f"{self.path}: of version {self._version}, and this program reads {READ_VERSIONS[0]} to "
                f"{READ_VERSIONS[-1]}: use the release of dense that wrote it, or a newer one"
            )


def _connected(path: Path) -> sqlite3.Connection:
    """A connection that writes; in a folder that cannot be written to, one that reads."""
    if path.is_file() and not (os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)):
        # Without a log beside the file nobody writes to it; SQLite cannot find that out itself in a read-only folder.
        still = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{still}", uri=True)
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _event(at: bytes, cell: bytes | None, data: bytes) -> StoredEvent:
    event = _events.decode(data)
    if isinstance(event, ResultImported) and event.result.attempt == AttemptResult():
        event = replace(event, result=replace(event.result, attempt=_first_imports.decode(data).result))
    return StoredEvent(at.decode(), None if cell is None else _cells.decode(cell), event)


def _row(record: Record) -> tuple[Value, ...] | None:
    """A whole row of the table of events."""
    match record:
        case int(number), (None, str(at), str(kind), str() | None as cell, str(data)):
            try:
                _event(at.encode(), None if cell is None else cell.encode(), data.encode())
            except DAMAGED:
                return None
            return number, at, kind, cell, data
        case _:
            return None


def _prepare_empty(connection: sqlite3.Connection) -> None:
    connection.executescript(_PREPARED)


def _note_salvage(connection: sqlite3.Connection, lost: int) -> None:
    connection.execute(_INSERT, _inserted(StoreSalvaged(lost)))


def _inserted(event: Event, cell: Cell | None = None) -> tuple[str, str, str | None, str]:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return at, str(type(event).__struct_config__.tag), _named(cell), msgspec.json.encode(event).decode()


def _named(cell: Cell | None) -> str | None:
    return None if cell is None else msgspec.json.encode(cell).decode()
