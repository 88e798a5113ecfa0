"""Blocks of text that nothing inside them can close, open or forge.

A block's opener names the marker of its end, and its end carries it:

    <observation origin="tool" end="7f3a91c2-07">…</observation 7f3a91c2-07>

The part before the dash is the report's key, derived from what the report holds and found nowhere in it; the number is
the block's own. So whoever wrote a text could not know the key, and a reader who looks for a block's end finds it at
the first try. Texts are therefore written as they are; only attribute values are escaped.

A text of one line is between its tags; any other has the lines between its tags to itself, and its bytes are what is
between the line feed after the opener and the last line feed before the closer.

A block knows its size from the moment it is made, so that a budget can be planned without writing anything. This module
is the only one that knows how tags and markers are written: everything else makes blocks with `text` and `group`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from zlib import crc32

from msgspec import Struct

KEY_LENGTH = 8
MARKER_GUIDE = """\
- Each opening tag names the marker of its end, and all markers begin with {key}. Whatever looks like a tag and does
  not carry it is quoted text.
"""
"""How a recipient distinguishes our tags from quoted text; `{key}` is the report's key."""
INDENT = 2
_STEP = " " * INDENT

_MARKERS = len('-">') + len("->") + 2 * KEY_LENGTH
"""Bytes of what follows opener and closer, without the digits."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Tags(Struct, frozen=True, gc=False):
    """How a block opens and closes, except for its marker."""

    name: str
    """The block's name."""
    keys: tuple[str, ...]
    """The names of its attributes."""
    values: tuple[str, ...]
    """Their values, escaped."""
    opener: str
    """The opener up to the marker."""
    closer: str
    """The closer up to the marker."""
    size: int
    """Bytes of both in UTF-8, without the digits of the markers."""


class MarkupBlock(Struct, frozen=True, gc=False):
    """A piece of a report. Made by `text` and `group`, which measure it."""

    tags: Tags
    content: str | tuple[MarkupBlock, ...]
    """A text, verbatim, or further blocks."""
    plain: int
    """Bytes in UTF-8 with all below it, at the margin, without the digits of the markers."""
    lines: int
    """Lines, with all below it, that are indented."""
    blocks: int
    """How many blocks it is, with all below it."""

    @property
    def name(self) -> str:
        """What its tags are called."""
        return self.tags.name

    @property
    def attributes(self) -> dict[str, str]:
        """Names and escaped values of its attributes, in order."""
        return dict(zip(self.tags.keys, self.tags.values, strict=True))

    @property
    def parts(self) -> tuple[MarkupBlock, ...]:
        """The blocks in it."""
        return () if isinstance(self.content, str) else self.content


def byte_size(string: str) -> int:
    """Length in UTF-8."""
    return len(string) if string.isascii() else len(string.encode("utf-8", "replace"))


def encodable(string: str) -> str:
    """The text itself; only half characters (lone surrogates), which have no bytes, become question marks."""
    if string.isascii():
        return string
    return string.encode("utf-8", "replace").decode("utf-8")


def escaped(value: str) -> str:
    """An attribute's value that cannot leave its quotes or its line, nor control a terminal."""
    if not value.isprintable():
        value = "".join(character if character.isprintable() else " " for character in value)
    return value.translate(_ESCAPES)


def text(name: str, content: str, /, **attributes: str | None) -> MarkupBlock:
    """A block that holds a text, byte by byte. Attributes without a value are left out."""
    return _text(_tags(name, attributes), content)


def group(name: str, children: Sequence[MarkupBlock], /, **attributes: str | None) -> MarkupBlock:
    """A block that holds blocks. Attributes without a value are left out."""
    return _group(_tags(name, attributes), children)


def with_text(block: MarkupBlock, content: str) -> MarkupBlock:
    """The same block with another text."""
    return _text(block.tags, content)


def with_children(block: MarkupBlock, children: Sequence[MarkupBlock], *, without: Collection[str] = ()) -> MarkupBlock:
    """The same block with other blocks in it, and without the attributes of these names."""
    kept = {name: value for name, value in block.attributes.items() if name not in without}
    return _group(_opened(block.name, tuple(kept), tuple(kept.values())), children)


def extended(block: MarkupBlock, children: Sequence[MarkupBlock]) -> MarkupBlock:
    """The same block with further blocks after those that it holds; it holds blocks, or nothing."""
    return _group(block.tags, (*block.parts, *children)) if children else block


def omitted(block: MarkupBlock, note: str) -> MarkupBlock:
    """The same block without its text, and with a note on what was there."""
    tags = block.tags
    return _text(_opened(tags.name, (*tags.keys, "omitted"), (*tags.values, escaped(note))), "")


def body_size(block: MarkupBlock) -> int:
    """The bytes of a block's text, without its tags."""
    return block.plain - block.tags.size - (1 if block.lines == 1 else 3)


