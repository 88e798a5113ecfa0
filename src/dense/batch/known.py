"""What earlier runs made: sets of keys in one block of bytes that processes can share, and the rows behind them."""

from __future__ import annotations

import hashlib
import mmap
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple, Self

KEY_BYTES = 16
NUMBER = struct.Struct(">I")
LENGTHS = struct.Struct("<QQ")
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

    def __getitem__(self, place: int) -> bytes:
        start = place * self._length
        return bytes(self.data[start : start + KEY_BYTES])

    def place(self, key: str) -> int | None:
        """The place of a key in the order of all; None if it is not there."""
        wanted = bytes.fromhex(key)
        place = bisect_left(range(len(self)), wanted, key=self.__getitem__)
        return place if place < len(self) and self[place] == wanted else None

    def __contains__(self, key: str) -> bool:
        return self.place(key) is not None


class EarlierRow(NamedTuple):
    """A row of an earlier run, as far as a new run must know it."""

    key: str
    item: str
    has_failed: bool
    place: str
    """The hash of its source and part."""
    written: int
    part_file: int
    """The number of the part that holds it."""


class KnownRows:
    """The rows of earlier runs: which part holds the row of a key, and which key is the newest of each place."""

    def __init__(self, rows: KnownKeys, placed: KnownKeys, parts: tuple[str, ...]) -> None:
        self._rows, self._placed, self._parts = rows, placed, parts

    @classmethod
    def of(cls, rows: Iterable[EarlierRow], is_known: Callable[[str], bool], parts: Iterable[str]) -> Self:
        """Those of the rows whose keys are known. Of a key with several rows, one without an error counts."""
        holds: dict[str, tuple[bool, int]] = {}
        newest: dict[str, tuple[int, bool, str]] = {}
        for row in rows:
            if is_known(row.key):
                holds[row.key] = min(holds.get(row.key, (True, row.part_file)), (row.has_failed, row.part_file))
            here = (row.written, not row.has_failed, row.key)
            newest[row.place] = max(newest.get(row.place, here), here)
        block = b"".join(sorted(bytes.fromhex(key) + NUMBER.pack(number) for key, (_, number) in holds.items()))
        placed = (_placed(key, place) for place, (_, _, key) in newest.items() if key in holds)
        return cls(KnownKeys(block, NUMBER.size), KnownKeys.of(placed), tuple(parts))

    @classmethod
    def none(cls) -> Self:
        """Nothing is known."""
        return cls(KnownKeys(b"", NUMBER.size), KnownKeys(b""), ())

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
        place = self._rows.place(key)
        if place is None:
            return None
        start = (place + 1) * (KEY_BYTES + NUMBER.size) - NUMBER.size
        number: int = NUMBER.unpack_from(self._rows.data, start)[0]
        return self._parts[number]

    def is_placed(self, key: str, source: str, part: str) -> bool:
        """Whether the newest row of a place is that of a key."""
        return _placed(key, place_hash(source, part)) in self._placed


def place_hash(source: str, part: str) -> str:
    """The hash of where a trace is."""
    return hashlib.sha256(f"{source}\0{part}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _placed(key: str, place: str) -> str:
    return hashlib.sha256(f"{key}{place}".encode()).hexdigest()[:32]


def shared_file(known: KnownRows) -> tuple[Any, Path]:
    """The rows in a temporary file that other processes can open while it is open here."""
    file = NamedTemporaryFile(prefix="dense-keys-")  # noqa: SIM115 - closed by whoever shares it
    file.write(known.packed())
    file.flush()
    return file, Path(file.name)
