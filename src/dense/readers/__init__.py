"""Reading traces: from a path to trajectories.

    walk (which files) → detect (which format) → formats/* (what it says) → stream (steps as they come) → Trajectory

In: a path. Out: trajectories, by `read`; or streams with failures as values, by `read_streams`, for callers that cannot
hold a whole trajectory. A record that cannot be read becomes a notice. Never imports anything of dense but nouns and
what `knowledge` says of harnesses; only
`outcomes` knows grades, and nothing on the way to a trajectory imports it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dense.errors import DenseError, NotATrace, NoTrajectory, SkippedRecords, UnknownFormat
from dense.readers.detect import READERS, streams
from dense.readers.files import EventFolder, TraceFile, printable_path
from dense.readers.folders.skipped import Skipped
from dense.readers.folders.stores import StoredSession, stored_sessions
from dense.readers.json_value import obj, string
from dense.readers.stream import StepBuilder, Stream
from dense.readers.walk import traces
from dense.trajectory import Task, Trajectory

__all__ = [
    "READERS",
    "Skipped",
    "StepBuilder",
    "StoredSession",
    "Stream",
    "UnreadFile",
    "files_of",
    "obj",
    "read",
    "read_file",
    "read_session",
    "read_streams",
    "stored_sessions",
    "string",
]

TRACE_NAMES = (".json", ".jsonl", ".traj", ".eval", ".zst", ".gz", ".parquet", ".vscdb", ".cast", "events")
"""How files are named that people would call traces: if one cannot be read, they want to know."""

log = logging.getLogger("dense.read")


@dataclass(frozen=True)
class UnreadFile:
    """A file below a folder from which no trajectory came."""

    path: str
    """The file."""
    reason: str
    """Why, for people."""
    is_trace: bool
    """Whether it looked like a trace: False for the other files that lie around."""


def read(
    path: str | Path, *, format: str | None = None, task: str | None = None, strict: bool = False
) -> Iterator[Trajectory]:
    """The trajectories of a file or folder, one at a time.

    `format` forces a reader, `task` gives the instruction to all of them, `strict` makes a skipped record an error. A
    single file that cannot be read raises `NoTrajectory`; below a folder such a file is logged and passed over."""
    is_any = False
    root = Path(path).expanduser()
    is_folder = root.is_dir()
    for item in read_streams(root, format=format, task=task, strict=strict):
        if isinstance(item, Stream):
            is_any = True
            yield item.collect()
        elif not is_folder:
            raise NoTrajectory(item.reason)
        elif item.is_trace:
            log.warning("%s", item.reason)
    if not is_any:
        raise NoTrajectory(f"{path}: no trace in this folder; to read another format, see docs/add-a-reader.md")


def read_streams(
    path: str | Path, *, format: str | None = None, task: str | None = None, strict: bool = False
) -> Iterator[Stream | UnreadFile]:
    """The trajectories of a file or folder as streams, for callers that cannot hold a whole trajectory.

    Each stream must be read to its end before the next is asked for. A file that cannot be read is a value."""
    for file in files_of(path, strict=strict):
        yield from read_file(file, format=format, task=task)


def files_of(
    path: str | Path, *, strict: bool = False, skipped: Skipped | None = None
) -> Iterator[TraceFile | EventFolder]:
    """The files below a path that may hold traces. `skipped` counts what the walk passes over, and why."""
    return traces((path if isinstance(path, Path) else Path(path)).expanduser(), strict=strict, skipped=skipped)


def read_file(
    file: TraceFile | EventFolder, *, format: str | None = None, task: str | None = None
) -> Iterator[Stream | UnreadFile]:
    """The trajectories of one file, or why there is none. Only a skipped record under `strict` is raised."""
    given = Task(task, origin="option") if task else None
    try:
        yield from _streams_of(file, format, given)
    except (SkippedRecords, UnknownFormat):
        raise
    except DenseError as error:
        damage = file.notices.take()
        notices = "".join(f"\n  {notice.source}: {notice.text}" for notice in damage[:5])
        looks_like_one = bool(damage) or not isinstance(error, NotATrace)
        yield UnreadFile(file.name, f"{error}{notices}", looks_like_one and file.path.name.endswith(TRACE_NAMES))
    except RecursionError:
        yield UnreadFile(file.name, f"{file.name}: a value is nested too deeply", True)
    except OSError as error:
        yield UnreadFile(file.name, f"{file.name}: cannot be read ({error.strerror or error})", True)


def read_session(session: StoredSession, *, task: str | None = None) -> Iterator[Stream | UnreadFile]:
    """The trajectory of one session of a program's store (see `stored_sessions`)."""
    path = session.path
    only = session.id if session.is_in_database else None
    yield from read_file(TraceFile(path, printable_path(path), only=only), task=task)


def _streams_of(file: TraceFile | EventFolder, format: str | None, given: Task | None) -> Iterator[Stream]:
    is_any = False
    for stream in streams(file, format):
        is_any = True
        stream.task = given or stream.task
        if stream.task is None:
            stream.notices.note_once("no task in the trace; give it with --task", stream.source)
        yield stream
    if not is_any:
        raise NoTrajectory(f"{file.name}: no step of an agent in it")
