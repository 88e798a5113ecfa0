"""Which inputs there are: from URIs to work items, one at a time. Nothing is opened but what decides how it is split.

A local folder is walked as `dense read` walks it. Of a remote one, each file is an item; files that belong together (a
trial, the events of a conversation, a session and its sub-agents) are one. Large files with a trace in each line or row
are split."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dense.batch.libraries import fsspec, parquet
from dense.batch.row_files import has_rows
from dense.errors import DenseError, NoTrajectory
from dense.readers import Skipped, files_of
from dense.readers.files import PARQUET_MAGIC, EventFolder, TraceFile
from dense.readers.walk import PASSED_OVER

SPLIT_BYTES = 16_000_000
"""A file with a trace in each line is split into ranges of about this size."""
MAX_ITEMS, MAX_PARTITION_BYTES = 128, 32_000_000
"""The most that one partition holds, an item more than that apart."""
MIN_PARTITION_BYTES = 2_000_000
"""What one of the last partitions costs at least."""
ITEM_BYTES = 20_000
"""What an item costs besides its bytes."""
JOINED_FOLDERS = frozenset({"agent", "artifacts", "verifier", "events", "subagents", "session", "episode-0"})
"""A remote folder that holds one of these is read as a whole: its files belong together."""
LOCAL = ("file", "local")


class WorkItem(Struct, frozen=True):
    """One input, small enough to be sent to a worker."""

    uri: str
    """Where it is."""
    kind: Literal["file", "events", "lines", "row-group", "folder"] = "file"
    """A file of any format; a folder that is one trace; a range of a file of lines; a part of a Parquet file; a remote
    folder of files that belong together."""
    size: int = 0
    """In bytes."""
    stamp: str = ""
    """What changes when the input does: its size and time, or the server's tag."""
    start: int = 0
    """The first byte of a range, or the number of a row group."""
    end: int = 0
    """The first byte after a range."""
    loader: str = ""
    """How the records of an event folder are made (`dense.readers.folders.record_folders`)."""
    is_named: bool = False
    """Whether the user named this very file: then it is an error if it is no trace."""

    def digest(self, spec: str) -> str:
        """The hash by which a later run knows that this input was done under this spec."""
        words = (spec, self.uri, self.kind, self.stamp, str(self.start), str(self.end), self.loader)
        return hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def file_system(uri: str) -> tuple[Any, str]:
    """The file system of a URI, and the path in it."""
    try:
        return fsspec().core.url_to_fs(uri)
    except (ImportError, ValueError) as error:
        raise DenseError(f"{uri}: no file system for it ({' '.join(str(error).split())})") from None


def is_local(system: Any) -> bool:
    """Whether paths of a file system are those of this machine."""
    protocol = system.protocol
    return bool(set(LOCAL) & set((protocol,) if isinstance(protocol, str) else protocol))


def items(uris: Iterable[str], passed: Skipped | None = None) -> Iterator[WorkItem]:
    """All inputs, in a fixed order. `passed` counts what the walk of a local folder passes over."""
    for uri in uris:
        system, path = file_system(uri)
        yield from _local(Path(path).resolve(), passed) if is_local(system) else _remote(system, path, uri)


def partitions(items: Iterable[WorkItem]) -> Iterator[tuple[WorkItem, ...]]:
    """The items in groups that are worth a part each."""
    group: list[WorkItem] = []
    size = 0
    for item in items:
        if group and (len(group) >= MAX_ITEMS or size + item.size > MAX_PARTITION_BYTES):
            yield tuple(group)
            group, size = [], 0
        group.append(item)
        size += item.size
    if group:
        yield tuple(group)


