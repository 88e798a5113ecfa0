"""Ray Data: actors of a cluster (`RAY_ADDRESS`), or of this machine if there is none.

Each actor processes partitions and writes their parts itself; only summaries come back. A partition of an actor or a
node that was lost is issued again, as often as it takes (`attempts`), and overwrites its own part: no row is there
twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from dense.batch.engines.engine import BatchJob
from dense.batch.engines.repeats import process_repeatable
from dense.batch.known import KnownRows
from dense.batch.libraries import ray
from dense.batch.partition import Partition
from dense.batch.store import PartSummary

WAVE = 2_000
"""So many partitions are handed to Ray at once: the driver never holds all of them."""
LOCAL_CPUS = 5
"""Logical CPUs of a cluster that is started here: besides the actors, Ray needs one to move blocks."""
FIELD = "partition"


class PartitionWorker:
    """What an actor holds: the job, and what earlier runs made."""

    def __init__(self, job: bytes, known: Any) -> None:
        self._job = msgspec.msgpack.decode(job, type=BatchJob)
        self._known = KnownRows.unpacked(ray().get(known))

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[bytes]]:
        """Process the partitions of a batch of rows; gives their summaries."""
        summaries: list[bytes] = []
        for data in batch[FIELD]:
            partition = msgspec.msgpack.decode(bytes(data), type=Partition)
            summaries.append(msgspec.msgpack.encode(process_repeatable(partition, self._job, self._known)))
        return {"summary": summaries}


class RayEngine:
    """Actors of Ray Data."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    def map(
        self, partitions: Iterable[Partition], job: BatchJob, known: KnownRows, is_stopped: Callable[[], bool]
    ) -> Iterator[PartSummary]:
        """See `Engine`. Once stopped, the partitions under way are finished."""
        library = ray()
        is_own = not library.is_initialized()
        if is_own:
            where = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": max(LOCAL_CPUS, (self.workers or 0) + 1)}
            library.init(log_to_driver=False, include_dashboard=False, **where)
        try:
            library.data.DataContext.get_current().enable_progress_bars = False
            rows = library.put(known.packed())
            waiting = iter(partitions)
            while not is_stopped() and (wave := list(islice(waiting, WAVE))):
                yield from self._wave(library, wave, job, rows, is_stopped)
        finally:
            if is_own:
                library.shutdown()

    def _wave(
        self, library: Any, wave: list[Partition], job: BatchJob, known: Any, is_stopped: Callable[[], bool]
    ) -> Iterator[PartSummary]:
        cpus = int(library.cluster_resources().get("CPU", 1))
        actors = min(self.workers or cpus, max(1, cpus - 1), len(wave))
        rows = [{FIELD: msgspec.msgpack.encode(partition)} for partition in wave]
        done = library.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            PartitionWorker,
            fn_constructor_args=(msgspec.msgpack.encode(job), known),
            batch_size=1,
            batch_format="numpy",
            compute=library.data.ActorPoolStrategy(size=actors),
            num_cpus=1,
        )
        for row in done.iter_rows():
            yield msgspec.msgpack.decode(bytes(row["summary"]), type=PartSummary)
            if is_stopped():
                return
