"""The target of a batch: parts in Parquet, `_spec.json`, `_errors.jsonl`, in a local folder or an object store.

A part appears as a whole or not at all. Its footer names the inputs that it finished; its name is a hash of them, so a
partition that is processed twice overwrites its own part."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate

import msgspec
from msgspec import Struct

from dense.batch.known import KnownKeys, KnownRows, RowIndex, place_hash
from dense.batch.libraries import parquet, pyarrow
from dense.batch.partition import PartitionResult
from dense.batch.rows import BatchRow, schema
from dense.batch.sources import file_system, is_local
from dense.batch.spec import BATCH_SCHEMA, BatchSpec
from dense.errors import DenseError, describe_exception
from dense.service.private_files import make_folder
from dense.text.terminal import is_text

SPEC, ERRORS, ANSWERS, LOSS_MARKER = "_spec.json", "_errors.jsonl", "_answers.sqlite", "_attempt-"
ITEMS, SPEC_OF_PART = b"dense.items", b"dense.spec"
"""What a part's footer names: the digests of finished inputs, the hash of the spec."""
READERS_AT_ONCE = 16
"""Of a spec whose options are no `FeedbackOptions`."""
STALE_SECONDS = 3600
"""A temporary file that is older was left by a process that was killed."""


class PartSummary(Struct, frozen=True):
    """What a part added, for the progress of a run."""

    name: str
    rows: int
    failed: int
    """Rows with an error."""
    known: int
    ignored: dict[str, int]
    done: int
    """Inputs of which nothing is left to do."""
    stop: str = ""
    usd: float = 0.0
    copied: int = 0
    """Rows that were copied, because the same trace had one elsewhere."""


def _reported[**P, T](function: Callable[Concatenate[Target, P], T]) -> Callable[Concatenate[Target, P], T]:
    """The method, with whatever its file system raises as an error of ours: each has errors of its own."""

    @wraps(function)
    def reported(target: Target, *arguments: P.args, **options: P.kwargs) -> T:
        try:
            return function(target, *arguments, **options)
        except DenseError:
            raise
        except Exception as error:
            problem = error.strerror if isinstance(error, OSError) and error.strerror else describe_exception(error, "")
            raise DenseError(f"{target.uri}: cannot be read or written ({problem})") from None

    return reported