def shares(items: Sequence[WorkItem], workers: int) -> Iterator[tuple[WorkItem, ...]]:
    """The last items of a run, the largest first, in groups that become smaller: then all workers end together."""
    left = sorted(items, key=lambda item: (-item.size, item.uri, item.start))
    cost = sum(item.size + ITEM_BYTES for item in left)
    start = 0
    while start < len(left):
        room = max(min(cost // (2 * workers), MAX_PARTITION_BYTES), MIN_PARTITION_BYTES)
        end = start
        while end < len(left) and end - start < MAX_ITEMS and room > 0:
            size = left[end].size + ITEM_BYTES
            room, cost, end = room - size, cost - size, end + 1
        yield tuple(left[start:end])
        start = end


def in_shard(items: Iterable[WorkItem], shard: int, shards: int) -> Iterator[WorkItem]:
    """The items of one shard, by a hash of where they are: what is added later moves nothing to another shard."""
    for item in items:
        words = f"{item.uri}\0{item.start}".encode("utf-8", "surrogateescape")
        if shards == 1 or int.from_bytes(hashlib.sha256(words).digest()[:8]) % shards == shard:
            yield item


def _local(path: Path, passed: Skipped | None) -> Iterator[WorkItem]:
    is_named = path.is_file()
    for file in files_of(path, skipped=passed):
        try:
            yield from _local_items(file, is_named=is_named)
        except OSError:  # it says why when it is opened
            yield WorkItem(uri=str(file.path), is_named=is_named)


def _local_items(file: TraceFile | EventFolder, *, is_named: bool) -> Iterator[WorkItem]:
    path = file.path
    if isinstance(file, EventFolder):
        size, stamp = _folder_stamp(path if path.is_dir() else path.parent)
        loader = getattr(file.load, "__name__", "") if file.load is not None else ""
        yield WorkItem(uri=str(path), kind="events", size=size, stamp=stamp, loader=loader, is_named=is_named)
        return
    status = path.stat()
    stamp = f"{status.st_size}:{status.st_mtime_ns}"
    if (beside := path.with_suffix("")) != path and beside.is_dir():
        stamp += ":" + _folder_stamp(beside)[1]
    item = WorkItem(uri=str(path), kind="file", size=status.st_size, stamp=stamp, is_named=is_named)
    if status.st_size <= SPLIT_BYTES:
        yield item
        return
    with path.open("rb") as stream:
        yield from _split(item, stream)


def _folder_stamp(folder: Path) -> tuple[int, str]:
    """The size of a folder's files together, and what changes when one of them does."""
    size = count = newest = 0
    for base, _, names in os.walk(folder):
        for name in names:
            status = Path(base, name).lstat()
            size, count, newest = size + status.st_size, count + 1, max(newest, status.st_mtime_ns)
    return size, f"{size}:{count}:{newest}"


def _remote(system: Any, path: str, uri: str) -> Iterator[WorkItem]:
    try:
        info = system.info(path)
    except FileNotFoundError:
        raise NoTrajectory(f"{uri}: no such file or folder") from None
    except OSError as error:
        raise NoTrajectory(f"{uri}: cannot be read ({error})") from None
    if info["type"] == "file":
        yield from _remote_items(system, info, is_named=True)
    else:
        yield from _remote_folder(system, path)


def _remote_folder(system: Any, path: str) -> Iterator[WorkItem]:
    """The inputs of a remote folder; one listing is held at a time for each level."""
    entries = sorted(system.ls(path, detail=True), key=lambda entry: entry["name"])
    entries = [entry for entry in entries if entry["name"].rstrip("/") != path.rstrip("/")]
    folders = {_name(entry) for entry in entries if entry["type"] == "directory"}
    stems = {_name(entry).rpartition(".")[0] for entry in entries if entry["type"] == "file"}
    if folders & (JOINED_FOLDERS | stems):
        files = system.find(path, detail=True)
        size = sum(entry.get("size") or 0 for entry in files.values())
        stamps = "\0".join(f"{name}\0{_stamp(entry)}" for name, entry in sorted(files.items()))
        stamp = hashlib.sha256(stamps.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        yield WorkItem(uri=system.unstrip_protocol(path), kind="folder", size=size, stamp=stamp)
        return
    for entry in entries:
        if entry["type"] == "file":
            yield from _remote_items(system, entry)
        elif _name(entry) not in PASSED_OVER:
            yield from _remote_folder(system, entry["name"])


def _remote_items(system: Any, entry: dict[str, Any], *, is_named: bool = False) -> Iterator[WorkItem]:
    uri, size = system.unstrip_protocol(entry["name"]), entry.get("size") or 0
    item = WorkItem(uri=uri, kind="file", size=size, stamp=_stamp(entry), is_named=is_named)
    if size <= SPLIT_BYTES:
        yield item
        return
    with system.open(entry["name"], "rb") as stream:
        yield from _split(item, stream)


def _name(entry: dict[str, Any]) -> str:
    return entry["name"].rstrip("/").rpartition("/")[2]


def _stamp(entry: dict[str, Any]) -> str:
    """What a listing says of a file's content: the server's tag, else its time."""
    for name in ("ETag", "etag", "md5Hash", "content_hash", "blob_id", "sha256", "mtime", "LastModified", "updated"):
        if entry.get(name):
            return f"{entry.get('size')}:{entry[name]}"
    return str(entry.get("size"))


def _split(item: WorkItem, stream: Any) -> Iterator[WorkItem]:
    """The ranges or row groups of a large file with a trace in each line or row; any other file as it is."""
    magic = stream.read(4)
    stream.seek(0)
    if magic == PARQUET_MAGIC:
        try:
            groups = parquet().ParquetFile(stream).metadata.num_row_groups
        except (OSError, ValueError):  # it says why when it is read
            groups = 0
        for number in range(groups):
            yield _part(item, "row-group", item.size // groups, number, 0)
        if not groups:
            yield item
    elif has_rows(stream):
        for start in range(0, item.size, SPLIT_BYTES):
            end = min(start + SPLIT_BYTES, item.size)
            yield _part(item, "lines", end - start, start, end)
    else:
        yield item


def _part(item: WorkItem, kind: Literal["lines", "row-group"], size: int, start: int, end: int) -> WorkItem:
    return WorkItem(uri=item.uri, kind=kind, size=size, stamp=item.stamp, start=start, end=end, is_named=item.is_named)
