"""The contract of readers: what a reader of one format must do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dense.readers.files import TraceFile, TraceRecord
from dense.readers.json_value import is_obj
from dense.readers.notices import Notices
from dense.readers.stream import Stream
from dense.trajectory import Source, Step


@dataclass(frozen=True)
class TraceLocation:
    """The file that a reader reads from, and where it can look for what belongs to it."""

    path: Path
    """On disk. Side files (sub-agents, long outputs, the task's files) are beside it."""
    name: str
    """How the file is called in sources and messages."""
    notices: Notices
    """Where to say what was skipped, repaired or missed."""

    def beside(self, path: Path) -> TraceFile:
        """A side file, read with the same notices."""
        return TraceFile(path, str(Path(self.name).parent / _relative(path, self.path.parent)), self.notices)

    def source(self, **where: Any) -> Source:
        """A source in this file."""
        return Source(self.name, **where)


class Reader(Protocol):
    """Reads one format.

    A file reaches a reader as records: a line each of a JSONL file, or the one value of a JSON document. A reader of a
    line-based format goes through all records; a reader of documents takes each record as a document, so that JSONL
    with a document on each line works by itself. A document that is a list is offered as it is first, then as the
    records of its items.

    Error policy: a damaged or unknown record goes to `location.notices.skip` and reading goes on; a reader raises
    nothing for what a file contains. Laziness: line-based readers yield steps while they read. All streams of a file
    share `location.notices`; each takes what has gathered when its steps end."""

    name: str

    def claims(self, head: Sequence[Any]) -> bool:
        """Whether these first records are of this format. Decided by content alone, never by a file's name."""
        ...

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        """The trajectories. A record without any step yields nothing and a notice."""
        ...


def fitting_documents(
    records: Iterable[TraceRecord], fits: Callable[[Any], bool], notices: Notices, what: str
) -> Iterator[TraceRecord]:
    """The documents among the records that a reader can make something of; the others are reported as not being `what`.

    Each is handed out when the next one is known: notices after the last one are then attached to it.
    """
    waiting: TraceRecord | None = None
    for record in records:
        if not fits(record.value):
            # Without a word of what it says: a row that is passed over may hold grades like any other.
            notices.skip(f"not {what}", record.source)
            continue
        if waiting is not None:
            yield waiting
        waiting = record
    if waiting is not None:
        yield waiting


def steps_of_lines(
    records: Iterable[TraceRecord], feed: Callable[[dict[str, Any], Source], Step | None], notices: Notices
) -> Iterator[Step]:
    """The steps that `feed` completes, as it takes the lines of a session. A line that is no object is reported."""
    for record in records:
        if not is_obj(record.value):
            notices.skip("line is not an object", record.source)
        elif done := feed(record.value, record.source):
            yield done


def location_of_row(source: Source) -> Source:
    """The place of a record that is a whole trajectory: a row, where the file has several."""
    number = source.index if source.line is None else source.line - 1
    return Source(source.path, line=source.line, part=None if number is None else f"row {number}")


def unique_id(id: str, source: Source, taken: set[str]) -> str:
    """An ID that no other trajectory of the file has."""
    if id in taken:
        id = f"{id}#{source.part or len(taken)}"
    taken.add(id)
    return id


def _relative(path: Path, start: Path) -> Path:
    try:
        return path.relative_to(start, walk_up=True)
    except ValueError:
        return path