class Target:
    """A folder of parts."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        if not is_text(uri):
            raise DenseError(f"{uri}: a table needs a folder whose name is UTF-8: choose another")
        self._system, self._path = file_system(uri)
        self.is_local = is_local(self._system)

    def owns(self, uri: str) -> bool:
        """Whether an input is one of the files that a batch writes here."""
        folder, _, name = uri.rpartition("/")
        home = str(Path(self._path).resolve()) if self.is_local else self._system.unstrip_protocol(self._path)
        is_ours = _is_part(name) or name.startswith((SPEC, ERRORS, ANSWERS, LOSS_MARKER, ".part-"))
        return is_ours and folder == home.rstrip("/")

    def file(self, name: str) -> str:
        """The path of a file in it, for its file system."""
        return posixpath.join(self._path, name)

    def local_path(self, name: str) -> Path | None:
        """The path of a file in it on this machine; None if it is elsewhere."""
        return Path(self._path) / name if self.is_local else None

    @_reported
    def open_for(self, spec: BatchSpec, *, replaces: bool = False) -> None:
        """Make the folder. Rows of another spec in it are an error unless they are replaced."""
        if self.is_local:
            make_folder(Path(self._path))
            self._remove_stale()
        known = self.spec() if not replaces and self.parts() else None
        if known is not None and known != spec.stored and any(self._each_part(_rows_of, "", self.parts())):
            changes = ", ".join(known.differences(spec))
            raise DenseError(
                f"{self.uri} was made with other settings ({changes}): choose another target, use the same settings, or"
                " add --replace to analyse everything anew"
            )

    def write_spec(self, spec: BatchSpec) -> None:
        """Write the spec, unless it is there."""
        data = msgspec.json.format(msgspec.json.encode(spec.stored), indent=1) + b"\n"
        if self.read(SPEC) != data:
            self.write(SPEC, data)

    @_reported
    def spec(self) -> BatchSpec | None:
        """The spec of its rows; None if there is none yet."""
        data = self.read(SPEC)
        if data is None:
            return None
        try:
            schema = json.loads(data).get("schema", "")
            if schema != BATCH_SCHEMA and schema.startswith(BATCH_SCHEMA.partition("/")[0]):
                raise DenseError(
                    f"{self.uri}: has the schema {schema}, this version reads {BATCH_SCHEMA}: choose another target,"
                    " or add --replace to analyse everything anew"
                )
            return msgspec.json.decode(data, type=BatchSpec)
        except (msgspec.DecodeError, ValueError, AttributeError) as error:
            raise DenseError(f"{self.uri}/{SPEC}: not the spec of a batch ({error}); is this its target?") from None

    @_reported
    def parts(self) -> list[str]:
        """The paths of all parts, sorted."""
        try:
            names = self._system.ls(self._path, detail=False, refresh=True)
        except TypeError:
            names = self._system.ls(self._path, detail=False)
        except FileNotFoundError:
            return []
        return sorted(name for name in names if _is_part(posixpath.basename(name)))

    @_reported
    def known(self, spec: str, *, retry_errors: bool = False) -> tuple[KnownKeys, KnownRows]:
        """The inputs and the rows that earlier runs finished under a spec; without those that failed, if asked."""
        inputs: set[str] = set()
        index, failed = RowIndex(), dict[str, str]()
        parts = self.parts()
        for number, part in enumerate(self._each_part(_known_of, spec, parts)):
            for key, item, has_failed, origin, written in part[1] if part is not None else ():
                index.add(key, origin, written, number, has_failed=has_failed)
                if has_failed:
                    failed[key] = item
            inputs.update(part[0] if part is not None else ())
        index.sort()
        if retry_errors:
            inputs -= {item for key, item in failed.items() if not index.has_done(key)}
        # A trace that failed is known if its input is finished; a call that failed leaves it open.
        known = {key for key, item in failed.items() if item in inputs}
        return KnownKeys.of(inputs), index.known(known, parts)

    @_reported
    def rows_of(self, path: str) -> Callable[[str], BatchRow]:
        """The rows of a part, by their keys."""
        with self._system.open(path, "rb") as stream:
            table = parquet().ParquetFile(stream).read()
        indices = {key: index for index, key in enumerate(table.column("key").to_pylist())}
        return lambda key: msgspec.convert(table.slice(indices[key], 1).to_pylist()[0], BatchRow)

    @_reported
    def write_part(self, result: PartitionResult, spec: BatchSpec, shard: str) -> PartSummary:
        """Write the rows of a partition as one part, the spec before it; nothing if there is nothing to say."""
        name = ""
        if result.rows or result.done:
            arrow = pyarrow()
            footer = {ITEMS: json.dumps(result.done).encode(), SPEC_OF_PART: spec.hash.encode()}
            now = {"written": datetime.now(UTC)}
            rows = [msgspec.to_builtins(row, builtin_types=(datetime,)) | now for row in result.rows]
            table = arrow.Table.from_pylist(rows, schema=schema().with_metadata(footer))
            sink = arrow.BufferOutputStream()
            parquet().write_table(table, sink, compression="zstd")
            identity = "\0".join([spec.hash, *sorted(result.done), *sorted(row.key for row in result.rows)])
            name = f"part-{shard}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.parquet"
            self.write_spec(spec)
            self.write(name, sink.getvalue().to_pybytes())
        failed = sum(bool(row.error) for row in result.rows)
        return PartSummary(
            name=name,
            rows=len(result.rows),
            failed=failed,
            known=result.known,
            ignored=result.ignored,
            done=len(result.done),
            stop=result.stop,
            usd=result.usd,
            copied=result.copied,
        )

    @_reported
    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it is not there."""
        try:
            return self._system.cat_file(self.file(name))
        except FileNotFoundError:
            return None

    @_reported
    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError):
            self._system.rm_file(self.file(name))

    @_reported
    def write(self, name: str, data: bytes) -> None:
        """Write a file that others see as a whole or not at all."""
        if not self.is_local:
            self._system.pipe_file(self.file(name), data)  # object stores show an object when it is complete
            return
        temporary = Path(self._path) / f".{name}.{os.getpid()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(Path(self._path) / name)

    def _remove_stale(self) -> None:
        for path in Path(self._path).glob(".*.tmp"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE_SECONDS:
                    path.unlink()

    def _each_part[T](self, look: Callable[[Any, str], T], spec: str, parts: list[str]) -> Iterator[T]:
        """What a look at each part gives; several are read at once."""

        def read_part(path: str) -> T:
            try:
                with self._system.open(path, "rb") as stream:
                    return look(parquet().ParquetFile(stream), spec)
            except (OSError, ValueError) as error:
                raise DenseError(f"{path}: not a part of a batch ({error}); remove it and run again") from None

        with ThreadPoolExecutor(READERS_AT_ONCE if not self.is_local else 1) as pool:
            yield from pool.map(read_part, parts)


def _is_part(name: str) -> bool:
    return name.startswith("part-") and name.endswith(".parquet")


def _rows_of(file: Any, _: str) -> int:
    return file.metadata.num_rows


def _known_of(file: Any, spec: str) -> tuple[list[str], list[tuple[str, str, bool, bytes, int]]] | None:
    if not _is_of(file, spec):
        return None
    table = file.read(columns=["key", "item", "error", "source", "part", "written"])
    written = table.column("written").cast("int64").to_pylist()
    columns = table.drop_columns(["written"]).to_pydict()
    places = map(place_hash, columns["source"], columns["part"])
    rows = zip(columns["key"], columns["item"], map(bool, columns["error"]), places, written, strict=True)
    return json.loads(file.schema_arrow.metadata[ITEMS]), list(rows)


def _is_of(file: Any, spec: str) -> bool:
    metadata: dict[bytes, bytes] = file.schema_arrow.metadata or {}
    return metadata.get(SPEC_OF_PART) == spec.encode()
