"""What earlier runs made: sets of keys in one block of bytes that processes can share, and the rows behind them."""

from __future__ import annotations

import hashlib
import mmap
import struct
from bisect import bisect_left
from collections.abc import Container, Iterable
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Self

KEY_BYTES = 16
NUMBER = struct.Struct(">I")
LENGTHS = struct.Struct("<QQ")
TIME = struct.Struct(">q")
FLAGS = {False: b"\0", True: b"\1"}
type Block = bytes | memoryview | mmap.mmap


class KnownKeys:
    """A set of keys: sorted, 16 bytes each, with a number behind each if it is a mapping."""

    def __init__(self, data: Block, number_bytes: int = 0) -> None:
        self.data, self._length = data, KEY_BYTES + number_bytes

    @classmethod
    def of(cls, keys: Iterable[str]) -> Self:
        """The set of these keys."""
        return cls(b"".join(sorted({bytes.fromhex(key) for key in keys})))

    def __len__(self) -> int:
        return len(self.data) // self._length

    def __getitem__(self, index: int) -> bytes:
        start = index * self._length
        return bytes(self.data[start : start + KEY_BYTES])

    def index_of(self, key: str) -> int | None:
        """The index of a key in the order of all; None if it is not there."""
        wanted = bytes.fromhex(key)
        index = bisect_left(range(len(self)), wanted, key=self.__getitem__)
        return index if index < len(self) and self[index] == wanted else None

    def __contains__(self, key: str) -> bool:
        return self.index_of(key) is not None


class RowIndex:
    """Rows of earlier runs while they are gathered: some 150 bytes each, because there may be millions."""

    def __init__(self) -> None:
        self._rows: list[bytes] = []
        """Key, whether it failed, number of its part."""
        self._origins: list[bytes] = []
        """Place, when its row was written, whether it did not fail, key."""

    def add(self, key: str, origin: bytes, written: int, part: int, *, has_failed: bool) -> None:
        """Add a row of the n-th part."""
        own = bytes.fromhex(key)
        self._rows.append(own + FLAGS[has_failed] + NUMBER.pack(part))
        self._origins.append(origin + TIME.pack(written) + FLAGS[not has_failed] + own)

    def sort(self) -> None:
        """After the last row."""
        self._rows.sort()
        self._origins.sort()

    def has_done(self, key: str) -> bool:
        """Whether there is a row of a key without an error."""
        wanted = bytes.fromhex(key) + FLAGS[False]
        index = bisect_left(self._rows, wanted)
        return index < len(self._rows) and self._rows[index].startswith(wanted)

    def known(self, failed: Container[str], parts: Iterable[str]) -> KnownRows:
        """The rows without an error, and those of these keys that failed. Of a key with several rows, one without an
        error counts; of a place, the newest."""
        block, last = bytearray(), b""
        for row in self._rows:
            key, is_failed = row[:KEY_BYTES], row[KEY_BYTES : KEY_BYTES + 1] == FLAGS[True]
            if key != last and (not is_failed or key.hex() in failed):
                block += key + row[KEY_BYTES + 1 :]
                last = key
        keys = KnownKeys(bytes(block), NUMBER.size)
        newest = (row for row, after in pairwise([*self._origins, b""]) if row[:KEY_BYTES] != after[:KEY_BYTES])
        ends = ((row[-KEY_BYTES:].hex(), row[:KEY_BYTES]) for row in newest)
        return KnownRows(keys, KnownKeys.of(_placed(key, origin) for key, origin in ends if key in keys), tuple(parts))


class KnownRows:
    """The rows of earlier runs: which part holds the row of a key, and which key is the newest of each place."""

    def __init__(self, rows: KnownKeys, placed: KnownKeys, parts: tuple[str, ...]) -> None:
        self._rows, self._placed, self._parts = rows, placed, parts

    @classmethod
    def unpacked(cls, data: Block) -> Self:
        """The rows in one block, which is not copied."""
        view = memoryview(data)
        rows, placed = LENGTHS.unpack_from(view)
        start, end = LENGTHS.size + rows, LENGTHS.size + rows + placed
        parts = bytes(view[end:]).decode("utf-8", "surrogateescape")
        keys = KnownKeys(view[LENGTHS.size : start], NUMBER.size)
        return cls(keys, KnownKeys(view[start:end]), tuple(parts.split("\0")) if parts else ())

    @classmethod
    def at(cls, path: Path) -> Self:
        """The rows in a file."""
        with path.open("rb") as file:
            return cls.unpacked(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def packed(self) -> bytes:
        """All in one block."""
        rows, placed = bytes(self._rows.data), bytes(self._placed.data)
        parts = "\0".join(self._parts).encode("utf-8", "surrogateescape")
        return LENGTHS.pack(len(rows), len(placed)) + rows + placed + parts

    def part_of(self, key: str) -> str | None:
        """The path of the part that holds the row of a key; None if there is none."""
        index = self._rows.index_of(key)
        if index is None:
            return None
        start = (index + 1) * (KEY_BYTES + NUMBER.size) - NUMBER.size
        number: int = NUMBER.unpack_from(self._rows.data, start)[0]
        return self._parts[number]

    def is_placed(self, key: str, source: str, part: str) -> bool:
        """Whether the newest row of a place is that of a key."""
        return _placed(key, place_hash(source, part)) in self._placed


def place_hash(source: str, part: str) -> bytes:
    """The hash of where a trace is."""
    return hashlib.sha256(f"{source}\0{part}".encode("utf-8", "surrogateescape")).digest()[:KEY_BYTES]


def _placed(key: str, origin: bytes) -> str:
    return hashlib.sha256(bytes.fromhex(key) + origin).hexdigest()[: 2 * KEY_BYTES]


def shared_file(known: KnownRows) -> tuple[Any, Path]:
    """The rows in a temporary file that other processes can open while it is open here."""
    file = NamedTemporaryFile(prefix="dense-keys-")  # noqa: SIM115 - closed by whoever shares it
    file.write(known.packed())
    file.flush()
    return file, Path(file.name)
