"""Bytes on disk, as records: lines with their numbers, or one whole document.

A `TraceFile` is opened once and knows whether it holds JSON lines or one document, compressed or not. It never holds
more than one line of a line-based file, and it never loads a record beyond its limit: such a record is reported and
passed over."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import msgspec

from dense.errors import NoTrajectory
from dense.readers.json_text import BOM, LARGE_BYTES, BadJson, decode, decode_cut_off, decode_in_parts, decode_several
from dense.readers.json_value import is_obj, is_seq
from dense.readers.notices import Notices
from dense.trajectory import Source

MAX_RECORD_BYTES = 1 << 30
"""A longer line is passed over and a larger document refused: its values would take several times as much memory."""
CHUNK = 1 << 24
"""Lines up to this length are read at one go; a longer one is measured before it is loaded."""
HEAD_RECORDS = 40
"""How many records decide the format."""
HEAD_BYTES = 1 << 16
"""How many bytes are read to distinguish lines from a document."""

DAMAGED = "the compressed data is damaged or cut off"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
SQLITE_MAGIC = b"SQLite format 3\0"
PARQUET_MAGIC = b"PAR1"
PACKED_MAGIC = (b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"Rar!")
"""Archives and compressions that nobody reads here: bzip2, xz, 7z, RAR."""
_BLANK = b" \t\r\n\0"


class TraceRecord(NamedTuple):
    """One JSON value and its place."""

    value: Any
    source: Source


@dataclass
class EventFolder:
    """A folder whose files together are one trace: a file for each event (OpenHands), a folder for each episode
    (Terminus), a message and its parts (opencode)."""

    path: Path
    """The folder, in which all files of the trace are, or the one that names it."""
    name: str
    """How it is called in sources and messages."""
    notices: Notices = field(default_factory=Notices)
    """What happened while it was read."""
    load: Callable[[EventFolder], Iterator[TraceRecord]] | None = None
    """How its records are made of its files; None for a JSON file each."""

    def records(self) -> Iterator[TraceRecord]:
        """The records, in their order."""
        if self.load is not None:
            yield from self.load(self)
            return
        for path in sorted(self.path.glob("*.json"), key=_event_order):
            if (record := self.document(path)) is not None:
                yield record

    def document(self, path: Path) -> TraceRecord | None:
        """A JSON file of the trace; None if it cannot be read, with a notice."""
        name = f"{self.name}/{path.name}" if path.parent == self.path else printable_path(path)
        file = TraceFile(path, name, self.notices)
        try:
            return file.document()
        except NoTrajectory as error:
            self.notices.skip(str(error).removeprefix(f"{file.name}: "), Source(file.name))
        except OSError as error:
            self.notices.skip(f"cannot be read ({error.strerror})", Source(file.name))
        return None


@dataclass
class TraceFile:
    """One file that may hold traces."""

    path: Path
    """Where it is."""
    name: str
    """How it is called in sources and messages."""
    notices: Notices = field(default_factory=Notices)
    """What happened while it was read."""
    only: str | None = None
    """The ID of the one session to be read out of a database that holds many."""

    @cached_property
    def shape(self) -> Literal["lines", "document", "archive", "sqlite", "parquet", "packed", "empty", "other"]:
        """What the file looks like, from its first bytes."""
        with self.open(HEAD_BYTES) as stream:
            first = stream.readline(HEAD_BYTES)
            if first.startswith(ZIP_MAGIC):
                return "archive"
            if first.startswith(SQLITE_MAGIC):
                return "sqlite"
            if first.startswith(PARQUET_MAGIC):
                return "parquet"
            if first.startswith(PACKED_MAGIC) or first[257:262] == b"ustar":  # a tar archive, compressed or not
                return "packed"
            if not first:
                return "empty"
            start = first.removeprefix(BOM).lstrip(_BLANK) or stream.read(HEAD_BYTES - len(first)).lstrip(_BLANK)
            if start[:1] in (b"{", b"["):
                return "lines" if _is_lines(first, stream) or self.has_later_record(first) else "document"
        # Comments, or a damaged first line, which must not hide the good ones behind it.
        if self.has_later_record(first):
            return "lines"
        return "other" if start else "empty"

    def has_later_record(self, first: bytes) -> bool:
        """Whether one of the first lines is a record, though the file does not begin like one with records."""
        if _begins_document(first):
            return False
        for number, line in islice(self.lines(), HEAD_RECORDS):
            if line is not None and number > 1 and _is_record(line):
                return True
        return False

    def records(self) -> Iterator[TraceRecord]:
        """The records of a line-based file; blank lines and comment lines before the first record are passed over."""
        for number, line in self.lines():
            source = Source(self.name, line=number)
            if line is None:
                self.notices.skip(f"line is longer than {MAX_RECORD_BYTES >> 20} MiB", source)
                continue
            try:
                value, repaired = decode(line)
            except BadJson as error:
                stripped = line.strip()
                if stripped and not stripped.startswith((b"//", b"#")):
                    self.notices.skip(str(error), source)
                continue
            if repaired:
                self.notices.repair(repaired, source)
            yield TraceRecord(value, source)

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Numbered lines; None for a line beyond the limit."""
        with self.open() as stream:
            number = 0
            while line := stream.readline(CHUNK):
                number += 1
                if len(line) < CHUNK or line.endswith(b"\n"):
                    if not line.isspace():
                        yield number, line
                else:
                    yield number, _long_line(line, stream)

    def document(self) -> TraceRecord:
        """The file as one JSON value; of several, the first."""
        return self.documents()[0]

    def documents(self) -> list[TraceRecord]:
        """The file as a JSON value, or as several in a row. One that was cut off or is damaged gives what came
        before."""
        source = Source(self.name)
        if (large := self._large_document()) is not None:
            return [TraceRecord(large, source)]
        with self.open(0) as stream:  # it is read in one go
            too_large = self.path.stat().st_size > MAX_RECORD_BYTES
            # Only what is packed can be larger than the file; to read with a limit reserves that much memory.
            data = b"" if too_large else stream.read() if stream.seekable() else stream.read(MAX_RECORD_BYTES + 1)
        if too_large or len(data) > MAX_RECORD_BYTES:
            raise NoTrajectory(
                f"{self.name}: one JSON document of more than {MAX_RECORD_BYTES >> 20} MiB; split it and read the parts"
            )
        try:
            value, repaired = decode(data)
        except BadJson as error:
            if several := decode_several(data):
                return [TraceRecord(value, Source(self.name, index=index)) for index, value in enumerate(several)]
            try:
                value = decode_cut_off(data[: error.position])
            except BadJson:
                raise NoTrajectory(f"{self.name}: {error}") from None
            repaired = ""
            self.notices.skip(f"the document is damaged or cut off ({error}); what came before was read", source)
        if repaired:
            self.notices.repair(repaired, source)
        return [TraceRecord(value, source)]

    def _large_document(self) -> Any:
        """The value of a large document that is not packed and in which nothing is unusual; None for any other."""
        size = self.path.stat().st_size
        if not LARGE_BYTES <= size <= MAX_RECORD_BYTES:
            return None
        try:
            with self.open(0) as stream:
                return decode_in_parts(stream, size) if isinstance(stream, io.FileIO) else None
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None  # whoever reads it whole repairs it or says what is wrong

    def archive(self) -> zipfile.ZipFile:
        """The file as a ZIP archive."""
        try:
            return zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise NoTrajectory(
                f"{self.name}: the archive is damaged or was cut off while it was written ({error})"
            ) from None

    def open(self, buffer: int = 1 << 18) -> IO[bytes]:
        """The file's bytes, decompressed, with so large a buffer for what is not packed."""
        stream = self.path.open("rb", buffering=buffer)
        magic = stream.read(4)
        stream.seek(0)
        if magic.startswith(GZIP_MAGIC):
            return _Tolerant(gzip.GzipFile(fileobj=stream), stream, self.name, self.notices)
        if magic == ZSTD_MAGIC:
            import zstandard

            reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
            return _Tolerant(reader, stream, self.name, self.notices)
        if magic.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            with stream:  # what Windows writes where a command's output is sent to a file
                text = stream.read(MAX_RECORD_BYTES).decode("utf-16", errors="replace")
            return io.BytesIO(text.encode("utf-8", errors="replace"))
        return stream


