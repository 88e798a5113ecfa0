"""A report as lines with a value: what does not fit goes by value, whatever its place.

Everything that the program writes is one line, its text escaped. Quoted bodies are between lines that begin with the
report's marker, which occurs nowhere in what is quoted. So nothing in a trace can pass for a line of the report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

MARKER_CHARS = 4
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]")


class Item(Struct, frozen=True):
    """A line of the report, or a quoted body of several lines."""

    kind: str
    """What it is, for the record of what was kept: `open-issue`, `dead-end`, `key-action`, …"""
    value: int
    """What a rerun loses without it: the lowest go first. Items of `ALWAYS` stay."""
    label: str
    """What the program writes before the text: structure, not content."""
    text: str
    """The content. Of a body, all its lines, those with the marker included."""
    structure: int = 0
    """How many bytes of the text are structure: the marker lines of a body."""

    @property
    def size(self) -> int:
        """Bytes, the line feed included."""
        return byte_size(self.label) + byte_size(self.text) + 1

    @property
    def structure_size(self) -> int:
        """Bytes that are neither content of the analysis nor quoted."""
        return byte_size(self.label) + self.structure + 1


ALWAYS = 100
"""The value of what is never dropped."""


def fit_items(items: Sequence[Item], budget: int) -> tuple[list[Item], list[Item]]:
    """What stays within so many bytes, in order, and what goes: the least valuable first, of equals the last."""
    excess = sum(item.size for item in items) - budget
    dropped: set[int] = set()
    for place in sorted(range(len(items)), key=lambda place: (items[place].value, -place)):
        if excess <= 0 or items[place].value >= ALWAYS:
            break
        dropped.add(place)
        excess -= items[place].size
    kept = [item for place, item in enumerate(items) if place not in dropped]
    return kept, [items[place] for place in sorted(dropped)]


def write_items(items: Iterable[Item]) -> str:
    """The text of a report."""
    return "".join(f"{item.label}{item.text}\n" for item in items)


def one_line(text: str) -> str:
    """Any text as one printable line without a full stop at its end."""
    return UNSAFE.sub("\ufffd", " ".join(text.split())).removesuffix(".")


def choose_marker(texts: Iterable[str]) -> str:
    """A short marker that occurs in none of the texts: the same for the same texts."""
    joined = "\0".join(texts)
    seed = hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()
    for length in range(MARKER_CHARS, len(seed)):
        for start in range(len(seed) - length):
            marker = f"q{seed[start : start + length]}"
            if marker not in joined:
                return marker
    raise AssertionError("a text cannot hold every part of its own hash")


def byte_size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
