"""Bytes on disk, as records: lines with their numbers, or one whole document.

A `TraceFile` is opened once and knows whether it holds JSON lines or one document, compressed or not. It never holds
more than one line of a line-based file, and it never loads a record beyond its limit: such a record is reported and
passed over."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from dense.errors import NoTrajectory
from dense.readers.json_text import BOM, BadJson, decode, decode_cut_off
from dense.readers.notices import Notices
from dense.trajectory import Source

MAX_RECORD = 1 << 30
"""A longer line is passed over and a larger document refused: its values would take several times as much memory."""
CHUNK = 1 << 24
"""Lines up to this length are read at one go; a longer one is measured before it is loaded."""
HEAD_RECORDS = 40
"""How many records a format is told by."""
HEAD_BYTES = 1 << 16
"""How many bytes are looked at to tell lines from a document."""

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"


class Record(NamedTuple):
    """One JSON value and where it stands."""

    value: Any
    source: Source


@dataclass
class EventFolder:
    """A folder with a file for each event (OpenHands), which together are one trace."""

    path: Path
    """The folder with the event files in it."""
    name: str
    """How it is called in sources and messages."""
    notices: Notices = field(default_factory=Notices)
    """What happened while it was read."""

    def records(self) -> Iterator[Record]:
        """The events, in the order of their file names."""
        for path in sorted(self.path.glob("*.json")):
            file = TraceFile(path, f"{self.name}/{path.name}", self.notices)
            try:
                yield file.document()
            except NoTrajectory as error:
                self.notices.skip(str(error).removeprefix(f"{file.name}: "), Source(file.name))
            except OSError as error:
                self.notices.skip(f"cannot be read ({error.strerror})", Source(file.name))


@dataclass
class TraceFile:
    """One file that may hold traces."""

    path: Path
    """Where it is."""
    name: str
    """How it is called in sources and messages."""
    notices: Notices = field(default_factory=Notices)
    """What happened while it was read."""

    @cached_property
    def shape(self) -> Literal["lines", "document", "archive", "empty", "other"]:
        """What the file looks like, from its first bytes."""
        with self.open() as stream:
            head = stream.read(HEAD_BYTES)
            if head.startswith(ZIP_MAGIC):
                return "archive"
            if not head:
                return "empty"
            start = head.removeprefix(BOM).lstrip(b" \t\r\n\0")
            if start[:1] not in (b"{", b"[", b"/", b"#"):
                # A damaged first line must not hide the good ones behind it.
                return "lines" if _has_record(head) else ("other" if start else "empty")
            return "lines" if _is_lines(head, stream) else "document"

    def records(self) -> Iterator[Record]:
        """The records of a line-based file; blank lines and comment lines before the first record are passed over."""
        for number, line in self.lines():
            place = Source(self.name, line=number)
            if line is None:
                self.notices.skip(f"line is longer than {MAX_RECORD >> 20} MiB", place)
                continue
            try:
                value, mended = decode(line)
            except BadJson as error:
                stripped = line.strip()
                if stripped and not stripped.startswith((b"//", b"#")):
                    self.notices.skip(str(error), place)
                continue
            if mended:
                self.notices.repair(mended, place)
            yield Record(value, place)

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Numbered lines; None stands for a line beyond the limit."""
        with self.open() as stream:
            number = 0
            while line := stream.readline(CHUNK):
                number += 1
                if len(line) < CHUNK or line.endswith(b"\n"):
                    if not line.isspace():
                        yield number, line
                else:
                    yield number, _long_line(line, stream)

    def document(self) -> Record:
        """The file as one JSON value. A document that was cut off gives what came before the cut."""
        place = Source(self.name)
        with self.open() as stream:
            too_large = self.path.stat().st_size > MAX_RECORD
            # Only what is packed can be larger than the file; to read with a limit reserves that much memory.
            data = b"" if too_large else stream.read() if stream.seekable() else stream.read(MAX_RECORD + 1)
        if too_large or len(data) > MAX_RECORD:
            raise NoTrajectory(
                f"{self.name}: one JSON document of more than {MAX_RECORD >> 20} MiB; split it and read the parts"
            )
        try:
            value, mended = decode(data)
        except BadJson as error:
            try:
                value = decode_cut_off(data)
            except BadJson:
                raise NoTrajectory(f"{self.name}: {error}") from None
            mended = ""
            self.notices.skip(f"the document is damaged or cut off ({error}); what came before was read", place)
        if mended:
            self.notices.repair(mended, place)
        return Record(value, place)

    def archive(self) -> zipfile.ZipFile:
        """The file as a ZIP archive."""
        try:
            return zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise NoTrajectory(f"{self.name}: the archive cannot be opened ({error})") from None

    def open(self) -> IO[bytes]:
        """The file's bytes, decompressed."""
        stream = self.path.open("rb", buffering=1 << 18)
        magic = stream.read(4)
        stream.seek(0)
        if magic.startswith(GZIP_MAGIC):
            return _Tolerant(gzip.GzipFile(fileobj=stream), stream, self.name)
        if magic == ZSTD_MAGIC:
            import zstandard

            reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
            return _Tolerant(reader, stream, self.name)
        return stream