def first_value(path: Path) -> Any:
    """The first record of a line-based file, None where nothing can be read. For a look at who a file belongs to."""
    try:
        record = next(TraceFile(path, path.name).records(), None)
    except (NoTrajectory, OSError):
        return None
    return record.value if record is not None else None


def _event_order(path: Path) -> tuple[int, str]:
    """Event files carry their number, which may outgrow its leading zeros."""
    number = re.search(r"\d+", path.name)
    return (int(number[0]) if number else 0), path.name


def printable_path(path: Path) -> str:
    """A path for messages and JSON; bytes that are not UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", errors="replace")


class _Tolerant(io.BufferedReader):
    """A decompressing stream that ends where the data is damaged, says so, and closes the file behind it."""

    def __init__(self, inner: Any, file: IO[bytes], name: str, notices: Notices) -> None:
        super().__init__(_Raw(inner, name, notices), buffer_size=1 << 16)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()


class _Raw(io.RawIOBase):
    def __init__(self, inner: Any, name: str, notices: Notices) -> None:
        self._inner, self._name, self._notices = inner, name, notices

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read1(len(buffer))
        except Exception as error:  # each compression library has errors of its own
            self._notices.skip_once(f"{DAMAGED} ({error}); what came before was read", Source(self._name))
            data = b""
        buffer[: len(data)] = data
        return len(data)


def _long_line(start: bytes, stream: IO[bytes]) -> bytes | None:
    """The line that begins with `start`, or None if it is too long to be loaded."""
    if stream.seekable():
        rest = stream.tell()
        length = len(start) + sum(map(len, _until_newline(stream)))
        if length > MAX_RECORD_BYTES:
            return None
        stream.seek(rest)
    parts, length = [start], len(start)
    for part in _until_newline(stream):
        length += len(part)
        if length <= MAX_RECORD_BYTES:
            parts.append(part)
        else:
            parts.clear()
    return b"".join(parts) if length <= MAX_RECORD_BYTES else None


def _until_newline(stream: IO[bytes]) -> Iterator[bytes]:
    while part := stream.readline(1 << 20):
        yield part
        if part.endswith(b"\n"):
            return


def _is_lines(first: bytes, stream: IO[bytes]) -> bool:
    """Whether the first lines are JSON values of their own, rather than the beginning of one long value. The stream
    follows as much of the first as was read."""
    if not first.endswith(b"\n"):
        for _ in _until_newline(stream):
            pass
        return bool(stream.read(1))
    return _is_record(first) and (bool(stream.read(HEAD_BYTES - len(first)).strip()) or bool(stream.read(1)))


def _begins_document(first: bytes) -> bool:
    """Whether a first line opens a document over several lines, whose last element may look like a line of its own."""
    stripped = first.strip()
    if stripped in (b"[", b"{"):
        return True
    return stripped.startswith((b"[", b"{")) and stripped.endswith((b"{", b"[", b",", b":")) and not _is_record(first)


def _is_record(line: bytes) -> bool:
    """Whether the line is a JSON object with at least one key, or a list of objects."""
    stripped = line.strip()
    if not stripped.startswith((b"{", b"[")) or not stripped.endswith((b"}", b"]")):
        return False
    try:
        value, _ = decode(line)
    except BadJson:
        return False
    if is_seq(value):
        return bool(value) and all(map(is_obj, value))
    return is_obj(value) and bool(value)
