"""Reading traces: from a path to trajectories.

    walk (which files) → detect (which format) → formats/* (what it says) → stream (steps as they come) → Trajectory

`read` is the door. `read_streams` is the same for callers that cannot hold a whole trajectory, or that want failures as values.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dense.errors import DenseError, NoTrajectory, SkippedRecords
from dense.read.detect import READERS, NotATrace, reader, streams
from dense.read.files import EventFolder, TraceFile
from dense.read.stream import Stream
from dense.read.walk import traces
from dense.trajectory import Task, Trajectory

__all__ = ["READERS", "Stream", "Unread", "read", "read_streams"]

log = logging.getLogger("dense.read")


@dataclass(frozen=True)
class Unread:
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

    `format` forces a reader, `task` gives the instruction to all of them, `strict` makes a skipped record an error. A single file
    that cannot be read raises `NoTrajectory`; below a folder such a file is logged and passed over.
    """
    found = False
    for item in read_streams(path, format=format, task=task, strict=strict):
        if isinstance(item, Unread):
            if item.is_trace:
                log.warning("%s", item.reason)
        else:
            found = True
            yield item.collect()
    if not found:
        raise NoTrajectory(f"{path}: no trace in this folder")


def read_streams(
    path: str | Path, *, format: str | None = None, task: str | None = None, strict: bool = False
) -> Iterator[Stream | Unread]:
    """The same as streams: each must be gone through before the next is asked for. Failures below a folder come as values."""
    path = Path(path).expanduser()
    if format is not None:
        reader(format)
    given = Task(task, origin="option") if task else None
    alone = not path.is_dir()
    for file in traces(path, strict=strict):
        try:
            yield from _streams_of(file, format, given)
        except SkippedRecords:
            raise
        except DenseError as error:
            if alone:
                raise
            yield Unread(file.name, str(error), not isinstance(error, NotATrace))
        except OSError as error:
            reason = f"{file.name}: cannot be read ({error.strerror or error})"
            if alone:
                raise NoTrajectory(reason) from None
            yield Unread(file.name, reason, True)


def _streams_of(file: TraceFile | EventFolder, format: str | None, given: Task | None) -> Iterator[Stream]:
    found = False
    for stream in streams(file, format):
        found = True
        stream.task = given or stream.task
        if stream.task is None:
            stream.notices.note("no task in the trace; give it with --task", stream.source)
        yield stream
    if not found:
        skipped = "".join(f"\n  {notice.source}: {notice.text}" for notice in file.notices.take()[:5])
        raise NoTrajectory(f"{file.name}: no step of an agent in it{skipped}")