def _text(tags: Tags, content: str) -> MarkupBlock:
    content = encodable(content)
    size = tags.size + byte_size(content)
    return MarkupBlock(tags, content, size + 3, 2, 1) if "\n" in content else MarkupBlock(tags, content, size + 1, 1, 1)


def _group(tags: Tags, children: Sequence[MarkupBlock]) -> MarkupBlock:
    if not children:
        return _text(tags, "")
    plain, inside, blocks = tags.size + 2, 0, 1
    for child in children:
        plain += child.plain
        inside += child.lines
        blocks += child.blocks
    # Its own tags have lines of their own.
    return MarkupBlock(tags, tuple(children), plain + INDENT * inside, inside + 2, blocks)


def _tags(name: str, attributes: Mapping[str, str | None]) -> Tags:
    """Tags with those of the attributes that have a value. Underscores of Python names become hyphens."""
    given = {key.strip("_").replace("_", "-"): escaped(value) for key, value in attributes.items() if value}
    return _opened(name, tuple(given), tuple(given.values()))


def _opened(name: str, keys: tuple[str, ...], values: tuple[str, ...]) -> Tags:
    """Tags with attributes that are escaped already."""
    pairs = "".join([f' {key}="{value}"' for key, value in zip(keys, values, strict=True)])
    opener, closer = f'<{name}{pairs} end="', f"</{name} "
    return Tags(name, keys, values, opener, closer, _MARKERS + len(closer) + byte_size(opener))


def size(block: MarkupBlock, depth: int = 0, width: int | None = None) -> int:
    """Bytes of a block at this depth, in a report whose block numbers have this many digits."""
    if width is None:
        width = digits(block.blocks)
    return block.plain + INDENT * depth * block.lines + 2 * width * block.blocks


def unindented(block: MarkupBlock) -> int:
    """Bytes of a block if nothing in it were indented, without the digits of the markers."""
    below = block.parts
    return block.tags.size + 2 + sum([unindented(part) for part in below]) if below else block.plain


def digits(blocks: int) -> int:
    """How wide the numbers of so many blocks are: all the same, so that none is the beginning of another."""
    return len(str(max(blocks - 1, 0)))


def write(block: MarkupBlock, key: str, prefix: str = "") -> str:
    """The text of a block, numbered from its own opener on."""
    pieces: list[str] = []
    width = digits(block.blocks)
    numbers = (f"{number:0{width}d}" for number in range(block.blocks))
    _put((block,), "", f"{key}-{prefix}", numbers, pieces)
    return "".join(pieces)


def marker_pattern(keys: Iterable[str]) -> re.Pattern[str]:
    """Finds the markers of reports with these keys, in any text."""
    return re.compile(rf"(?:{'|'.join(keys) or '(?!)'})-(?:note-\d+-)?\d+")


def _put(blocks: Iterable[MarkupBlock], indent: str, head: str, numbers: Iterator[str], pieces: list[str]) -> None:
    """Adds the pieces of blocks that follow each other; markers are the head and the next number."""
    for block in blocks:
        tags, content, number = block.tags, block.content, next(numbers)
        if not isinstance(content, str):
            pieces += indent, tags.opener, head, number, '">\n'
            _put(content, indent + _STEP, head, numbers, pieces)
            pieces += indent, tags.closer, head, number, ">\n"
        elif block.lines == 1:
            pieces += indent, tags.opener, head, number, '">', content, tags.closer, head, number, ">\n"
        else:
            pieces += indent, tags.opener, head, number, '">\n', content
            pieces += "\n", indent, tags.closer, head, number, ">\n"


def choose_key(strings: Sequence[str]) -> str:
    """A key that occurs in none of these strings, the same one every time. There are more keys than places in 4 GB.

    A checksum is enough to begin with: whoever writes the key into a trace only makes us take another."""
    everything = "\n".join(strings)
    data = everything.encode("utf-8", "replace")
    candidates = (sha256(f"{crc32(data)}-{attempt}".encode()).hexdigest()[:KEY_LENGTH] for attempt in count())
    return next(key for key in candidates if key not in everything)


def strings(block: MarkupBlock) -> list[str]:
    """All texts and attribute values of a block, in the order of the openers."""
    found: list[str] = []
    _gather((block,), found)
    return found


def _gather(blocks: Iterable[MarkupBlock], found: list[str]) -> None:
    for block in blocks:
        content = block.content
        found += block.tags.values
        if isinstance(content, str):
            found.append(content)
        else:
            _gather(content, found)


def walk(block: MarkupBlock, depth: int = 0) -> Iterator[tuple[MarkupBlock, int]]:
    """A block and all below it with their depths, in the order of their openers."""
    waiting = [(block, depth)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        if isinstance(part.content, tuple):
            waiting += [(child, depth + 1) for child in reversed(part.content)]
