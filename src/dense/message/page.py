"""A report as items: lines of the program, and quoted bodies that nothing in them can close or forge.

Everything that the program writes is one line, its text escaped. Quoted bodies are between lines that begin with the
report's key, five letters and digits that occur nowhere in what is quoted:

    7f3ax| key-action a12, shows issue_0
    file chart.png
    7f3ax| observation exit 1
    7f3ax| … 12 lines, 640 characters left out …
    chart.png: cannot open
    7f3ax| end

All keys have the same length, so an item knows its size before the key is chosen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import count, islice
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

KEY_LENGTH = 5
KEY_CHARACTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""32 of them, none of which looks like another."""
MAX_KEYS_FOR_OTHERS = 100
"""So many keys are tried for one that occurs in no other text either."""
CLOSE, END = "{key}|\n", "{key}| end\n"
"""The line after the last of several quoted bodies, and such a line at the end of a message."""
END_SIZE = len(END.format(key="")) + KEY_LENGTH
_BEYOND_ASCII = (
    "\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f"
)
UNSAFE = re.compile(f"[\x00-\x1f{_BEYOND_ASCII}]")
"""Characters that end a line, control a terminal, or have no bytes."""
ACTING = re.compile(f"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f{_BEYOND_ASCII}]")
"""The same within a text of several lines."""
SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
"""Colours, movements of the cursor, titles and clipboards: nothing that a reader misses."""
ALWAYS = 100
"""The value of what is never dropped."""
MIN_SHORTENED_BYTES = 60
"""Fewer bytes of a line are not worth showing."""
ELLIPSIS = "…"
CALL = "tool-call"
"""What the marker line before a call says, unless it is the first body of its item."""


class Item(Struct, frozen=True, omit_defaults=True, dict=True):
    """A line of the report, with the bodies that are quoted below it."""

    kind: str
    """What it is, for the reading guide and the record of what was kept: `open-issue`, `dead-end`, `key-action`, …"""
    value: int
    """What a rerun loses without it: the lowest go first. Items of `ALWAYS` stay."""
    label: str
    """What the program writes before the text: structure, not content."""
    text: str
    """The content of the line."""
    quotes: tuple[tuple[str, str], ...] = ()
    """Quoted bodies: what the line of the key before each says, and the text below it, which may be empty."""

    @cached_property
    def size(self) -> int:
        """Bytes of UTF-8 at most, line feeds and marker lines included."""
        return self.content_size + self.structure_size if self.quotes else byte_size(self.label + self.text) + 1

    @property
    def content_size(self) -> int:
        """Bytes that say something: the line's text and the quoted bodies."""
        return byte_size(self.text) + sum([byte_size(text) + 1 for _, text in self.quotes if text])

    @property
    def structure_size(self) -> int:
        """Bytes of the label, of the marker lines, and of line feeds."""
        marks = sum([KEY_LENGTH + byte_size(mark) + 3 for mark, _ in self.quotes])
        return byte_size(self.label) + 1 + (marks + 1 + END_SIZE if self.quotes else 0)


class ReportPage(Struct, frozen=True, omit_defaults=True):
    """A report, and what became of its parts."""

    items: tuple[Item, ...]
    """In the order of reading."""
    dropped: tuple[str, ...] = ()
    """What there was no room for, with its size."""

    @property
    def size(self) -> int:
        """Bytes of UTF-8 at most."""
        return total_size(self.items)


type Fit = Callable[[int], ReportPage]
"""Makes a report of at most so many bytes, and names what it left out."""


def total_size(items: Iterable[Item]) -> int:
    """Bytes of several items at most."""
    return sum([item.size for item in items])


def write_items(items: Iterable[Item], key: str) -> str:
    """The text of a report."""
    return "".join(_lines(items, key))


