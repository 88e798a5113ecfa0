"""The members of an `.eval` archive, decompressed one at a time."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any

from dense.readers.files import MAX_RECORD_BYTES
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import is_obj, is_seq, obj, seq, whole
from dense.readers.reader import TraceLocation

ZSTD = 93
SAMPLE_NAME = re.compile(r"samples/(?P<name>.+)_epoch_(?P<epoch>\d+)(?:\.json|/sample\.json)")
CHUNK = re.compile(r"(?P<start>\d+)\.json")


@dataclass
class ArchiveMembers:
    """The members of an `.eval` archive, read whole, one at a time."""

    archive: zipfile.ZipFile
    location: TraceLocation
    names: dict[str, zipfile.ZipInfo] = field(init=False)

    def __post_init__(self) -> None:
        # A member that was written again has two entries; the later one is valid.
        self.names = {info.filename: info for info in self.archive.infolist()}

    def header(self) -> dict[str, Any] | None:
        """What the log says of the whole run."""
        start = obj(self._value("_journal/start.json"))
        header = obj(self._value("header.json")) or ({"status": "started"} | start if start else {})
        return header if is_obj(header.get("eval")) else None

    def sample(self, name: str) -> Any:
        """A sample; one that lies in chunks is put together as if it were a single member."""
        sample = self._value(name)
        if not name.endswith("/sample.json") or not is_obj(sample):
            return sample
        folder = name.removesuffix("sample.json")
        pool = self._chunks(f"{folder}messages/")
        attachments = {str(index): text for index, text in enumerate(self._chunks(f"{folder}attachments/"))}
        whole_sample = {"events": self._chunks(f"{folder}events/"), "attachments": attachments}
        whole_sample |= {
            "messages": referred_messages(sample.get("message_refs"), pool),
            "events_data": {"messages": pool},
        }
        return sample | whole_sample

    def _chunks(self, folder: str) -> list[Any]:
        starts = [
            (int(match["start"]), name)
            for name in self.names
            if name.startswith(folder) and (match := CHUNK.fullmatch(name.removeprefix(folder)))
        ]
        return [item for _, name in sorted(starts) for item in seq(self._value(name))]

    def _value(self, name: str) -> Any:
        if name not in self.names:
            return None
        source = self.location.source(part=name)
        try:
            value, repaired = decode(self._bytes(self.names[name]))
        except BadJson as error:
            self.location.notices.skip(str(error), source)
            return None
        except Exception as error:  # each way of compressing has errors of its own
            self.location.notices.skip(f"the member cannot be decompressed ({error})", source)
            return None
        if repaired:
            self.location.notices.repair(repaired, source)
        return value

    def _bytes(self, info: zipfile.ZipInfo) -> bytes:
        if info.file_size > MAX_RECORD_BYTES:
            raise ValueError(f"more than {MAX_RECORD_BYTES >> 20} MiB")
        if info.compress_type != ZSTD:
            return self.archive.read(info)
        import zstandard

        packed = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(self._raw(info)), read_across_frames=True)
        # One byte more than there should be shows that the size is wrong, however much lies behind it.
        data = packed.read(info.file_size + 1)
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise ValueError("wrong size or checksum")
        return data

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        """The member's bytes as they lie in the archive, behind its local header of variable length."""
        file = self.archive.fp
        if file is None or info.flag_bits & 1 or info.compress_size > MAX_RECORD_BYTES:
            raise ValueError("encrypted" if info.flag_bits & 1 else "too large")
        file.seek(info.header_offset)
        head = file.read(30)
        if len(head) < 30 or not head.startswith(b"PK\x03\x04"):
            raise ValueError("no local header")
        file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), io.SEEK_CUR)
        return file.read(info.compress_size)


def referred_messages(references: Any, pool: list[Any]) -> list[Any]:
    """The messages that `[start, end)` ranges name."""
    ranges = [(whole(pair[0]), whole(pair[1])) for pair in seq(references) if is_seq(pair) and len(pair) == 2]
    return [message for start, end in ranges if start is not None and end is not None for message in pool[start:end]]