def first_value(path: Path) -> Any:
    """The first record of a line-based file, None where nothing can be read. For a look at who a file belongs to."""
    try:
        record = next(TraceFile(path, path.name).records(), None)
    except (NoTrajectory, OSError):
        return None
    return record.value if record is not None else None


class _Tolerant(io.BufferedReader):
    """A decompressing stream whose damage is a message for people, and which closes the file behind it."""

    def __init__(self, inner: Any, file: IO[bytes], name: str) -> None:
        super().__init__(_Raw(inner, name), buffer_size=1 << 18)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


class _Raw(io.RawIOBase):
    def __init__(self, inner: Any, name: str) -> None:
        self._inner, self._name = inner, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except Exception as error:  # each compression library has errors of its own
            raise NoTrajectory(f"{self._name}: the compressed file is damaged ({error})") from None
        buffer[: len(data)] = data
        return len(data)


def _long_line(start: bytes, stream: IO[bytes]) -> bytes | None:
    """The line that begins with `start`, or None if it is too long to be loaded."""
    if stream.seekable():
        rest = stream.tell()
        length = len(start) + sum(map(len, _until_newline(stream)))
        if length > MAX_RECORD:
            return None
        stream.seek(rest)
    parts, length = [start], len(start)
    for part in _until_newline(stream):
        length += len(part)
        if length <= MAX_RECORD:
            parts.append(part)
        else:
            parts.clear()
    return b"".join(parts) if length <= MAX_RECORD else None


def _until_newline(stream: IO[bytes]) -> Iterator[bytes]:
    while part := stream.readline(1 << 20):
        yield part
        if part.endswith(b"\n"):
            return


def _is_lines(head: bytes, stream: IO[bytes]) -> bool:
    """Whether the first lines are JSON values of their own, rather than the beginning of one long value."""
    first, newline, rest = head.partition(b"\n")
    if not newline:
        for _ in _until_newline(stream):
            pass
        return bool(stream.read(1))
    if _has_record(first):
        return bool(rest.strip()) or bool(stream.read(1))
    if first.lstrip().startswith(b"[") or first.rstrip().endswith((b"{", b"[", b",", b":")):
        return False  # a document over several lines; its last element may look like a line of its own
    return _has_record(rest)


def _has_record(head: bytes) -> bool:
    """Whether one of the lines is a JSON object with at least one key."""
    for line in head.split(b"\n", HEAD_RECORDS)[:HEAD_RECORDS]:
        stripped = line.strip()
        if stripped.startswith(b"{") and stripped.endswith(b"}"):
            try:
                value, _ = decode(line)
            except BadJson:
                continue
            if isinstance(value, dict) and value:
                return True
    return False