def _lines(items: Iterable[Item], key: str) -> Iterator[str]:
    """An item with quoted bodies begins with a marker line; the last of several in a row ends with one."""
    is_open = False
    for item in items:
        if not item.quotes:
            yield CLOSE.format(key=key) if is_open else ""
            yield f"{item.label}{item.text}\n"
        for place, (mark, text) in enumerate(item.quotes):
            first = f"{item.label}{item.text}" + ("" if mark == CALL else f": {mark}")
            yield f"{key}| {mark if place else first}\n"
            yield f"{text}\n" if text else ""
        is_open = bool(item.quotes)
    if is_open:
        yield END.format(key=key)


def safe_item(item: Item) -> Item:
    """The item with each line of the program as one printable line; never larger. Quoted bodies stay as they are, apart
    from characters that act on a terminal or have no bytes."""
    quotes = tuple([(escaped(mark), harmless(text)) for mark, text in item.quotes])
    return Item(item.kind, item.value, escaped(item.label), escaped(item.text), quotes)


def escaped(text: str) -> str:
    """The text without characters that end a line or control a terminal; never larger."""
    return text if text.isprintable() else UNSAFE.sub("?", text)


def harmless(text: str) -> str:
    """A text of several lines without what controls a terminal or turns the direction; never larger."""
    if "\x1b" in text:
        text = SEQUENCE.sub("", text)
    return text if text.isprintable() else ACTING.sub("?", text)


def one_line(text: str) -> str:
    """Any text as one printable line without a full stop at its end."""
    return escaped(" ".join(text.split())).removesuffix(".")


def encodable(text: str) -> str:
    """The text itself; only half characters (lone surrogates), which have no bytes, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def byte_size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def shortened[I: Item](item: I, room: int) -> I | None:
    """The item's line in so many bytes, without its quoted bodies; None if too little of it would be left."""
    left = room - byte_size(item.label) - 1
    if byte_size(item.text) <= left:
        return replace(item, quotes=())
    left -= byte_size(ELLIPSIS)
    if left < MIN_SHORTENED_BYTES:
        return None
    text = item.text.encode("utf-8", "replace")[:left].decode("utf-8", "ignore") + ELLIPSIS
    return replace(item, text=text, quotes=())


def fit_items(items: Sequence[Item], room: int) -> tuple[list[Item], list[Item]]:
    """What stays within so many bytes, in order, and what goes: the least valuable first, of equals the last."""
    excess = total_size(items) - room
    dropped: set[int] = set()
    for place in sorted(range(len(items)), key=lambda place: (items[place].value, -place)):
        if excess <= 0:
            break
        dropped.add(place)
        excess -= items[place].size
    kept = [item for place, item in enumerate(items) if place not in dropped]
    return kept, [items[place] for place in sorted(dropped)]


def choose_key(texts: Iterable[str], others: Sequence[str] = ()) -> str:
    """A key that occurs in none of these texts, and in none of `others` unless most keys do; the same texts give the
    same one if others lack it. There are more keys than places in 30 MB of report.

    A checksum is enough to begin with: whoever writes the key into a trace only makes us take another."""
    everything = "\n".join(texts)
    start = crc32(everything.encode("utf-8", "replace"))
    unused = (key for attempt in count() if (key := _key(f"{start}-{attempt}")) and key not in everything)
    tried = list(islice(unused, 1))
    while any(tried[-1] in other for other in others) and len(tried) < MAX_KEYS_FOR_OTHERS:
        tried.append(next(unused))
    return tried[-1]


def _key(seed: str) -> str:
    """Letters and digits, both of them: no word, no number; empty if the seed gives no such key."""
    key = "".join([KEY_CHARACTERS[byte % 32] for byte in sha256(seed.encode()).digest()[:KEY_LENGTH]])
    return "" if key.isalpha() or key.isdecimal() else key


def item_texts(items: Iterable[Item]) -> Iterator[str]:
    """Everything that items say, for `choose_key`."""
    for item in items:
        yield item.label
        yield item.text
        for quote in item.quotes:
            yield from quote
