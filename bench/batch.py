"""Batches: speed on two cores, memory, what a second run costs, Ray, shards, S3, bad rows.

    python bench/batch.py [--traces 20000] [--only scaling memory incremental engines s3 poison] [--corpus PATH]

The traces are those of the corpus, copied with changed ids until there are enough; without the corpus, the bundled
examples. `engines` and `s3` need what `make test-batch` installs. Times are wall times: run it on a machine that has
nothing else to do. Ends with an error if a limit is missed."""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count, cycle
from pathlib import Path
from typing import Any

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]

from dense.batch.engines.engine import Engine
from dense.batch.engines.local import LocalEngine
from dense.batch.engines.ray import RayEngine
from dense.batch.queries.summary import summary
from dense.batch.queries.table import BatchTable
from dense.batch.run import BatchProgress, BatchRequest, run_batch
from dense.batch.spec import BatchSpec
from dense.batch.store import Target
from dense.readers import Stream, files_of, read_file
from dense.readers.files import TraceFile

ROOT = Path(__file__).resolve().parents[1]
MIN_SPEEDUP, MAX_WORKER_MB, MAX_GROWTH, MAX_SECOND = 1.7, 600, 1.15, 0.05
"""Two processes against one; memory of a worker; its growth after 1,000 traces; a second run against the first."""
NEW_SHARE = 0.01
COPIED = 20
"""So many files are at a second place, to compare engines."""
SMALL = 600
"""So many traces are enough where no speed is measured."""
POISON_BYTES = 2_000_000_000
missed: list[str] = []


def report(what: str, value: str, limit: str, is_met: bool) -> None:
    print(f"{what:<58} {value:>24}   {limit:<22} {'' if is_met else 'MISSED'}", flush=True)
    if not is_met:
        missed.append(what)


class TraceMaker:
    """Copies of real traces, each with ids of its own."""

    def __init__(self, corpus: Path) -> None:
        self._files: list[tuple[Path, bytes, list[bytes], int]] = []
        for file in files_of(corpus):
            if isinstance(file, TraceFile) and file.shape in ("lines", "document"):
                streams = [one for one in read_file(file) if isinstance(one, Stream) and any(True for _ in one.steps)]
                data = file.path.read_bytes()
                ids = [one.id.encode() for one in streams if len(one.id) > 7 and one.id.encode() in data]
                if streams and data[:2] != b"\x1f\x8b":
                    self._files.append((file.path, data, ids, len(streams)))
        self._numbers = count()

    def write(self, folder: Path, traces: int) -> int:
        """Write files until they hold so many traces; gives how many they hold."""
        made = 0
        for path, data, ids, held in cycle(self._files):
            if made >= traces:
                return made
            number = next(self._numbers)
            for one in ids:
                data = data.replace(one, one + b"-%d" % number)
            if not ids:
                data = data.replace(b"{", b'{"copy": %d, ' % number, 1)
            place = folder / f"{number // 1000:04}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number:06}-{path.name[-80:]}").write_bytes(data)
            made += held
        return made


def ran(source: Path | str, target: Path | str, engine: Engine, **options: Any) -> BatchProgress:
    return run_batch(BatchRequest((str(source),), str(target), BatchSpec(), **options), engine)


def table(target: Path | str) -> list[dict[str, Any]]:
    """All rows of a target, sorted."""
    place, rows = Target(str(target)), list[dict[str, Any]]()
    system = fsspec.core.url_to_fs(str(target))[0]
    for part in place.parts():
        with system.open(part, "rb") as stream:
            rows += pyarrow.parquet.ParquetFile(stream).read().drop_columns(["written"]).to_pylist()
    return sorted(rows, key=lambda row: (row["key"], row["source"], row["part"]))


