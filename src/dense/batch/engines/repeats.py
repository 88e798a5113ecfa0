"""Partitions on engines that repeat a lost partition for ever: a trace that kills each process must end somewhere.

A marker in the target says that a partition was begun. If it is there already, an earlier process was lost: this one
notes every trace before it reads it. A trace at which two such processes were lost gets a row with an error."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from dense.batch.engines.engine import BatchJob, KnownWatch, process_and_write
from dense.batch.known import KnownRows
from dense.batch.partition import Partition
from dense.batch.store import LOSS_MARKER, PartSummary, Target

MAX_LOST = 2
"""So many processes may be lost at one trace: one may be lost for reasons of its own."""


class LossMarker(Struct):
    """What is known of earlier processes that had a partition."""

    at: str = ""
    """The trace that was being read; empty if the process did not note them."""
    lost: dict[str, int] = {}
    """How many processes were lost at a trace."""


def process_repeatable(partition: Partition, job: BatchJob, known: KnownRows) -> PartSummary:
    """Process one partition and write its part, on an engine that may do so again."""
    target = Target(job.target)
    words = "\0".join(item.digest(job.spec.hash) for item in partition.items)
    name = f"{LOSS_MARKER}{hashlib.sha256(words.encode()).hexdigest()[:16]}.json"
    before = target.read(name)
    marker = msgspec.json.decode(before, type=LossMarker) if before is not None else LossMarker()
    if marker.at:
        marker.lost[marker.at] = marker.lost.get(marker.at, 0) + 1
        marker.at = ""
    target.write(name, msgspec.json.encode(marker))
    fatal = {trace: "the processes that analysed it died" for trace, lost in marker.lost.items() if lost >= MAX_LOST}
    watch = _MarkingWatch(known, target, name, marker) if before is not None else KnownWatch(known, job.target)
    summary = process_and_write(msgspec.structs.replace(partition, fatal={**partition.fatal, **fatal}), job, watch)
    target.remove(name)
    return summary


class _MarkingWatch(KnownWatch):
    def __init__(self, known: KnownRows, target: Target, name: str, marker: LossMarker) -> None:
        super().__init__(known, target.uri)
        self._target, self._name, self._marker = target, name, marker

    def begin(self, trace: str) -> None:
        self._marker.at = trace
        self._target.write(self._name, msgspec.json.encode(self._marker))
