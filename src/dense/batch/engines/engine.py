"""The seam of engines: `map` processes partitions somewhere and gives a summary of each part that was written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from dense.batch.known import KnownRows
from dense.batch.partition import Partition, Watch, process_partition
from dense.batch.rows import BatchRow
from dense.batch.spec import BatchSpec, WorkLimits
from dense.batch.store import PartSummary, Target

PARTS_HELD = 32
"""So many parts of earlier runs are kept in memory to copy rows from, about a megabyte each."""


class BatchJob(Struct, frozen=True):
    """What every worker of a run knows."""

    spec: BatchSpec
    limits: WorkLimits
    target: str
    """The URI of the target."""
    shard: str = "0"
    """The number of the shard, for the names of parts."""


class Engine(Protocol):
    """Where partitions are processed."""

    @property
    def workers(self) -> int | None:
        """How many partitions are processed at once; None if it is not known."""
        ...

    def map(
        self, partitions: Iterable[Partition], job: BatchJob, known: KnownRows, is_stopped: Callable[[], bool]
    ) -> Iterator[PartSummary]:
        """Process all partitions, in any order. If `is_stopped` becomes true, what is under way is finished or written
        as far as it is, and nothing new begins."""
        ...


class KnownWatch(Watch):
    """Follows what earlier runs made."""

    def __init__(self, known: KnownRows, target: str) -> None:
        self._known = known
        self._rows_of = lru_cache(PARTS_HELD)(Target(target).rows_of)

    def is_placed(self, key: str, source: str, part: str) -> bool:
        """See `Watch`."""
        return self._known.is_placed(key, source, part)

    def earlier(self, key: str) -> BatchRow | None:
        """See `Watch`."""
        part = self._known.part_of(key)
        return None if part is None else self._rows_of(part)(key)


def process_and_write(partition: Partition, job: BatchJob, watch: Watch) -> PartSummary:
    """Process one partition and write its part: what a worker does, wherever it is."""
    result = process_partition(partition, job.spec, job.limits, watch)
    return Target(job.target).write_part(result, job.spec, job.shard)