class WorkerMemory(threading.Thread):
    """The most memory that a process below this one held, sampled, before and after a number of rows."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.rows, self.early, self.late, self._is_over = 0, 0, 0, False

    def run(self) -> None:
        while not self._is_over:
            most = max((_resident(pid) for pid in descendants(os.getpid())), default=0)
            if self.rows <= 1_000:
                self.early = max(self.early, most)
            else:
                self.late = max(self.late, most)
            time.sleep(0.5)

    def stop(self) -> None:
        self._is_over = True
        self.join()


def _resident(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), 0)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, new = list[int](), {pid}
    while new := {child for child, parent in parents.items() if parent in new}:
        found += new
    return found


def scaling(maker: TraceMaker, folder: Path, traces: int, only: set[str]) -> None:
    """Speed on one core and on two, memory on the way, and a second run."""
    source = folder / "in"
    made = maker.write(source, traces)
    size = sum(path.stat().st_size for path in source.rglob("*.*"))
    print(f"{made:,} traces, {size / 1e6:,.0f} MB")
    memory = WorkerMemory()
    memory.start()
    start, busy = time.monotonic(), time.process_time()
    request = BatchRequest((str(source),), str(folder / "two"), BatchSpec())

    def watch(progress: BatchProgress) -> None:
        memory.rows = progress.rows

    first = run_batch(request, LocalEngine(2), watch=watch)
    two = time.monotonic() - start
    memory.stop()
    report("two processes", f"{first.rows / two:.1f} traces/s", "", True)
    parent = (time.process_time() - busy) / two
    report("CPU time of their parent, of the run", f"{parent:.1%}", "", True)
    if "memory" in only:
        peak = max(memory.early, memory.late) / 1e6
        report("memory of a worker, most", f"{peak:.0f} MB", f"below {MAX_WORKER_MB} MB", peak < MAX_WORKER_MB)
        growth = memory.late / max(memory.early, 1)
        shown = f"{memory.early / 1e6:.0f} to {memory.late / 1e6:.0f} MB"
        report("memory up to 1,000 traces, and after", shown, f"at most × {MAX_GROWTH}", growth <= MAX_GROWTH)
    if "incremental" in only:
        added = maker.write(folder / "in" / "new", max(1, int(traces * NEW_SHARE)))
        start = time.monotonic()
        second = ran(source, folder / "two", LocalEngine(2))
        share = (time.monotonic() - start) / two
        report(
            f"second run with {added} new traces, of the first",
            f"{share:.1%}",
            f"at most {MAX_SECOND:.0%}",
            share <= MAX_SECOND,
        )
        report("its new rows", str(second.rows), f"{added}", second.rows == added)
    if "scaling" in only:
        start = time.monotonic()
        done = ran(source, folder / "one", LocalEngine(1))
        one = time.monotonic() - start
        report("one process", f"{done.rows / one:.1f} traces/s", "", True)
        ratio = (one / done.rows) / (two / first.rows)
        report("one process, against two", f"{ratio:.2f} times", f"at least {MIN_SPEEDUP}", ratio >= MIN_SPEEDUP)


def engines(maker: TraceMaker, folder: Path) -> None:
    """Local, four shards and Ray on two nodes, with a worker killed: equal tables. Some traces are at two places."""
    import ray  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    from ray.cluster_utils import Cluster  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    source = folder / "in"
    made = maker.write(source, SMALL)
    shutil.copytree(next(source.iterdir()), folder / "some", ignore=lambda _, names: sorted(names)[COPIED:])
    (folder / "some").rename(source / "copies")
    ran(source, folder / "local", LocalEngine(2))
    expected = table(folder / "local")
    for shard in range(4):
        ran(source, folder / "shards", LocalEngine(2), shard=shard, shards=4)
    report(
        "rows of four shards, as those of one run", f"{len(expected):,}", "equal", table(folder / "shards") == expected
    )
    os.environ["RAY_AUTH_MODE"] = "disabled"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 3})
    cluster.add_node(num_cpus=2)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        killer = threading.Thread(target=_kill_one_worker, args=(folder / "ray",), daemon=True)
        killer.start()
        ran(source, folder / "ray", RayEngine())
        killer.join()
    finally:
        ray.shutdown()
        cluster.shutdown()
    rows = table(folder / "ray")
    report("workers of Ray that were killed", str(len(killed)), "at least 1", bool(killed))
    what = f"rows of Ray, 5 CPUs on 2 nodes, as those of {made} here"
    report(f"{what} and their copies", f"{len(rows):,}", "equal", rows == expected)
    twice = len(rows) - len({(row["key"], row["source"], row["part"]) for row in rows})
    report("rows of one place that are there twice", str(twice), "0", not twice)
    copies = len(rows) - len({row["key"] for row in rows})
    report("rows of a second place of a trace", str(copies), "at least 1", copies > 0)


killed: list[int] = []


def _kill_one_worker(target: Path) -> None:
    """SIGKILL to an actor of the batch, once the first part is written and others are under way."""
    end = time.monotonic() + 300
    while time.monotonic() < end and not killed:
        if any(target.glob("part-*.parquet")):
            for pid in descendants(os.getpid()):
                try:
                    name = Path(f"/proc/{pid}/cmdline").read_bytes()
                except OSError:
                    continue
                if name.startswith(b"ray::MapWorker") or b"PartitionWorker" in name:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    return
        time.sleep(0.05)


@contextmanager
def s3_server() -> Generator[None]:
    """An S3 server on loopback, and the settings by which clients find it."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - only here  # pyright: ignore[reportMissingImports]

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
    }
    os.environ.update(settings, AWS_DEFAULT_REGION="us-east-1")
    try:
        yield
    finally:
        server.stop()


