"""Processes of this machine. A process that dies costs the trace that it was reading, not the run.

Each worker gets one partition at a time and says which trace it begins. If it dies or takes too long, its partition
is given to a new process, in which that trace gets a row with an error. A worker is replaced after so many partitions,
or if its memory has grown: memory stays flat however long a run is. A worker whose parent is gone ends at once."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import msgspec

from dense.batch.engines.engine import BatchJob, KnownWatch, process_and_write
from dense.batch.known import KnownRows, shared_file
from dense.batch.partition import Partition
from dense.batch.store import PartSummary
from dense.errors import DenseError, describe_exception
from dense.text.terminal import guard_terminal

PARTITIONS_PER_WORKER = 24
MAX_RSS_BYTES = 400_000_000
"""A worker above this is replaced after its partition."""
MAX_DEATHS = 50
"""So many processes may die on one partition: each costs a trace."""
POLL_SECONDS = 0.5


class LocalEngine:
    """Workers on this machine, one for each core if nothing else is asked."""

    def __init__(self, workers: int | None = None) -> None:
        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        self.workers = workers or cores

    def map(
        self, partitions: Iterable[Partition], job: BatchJob, known: KnownRows, is_stopped: Callable[[], bool]
    ) -> Iterator[PartSummary]:
        """See `Engine`."""
        file, path = shared_file(known)
        # With a model, one process keeps the spending limit exactly; its calls overlap within it.
        pool = _Pool(1 if job.spec.model else self.workers, job, path)
        try:
            yield from pool.run(iter(partitions), is_stopped)
        finally:
            pool.close()
            file.close()


class _Pool:
    def __init__(self, size: int, job: BatchJob, known: Path) -> None:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            self._context.set_forkserver_preload(["dense.batch.engines.local"])
        self._stopping = self._context.Event()
        self._size, self._job, self._known = size, job, known
        self._workers: list[_Worker] = []
        self._spent = 0.0
        self._failed = ""

    def run(self, partitions: Iterator[Partition], is_stopped: Callable[[], bool]) -> Iterator[PartSummary]:
        again: list[Partition] = []
        while True:
            if is_stopped() or self._failed:
                self._stopping.set()
                again.clear()
            while not self._stopping.is_set() and len(self._busy) < self._size:
                partition = again.pop() if again else next(partitions, None)
                if partition is None:
                    break
                self._free().give(partition, self._spent)
            if not self._busy:
                break
            yield from self._collect(again)
        if self._failed:
            raise DenseError(self._failed)

    @property
    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.partition is not None]

    def _free(self) -> _Worker:
        worker = next((worker for worker in self._workers if worker.partition is None), None)
        if worker is None:
            worker = _Worker(self._context, self._job, self._known, self._stopping)
            self._workers.append(worker)
        return worker

    def _collect(self, again: list[Partition]) -> Iterator[PartSummary]:
        """What the workers say; those that died or take too long are ended, and their work is to be done again."""
        busy = self._busy
        wait([worker.connection for worker in busy], POLL_SECONDS)
        for worker in busy:
            try:
                while worker.partition is not None and worker.connection.poll():
                    yield from self._heard(worker, worker.connection.recv())
            except (EOFError, OSError):
                self._died(worker, again, worker.describe_end())
                continue
            is_late = time.monotonic() - worker.since > self._job.limits.seconds and not self._job.spec.model
            if worker.partition is not None and is_late:
                worker.kill()
                self._died(worker, again, f"took longer than {self._job.limits.seconds:.0f} s (--timeout)")

    def _heard(self, worker: _Worker, said: tuple[str, Any]) -> Iterator[PartSummary]:
        kind, value = said
        if kind == "begin":
            worker.at, worker.since = value, time.monotonic()
        elif kind == "failed":
            self._failed = value
            worker.partition = None
        else:
            summary, memory = value
            worker.partition = None
            worker.count += 1
            self._spent += summary.usd
            if worker.count >= PARTITIONS_PER_WORKER or memory > MAX_RSS_BYTES:
                self._workers.remove(worker)
                worker.close()
            yield summary

    def _died(self, worker: _Worker, again: list[Partition], how: str) -> None:
        self._workers.remove(worker)
        partition = worker.partition
        worker.close()
        if partition is None or self._stopping.is_set():
            return
        if not worker.at or len(partition.fatal) >= MAX_DEATHS:
            self._failed = f"worker processes keep dying ({how}); is there enough memory? Fewer --workers need less"
            return
        problem = f"the process that analysed it {how}"
        again.append(msgspec.structs.replace(partition, fatal={**partition.fatal, worker.at: problem}))

    def close(self) -> None:
        self._stopping.set()
        for worker in self._workers:
            if worker.partition is not None:
                worker.kill()
            worker.close()


class _Worker:
    """A process, as its parent sees it."""

    def __init__(self, context: Any, job: BatchJob, known: Path, stopping: Any) -> None:
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, job, str(known), stopping), daemon=True)
        self.process.start()
        theirs.close()
        self.partition: Partition | None = None
        self.at, self.since, self.count = "", time.monotonic(), 0

    def give(self, partition: Partition, spent: float) -> None:
        self.partition, self.at, self.since = partition, "", time.monotonic()
        with suppress(OSError):  # that it died is noticed when it is listened to
            self.connection.send((partition, spent))

    def describe_end(self) -> str:
        self.process.join(5)
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with code {code}"

    def kill(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.join(5)

    def close(self) -> None:
        self.connection.close()  # an idle worker ends when nobody can give it anything
        self.process.join(5)
        if self.process.is_alive():
            self.kill()


class _PipeWatch(KnownWatch):
    """Says which trace begins, and stops when all stop."""

    def __init__(self, known: KnownRows, target: str, connection: Connection, stopping: Any) -> None:
        super().__init__(known, target)
        self._connection, self._stopping = connection, stopping

    def begin(self, trace: str) -> None:
        self._connection.send(("begin", trace))

    def is_stopped(self) -> bool:
        return self._stopping.is_set()


def _work(connection: Connection, job: BatchJob, known: str, stopping: Any) -> None:
    """The life of a worker: partitions in, summaries out, until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and stops all workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    guard_terminal()  # a library's warning may quote a trace
    threading.Thread(target=_end_with_parent, daemon=True).start()
    watch = _PipeWatch(KnownRows.at(Path(known)), job.target, connection, stopping)
    with suppress(EOFError, OSError):
        while True:
            partition, spent = connection.recv()
            now = msgspec.structs.replace(job, limits=msgspec.structs.replace(job.limits, spent=spent))
            try:
                summary = process_and_write(partition, now, watch)
            except Exception as error:  # the target cannot be written, the model cannot be used
                text = str(error) if isinstance(error, DenseError) else describe_exception(error, "")
                connection.send(("failed", text))
                continue
            connection.send(("done", (summary, _memory())))


def _end_with_parent() -> None:
    """Wait until the parent is gone, then end this process wherever it is: parts are whole or not there."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _memory() -> int:
    """The memory that this process holds now, in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return pages * os.sysconf("SC_PAGE_SIZE")
