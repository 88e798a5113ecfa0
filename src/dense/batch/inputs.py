"""Opens work items: from an item to its traces, one at a time, each with the hash of its bytes.

A remote input is copied into a temporary folder, which is removed before the next one is opened."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from dense.batch.row_files import RawRow, has_rows, line_rows, parquet_rows
from dense.batch.sources import WorkItem, file_system, is_local
from dense.batch.spec import BatchSpec
from dense.readers import UnreadFile, files_of, read_file
from dense.readers.files import EventFolder, TraceFile
from dense.readers.folders import record_folders
from dense.trajectory import Trajectory

ROW_FILE = "row.json"


class RawTrace(NamedTuple):
    """A trace before it is read."""

    source: str
    """The URI of its file or folder."""
    part: str
    """Its place in it; empty if it is the whole."""
    content: str
    """The hash of its bytes."""
    size: int
    read: Callable[[], Iterator[Trajectory | UnreadFile]]
    """Reads it: its trajectories, or why there is none."""
    problem: str = ""
    """Why it cannot be read at all."""


def open_item(item: WorkItem, spec: BatchSpec, max_bytes: int) -> Iterator[RawTrace]:
    """The traces of an item. A problem of the whole item is raised as an `OSError`."""
    system, path = file_system(item.uri)
    with tempfile.TemporaryDirectory(prefix="dense-batch-") as temporary:
        folder = Path(temporary)
        if item.kind in ("lines", "row-group"):
            with Path(path).open("rb") if is_local(system) else system.open(path, "rb") as stream:
                rows = (
                    line_rows(stream, max_bytes, item.start, item.end)
                    if item.kind == "lines"
                    else parquet_rows(stream, max_bytes, item.start, spec.column)
                )
                yield from _rows(rows, item.uri, folder, spec)
        elif is_local(system):
            yield from _local(Path(path), item, folder, spec, max_bytes)
        elif item.size > max_bytes:
            yield _too_large(item.uri, item.size, max_bytes)
        else:
            copy = folder / "input" / path.rstrip("/").rpartition("/")[2]
            copy.parent.mkdir()
            system.get(path, str(copy), recursive=item.kind == "folder")
            if item.kind == "folder":
                yield from _copied_folder(copy, item, folder, spec, max_bytes)
            else:
                yield from _file(TraceFile(copy, item.uri), item.uri, folder, spec, max_bytes)


def _local(path: Path, item: WorkItem, folder: Path, spec: BatchSpec, max_bytes: int) -> Iterator[RawTrace]:
    if item.kind == "events":
        load = getattr(record_folders, item.loader) if item.loader else None
        if item.size > max_bytes:
            yield _too_large(item.uri, item.size, max_bytes)
        else:
            yield _whole(EventFolder(path, item.uri, load=load), item.uri, spec)
    else:
        yield from _file(TraceFile(path, item.uri), item.uri, folder, spec, max_bytes)


def _copied_folder(copy: Path, item: WorkItem, folder: Path, spec: BatchSpec, max_bytes: int) -> Iterator[RawTrace]:
    """The traces of a remote folder that was copied, under the names that they have there."""
    for file in files_of(copy):
        file.name = f"{item.uri.rstrip('/')}/{file.path.relative_to(copy).as_posix()}".removesuffix("/.")
        if isinstance(file, EventFolder):
            yield _whole(file, file.name, spec)
        else:
            yield from _file(file, file.name, folder, spec, max_bytes)


def _file(file: TraceFile, uri: str, folder: Path, spec: BatchSpec, max_bytes: int) -> Iterator[RawTrace]:
    """The rows of a file that has a trace in each; else the file as it is."""
    shape = file.shape
    if shape == "parquet":
        with file.path.open("rb") as stream:
            yield from _rows(parquet_rows(stream, max_bytes, column=spec.column), uri, folder, spec)
        return
    if shape == "lines":
        with file.open() as stream:
            is_rows = has_rows(stream)
        if is_rows:
            with file.open() as stream:
                yield from _rows(line_rows(stream, max_bytes), uri, folder, spec)
            return
    size = file.path.stat().st_size
    yield _too_large(uri, size, max_bytes) if size > max_bytes else _whole(file, uri, spec)


def _rows(rows: Iterator[RawRow], uri: str, folder: Path, spec: BatchSpec) -> Iterator[RawTrace]:
    for row in rows:
        if row.data is None:
            yield RawTrace(
                source=uri,
                part=row.part,
                content=_hash(f"{uri}\0{row.part}".encode()),
                size=0,
                read=lambda: iter(()),
                problem=row.problem,
            )
        else:
            content = hashlib.sha256(row.data).hexdigest()
            yield RawTrace(
                source=uri,
                part=row.part,
                content=content,
                size=len(row.data),
                read=_RowReader(row, uri, folder / ROW_FILE, spec),
            )


class _RowReader:
    """Reads one row: as it is, or a trace that one of its columns holds as text."""

    def __init__(self, row: RawRow, uri: str, path: Path, spec: BatchSpec) -> None:
        self._row, self._path, self._spec = row, path, spec
        self._name = f"{uri} [{row.part}]"

    def __call__(self) -> Iterator[Trajectory | UnreadFile]:
        problems: list[UnreadFile] = []
        for data in (self._row.data or b"", *self._row.texts):
            self._path.write_bytes(data)
            count = 0
            for reading in _trajectories(TraceFile(self._path, self._name), self._spec):
                if isinstance(reading, Trajectory):
                    count += 1
                    yield reading
                else:
                    problems.append(reading)
            if count:
                return
        yield from problems[:1]


def _whole(file: TraceFile | EventFolder, uri: str, spec: BatchSpec) -> RawTrace:
    size, content = _content(file)
    return RawTrace(source=uri, part="", content=content, size=size, read=lambda: _trajectories(file, spec))


def _trajectories(file: TraceFile | EventFolder, spec: BatchSpec) -> Iterator[Trajectory | UnreadFile]:
    for stream in read_file(file, format=spec.format or None):
        yield stream if isinstance(stream, UnreadFile) else stream.collect()


def _content(file: TraceFile | EventFolder) -> tuple[int, str]:
    """The size and the hash of all bytes of a trace, its sub-agents included."""
    digest, size = hashlib.sha256(), 0
    beside = file.path if file.path.is_dir() else file.path.with_suffix("")
    paths = [] if file.path.is_dir() else [file.path]
    if beside.is_dir():
        paths += sorted(Path(base, name) for base, _, names in os.walk(beside) for name in names)
    for path in paths:
        with path.open("rb", buffering=0) as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
                size += len(chunk)
    return size, digest.hexdigest()


def _too_large(uri: str, size: int, max_bytes: int) -> RawTrace:
    problem = f"{size:,} bytes are more than {max_bytes >> 20:,} MiB, the limit for one trace (--max-trace-mb)"
    return RawTrace(
        source=uri, part="", content=_hash(f"{uri}\0{size}".encode()), size=size, read=lambda: iter(()), problem=problem
    )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