def s3(maker: TraceMaker, folder: Path) -> None:
    """A bucket as source and as target."""
    source = folder / "in"
    maker.write(source, SMALL // 4)
    with s3_server():  # before any worker is started: workers have the settings of that moment
        ran(source, folder / "local", LocalEngine(2))
        system = fsspec.filesystem("s3")
        system.mkdir("traces")
        system.mkdir("tables")
        system.put(f"{source}/", "traces/in/", recursive=True)
        done = ran("s3://traces/in", "s3://tables/one", LocalEngine(2))
        again = ran("s3://traces/in", "s3://tables/one", LocalEngine(2))
        rows, expected = table("s3://tables/one"), table(folder / "local")
        same = sorted(row["message"] for row in rows) == sorted(row["message"] for row in expected)
        report(
            "rows from s3:// to s3://, messages as from a folder", f"{done.rows:,}", "equal", same and done.failed == 0
        )
        report("rows of a second run over s3://", str(again.rows), "0", again.rows == 0)
        states = next(one for one in summary(BatchTable("s3://tables/one")) if one.name == "states")
        total = sum(row[1] for row in states.rows)
        report("traces in the summary over s3://", f"{total:,}", f"{len(rows):,}", total == len(rows))


def poison(_: TraceMaker, folder: Path) -> None:
    """A line of 2 GB, invalid UTF-8 and 200,000 levels among good rows, in one file of lines."""
    trace = json.dumps({"messages": [{"role": "user", "content": "Say hi."}, {"role": "assistant", "content": "hi"}]})
    good = [trace.replace("hi.", f"hi to {number}.").encode() for number in range(200)]
    file = folder / "rows.jsonl"
    with file.open("wb") as stream:
        stream.write(b"\n".join(good[:100]) + b'\n{"messages": "')
        for _block in range(POISON_BYTES // 1_000_000):
            stream.write(b"x" * 1_000_000)
        stream.write(b'"}\n' + good[0].replace(b"hi to", b"\xff\xfe to") + b"\n")
        stream.write(b'{"messages": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n" + b"\n".join(good[100:]) + b"\n")
    memory = WorkerMemory()
    memory.start()
    done = ran(file, folder / "out", LocalEngine(2))
    memory.stop()
    rows = table(folder / "out")
    report("rows of a file with 3 bad ones", f"{len(rows)}", "203", len(rows) == 203)
    report("rows without feedback: 2 GB, 200,000 levels", f"{done.failed}", "2", done.failed == 2)
    peak = max(memory.early, memory.late) / 1e6
    report("memory of a worker, most", f"{peak:.0f} MB", f"below {MAX_WORKER_MB} MB", peak < MAX_WORKER_MB)


def main() -> None:
    parts = ("scaling", "memory", "incremental", "engines", "s3", "poison")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    corpus = ROOT.parent / "shared" / "corpus"
    parser.add_argument("--corpus", type=Path, default=corpus if corpus.is_dir() else ROOT / "examples")
    options = parser.parse_args()
    only, maker = set(options.only), TraceMaker(options.corpus)
    single: dict[str, Callable[[TraceMaker, Path], None]] = {"s3": s3, "engines": engines, "poison": poison}
    with tempfile.TemporaryDirectory(prefix="dense-bench-") as temporary:
        for name, run in single.items():
            if name in only:
                (folder := Path(temporary) / name).mkdir()
                run(maker, folder)
        if only & {"scaling", "memory", "incremental"}:
            (folder := Path(temporary) / "scaling").mkdir()
            scaling(maker, folder, options.traces, only)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
