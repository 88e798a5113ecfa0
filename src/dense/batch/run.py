"""One run of a batch: which inputs are new, who processes them, what came of it.

    list (in a thread, into a temporary file) → leave out what is known → engine.map → parts

Inputs are listed once, while the first ones are being processed; the list is on disk, not in memory."""

from __future__ import annotations

import pickle
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from tempfile import TemporaryFile
from typing import IO

import msgspec
from msgspec import Struct, field

from dense.batch.engines.engine import BatchJob, Engine
from dense.batch.known import KnownKeys
from dense.batch.partition import Partition
from dense.batch.queries.table import BatchTable
from dense.batch.sources import WorkItem, in_shard, items, partitions, shares
from dense.batch.spec import BatchSpec, WorkLimits
from dense.batch.store import ERRORS, Target
from dense.errors import DenseError, describe_exception
from dense.readers import Skipped

LENGTH = struct.Struct("<Q")
LAST_PARTITIONS = 4
"""So many partitions for each worker are cut anew when the listing has ended, so that all workers end together."""


class BatchProgress(Struct):
    """How far a run is."""

    rows: int = 0
    """Rows that this run wrote."""
    failed: int = 0
    """Those of them with an error."""
    known: int = 0
    """Traces of which an earlier run had made the row, known by their content."""
    copied: int = 0
    """Rows of this run that are copies, because an earlier run had made the row of the same trace elsewhere."""
    skipped: int = 0
    """Inputs that have not changed since an earlier run."""
    ignored: Counter[str] = field(default_factory=Counter[str])
    """Files that are no traces, by how their names end."""
    passed: Skipped = field(default_factory=Skipped)
    """What the walk of local folders passed over."""
    done: int = 0
    """Inputs of which nothing is left to do."""
    listed: int = 0
    """New inputs that were found so far."""
    is_listed: bool = False
    """Whether all inputs were found."""
    errors: int = 0
    """Traces of the table that have no feedback, of all runs: lines of `_errors.jsonl`."""
    traces: int = 0
    """Traces of the table, of all runs."""
    stop: str = ""
    """Why the run ended early; empty if it did not."""
    usd: float = 0.0
    seconds: float = 0.0


class BatchRequest(Struct, frozen=True):
    """What is to be done."""

    sources: tuple[str, ...]
    target: str
    spec: BatchSpec
    limits: WorkLimits = WorkLimits()
    shard: int = 0
    shards: int = 1
    replaces: bool = False
    """Whether rows of another spec in the target are to be replaced."""
    retry_errors: bool = False
    """Whether traces that failed before are tried again."""


def run_batch(
    request: BatchRequest,
    engine: Engine,
    *,
    watch: Callable[[BatchProgress], None] = lambda _: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> BatchProgress:
    """Process what is new. `watch` sees the progress after each part; `is_stopped` ends the run cleanly."""
    start = time.monotonic()
    target, spec = Target(request.target), request.spec.hash
    target.open_for(request.spec, replaces=request.replaces)
    inputs, known = target.known(spec, retry_errors=request.retry_errors)
    progress = BatchProgress()
    job = BatchJob(request.spec, request.limits, request.target, str(request.shard))
    with TemporaryFile(prefix="dense-batch-") as spool:
        listing = _Listing(request, inputs, spec, progress, spool)

        def is_over() -> bool:
            return bool(progress.stop) or is_stopped()

        listing.start()
        try:
            for part in engine.map(listing.partitions(is_over, engine.workers), job, known, is_over):
                progress.rows += part.rows
                progress.failed += part.failed
                progress.known += part.known
                progress.copied += part.copied
                progress.ignored.update(part.ignored)
                progress.done += part.done
                progress.usd += part.usd
                progress.stop = progress.stop or part.stop
                progress.seconds = time.monotonic() - start
                watch(progress)
        finally:
            listing.stop()
    if listing.error is not None:
        raise listing.error
    if target.parts():
        target.write_spec(request.spec)
        progress.traces, progress.errors = _write_errors(target)
    progress.seconds = time.monotonic() - start
    return progress


def _write_errors(target: Target) -> tuple[int, int]:
    """Write `_errors.jsonl` anew; gives the number of traces, and of those without feedback."""
    columns = ("key", "source", "part", "error")
    with closing(BatchTable(target.uri)) as table:
        ((traces,),) = table.ask("SELECT count(*) FROM traces")
        rows = table.ask(f"SELECT {', '.join(columns)} FROM traces WHERE error <> '' ORDER BY key")
    target.write(ERRORS, b"".join(msgspec.json.encode(dict(zip(columns, row, strict=True))) + b"\n" for row in rows))
    return traces, len(rows)


class _Listing(threading.Thread):
    """Lists inputs into a file, and reads partitions from it: neither waits for the other, and memory stays flat."""

    def __init__(
        self, request: BatchRequest, known: KnownKeys, spec: str, progress: BatchProgress, spool: IO[bytes]
    ) -> None:
        super().__init__(daemon=True)
        self.error: DenseError | None = None
        """Raised again by whoever waits for the listing."""
        self._request, self._known, self._spec, self._progress = request, known, spec, progress
        self._target, self._spool, self._place = Target(request.target), spool, 0
        self._end, self._left, self._is_ended, self._is_stopped = 0, 0, False, False
        self._changed = threading.Condition()

    def run(self) -> None:
        try:
            for group in partitions(self._new()):
                self._append(pickle.dumps(group))
                if self._is_stopped:
                    break
        except DenseError as error:
            self.error = error
        except Exception as error:  # each file system has errors of its own
            problem = describe_exception(error, "")
            self.error = DenseError(f"{', '.join(self._request.sources)}: cannot be listed ({problem})")
        with self._changed:
            self._is_ended = self._progress.is_listed = True
            self._changed.notify()

    def stop(self) -> None:
        """End the listing, wherever it is."""
        self._is_stopped = True
        self.join()

    def partitions(self, is_over: Callable[[], bool], workers: int | None) -> Iterator[Partition]:
        """The partitions, as soon as each is known; the last ones, for so many workers, cut anew."""
        last: list[WorkItem] = []
        while not is_over():
            with self._changed:
                if not self._left and self._is_ended:
                    return
                if self._left < 2 and not self._is_ended:  # the next one may be the last
                    self._changed.wait(0.1)
                    continue
                if not self._is_ended or self._left > LAST_PARTITIONS * (workers or 0):
                    group = self._next()
                else:
                    while self._left:
                        last += self._next()
                    break
            yield Partition(group)
        for share in shares(last, workers or 1):
            if is_over():
                return
            yield Partition(share)

    def _new(self) -> Iterator[WorkItem]:
        """The inputs of this shard that no earlier run has finished."""
        request, progress = self._request, self._progress
        for item in in_shard(items(request.sources, progress.passed), request.shard, request.shards):
            if self._is_stopped:
                return
            if self._target.owns(item.uri):
                continue
            if item.digest(self._spec) in self._known:
                progress.skipped += 1
            else:
                progress.listed += 1
                yield item

    def _append(self, data: bytes) -> None:
        with self._changed:
            self._spool.seek(self._end)
            self._spool.write(LENGTH.pack(len(data)) + data)
            self._end += LENGTH.size + len(data)
            self._left += 1
            self._changed.notify()

    def _next(self) -> tuple[WorkItem, ...]:
        self._spool.seek(self._place)
        (length,) = LENGTH.unpack(self._spool.read(LENGTH.size))
        self._place += LENGTH.size + length
        self._left -= 1
        return pickle.loads(self._spool.read(length))
