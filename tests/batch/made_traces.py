"""Small constructed traces, and a batch in one process, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from dense.batch.engines.engine import BatchJob, KnownWatch, process_and_write
from dense.batch.known import KnownRows
from dense.batch.partition import Partition
from dense.batch.run import BatchProgress, BatchRequest, run_batch
from dense.batch.spec import BatchSpec, WorkLimits
from dense.batch.store import PartSummary, Target


def made_trace(
    task: str = "Count the words of notes.txt.", *steps: tuple[str, str], last: str = "Done."
) -> dict[str, Any]:
    """Chat messages with a tool call for each command, and what it printed."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for number, (command, output) in enumerate(steps or (("wc -w notes.txt", "42 notes.txt"),)):
        call = {"name": "bash", "arguments": json.dumps({"command": command})}
        calls = [{"id": f"c{number}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    messages.append({"role": "assistant", "content": last})
    return {"messages": messages}


def write_traces(folder: Path, count: int, start: int = 0) -> None:
    """A file for each trace."""
    folder.mkdir(exist_ok=True)
    for number in range(start, start + count):
        trace = made_trace(f"Count the words of notes-{number}.txt.")
        (folder / f"trace-{number:04}.json").write_text(json.dumps(trace))


class InlineEngine:
    """Processes partitions in this process, one after the other."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers
        self.partitions: list[Partition] = []

    def map(
        self, partitions: Iterable[Partition], job: BatchJob, known: KnownRows, is_stopped: Callable[[], bool]
    ) -> Iterator[PartSummary]:
        for partition in partitions:
            self.partitions.append(partition)
            yield process_and_write(partition, job, KnownWatch(known, job.target))


def ran_batch(target: Path | str, *sources: Path | str, **options: Any) -> BatchProgress:
    """A run in this process with the built-in rules."""
    spec = options.pop("spec", BatchSpec())
    limits = options.pop("limits", WorkLimits())
    request = BatchRequest(tuple(map(str, sources)), str(target), spec, limits, **options)
    return run_batch(request, InlineEngine())


def rows(target: Path | str) -> list[dict[str, Any]]:
    """All rows of a target, sorted, without the time at which they were written."""
    import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]

    system = Target(str(target))._system
    found: list[dict[str, Any]] = []
    for part in Target(str(target)).parts():
        with system.open(part, "rb") as stream:
            found += pyarrow.parquet.ParquetFile(stream).read().drop_columns(["written"]).to_pylist()
    return sorted(found, key=lambda row: (row["source"], row["part"], row["key"]))
