"""The seam of engines: `map` processes partitions somewhere and gives a summary of each part that was written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from dense.batch.partition import Partition, Watch, process_partition
from dense.batch.spec import BatchSpec, WorkLimits
from dense.batch.store import KnownKeys, PartSummary, Target


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

    def map(
        self, partitions: Iterable[Partition], job: BatchJob, known: KnownKeys, is_stopped: Callable[[], bool]
    ) -> Iterator[PartSummary]:
        """Process all partitions, in any order. If `is_stopped` becomes true, what is under way is finished or written
        as far as it is, and nothing new begins."""
        ...


class KeyWatch(Watch):
    """Follows the keys that earlier runs made."""

    def __init__(self, keys: KnownKeys) -> None:
        self._keys = keys

    def is_known(self, key: str) -> bool:
        """See `Watch`."""
        return key in self._keys


def process_and_write(partition: Partition, job: BatchJob, watch: Watch) -> PartSummary:
    """Process one partition and write its part: what a worker does, wherever it is."""
    result = process_partition(partition, job.spec, job.limits, watch)
    return Target(job.target).write_part(result, job.spec, job.shard)
