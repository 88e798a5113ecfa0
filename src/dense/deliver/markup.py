"""Blocks of text that nothing inside them can close, open or forge.

A block's opener names the marker of its end, and its end carries it:

    <observation origin="tool" end="7f3a91c2-07">…</observation 7f3a91c2-07>

The part before the dash is the report's key, derived from what the report holds and found nowhere in it; the number is
the block's own. So whoever wrote a text could not know the key, and a reader who looks for a block's end finds it at
the first try. Texts therefore stand as they are, unescaped; only attribute values are escaped.

A text of one line stands between its tags; any other has the lines between its tags to itself, and its bytes are what
lies between the line feed after the opener and the last line feed before the closer.

A block knows its size from the moment it is made, so that a budget can be planned without writing anything."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import count

import msgspec
from msgspec import Struct

KEY_LENGTH = 8
INDENT = 2

_OPENER = len('< end="-">') + KEY_LENGTH
_CLOSER = len("</ ->") + KEY_LENGTH
_MUST_ESCAPE = re.compile('[&<>"]')
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Block(Struct, frozen=True, gc=False):
    """A piece of the report. Made by `text` and `group`, which know the sizes."""

    name: str
    """The tag."""
    attributes: tuple[tuple[str, str], ...]
    """Names and escaped values, in order."""
    content: str | tuple[Block, ...]
    """A text, verbatim, or further blocks."""
    plain: int
    """Bytes in UTF-8 with all below it, without indentation and without the digits of the markers."""
    lines: int
    """Lines, with all below it, that are indented."""
    inner: int
    """How many indentations those lines have when the block stands at the margin."""
    blocks: int
    """How many blocks it is, with all below it."""


def byte_size(string: str) -> int:
    """Length in UTF-8."""
    return len(string) if string.isascii() else len(string.encode("utf-8", "replace"))


def encodable(string: str) -> str:
    """The text itself; only half characters (lone surrogates), which have no bytes, become question marks."""
    if string.isascii():
        return string
    return string.encode("utf-8", "replace").decode("utf-8")


def escaped(value: str) -> str:
    """An attribute's value that cannot leave its quotes nor its line, nor steer a terminal."""
    if not value.isprintable():
        value = "".join(character if character.isprintable() else " " for character in value)
    return value.translate(_ESCAPES) if _MUST_ESCAPE.search(value) else value


def text(name: str, content: str, /, **attributes: str | None) -> Block:
    """A block that holds a text, byte by byte."""
    return _leaf(name, _pairs(attributes), content)


def emptied(block: Block, omitted: str) -> Block:
    """The same block without its text, and with a word on what was there."""
    return _leaf(block.name, (*block.attributes, ("omitted", escaped(omitted))), "")


def body_size(block: Block) -> int:
    """The bytes of a block's text, without its tags."""
    return block.plain - _tags(block.name, block.attributes) - (1 if block.lines == 1 else 3)


def group(name: str, children: Iterable[Block], /, **attributes: str | None) -> Block:
    """A block that holds blocks."""
    children = tuple(children)
    if not children:
        return text(name, "", **attributes)
    pairs = _pairs(attributes)
    plain, lines, inner, blocks = _tags(name, pairs) + 2, 0, 0, 1
    for child in children:
        plain += child.plain
        lines += child.lines
        inner += child.inner
        blocks += child.blocks
    return Block(name, pairs, children, plain, lines + 2, lines + inner, blocks)


def regrouped(block: Block, children: Iterable[Block], *, without: Collection[str] = ()) -> Block:
    """The same block with other blocks in it, and without the attributes of these names."""
    bare = group(block.name, children)
    pairs = tuple(pair for pair in block.attributes if pair[0] not in without)
    more = _tags(block.name, pairs) - _tags(block.name, ())
    return msgspec.structs.replace(bare, attributes=pairs, plain=bare.plain + more)


def size(block: Block, depth: int = 0, width: int | None = None) -> int:
    """Bytes of a block that stands at this depth, in a report whose block numbers have this many digits."""
    if width is None:
        width = digits(block.blocks)
    return block.plain + INDENT * (block.inner + depth * block.lines) + 2 * width * block.blocks


def digits(blocks: int) -> int:
    """How wide the numbers of so many blocks are: all the same, so that none is the beginning of another."""
    return len(str(max(blocks - 1, 0)))


def write(block: Block, key: str, prefix: str = "") -> str:
    """The text of a block, numbered from its own opener on."""
    numbers = count()
    width = digits(block.blocks)
    pieces: list[str] = []

    def put(part: Block, depth: int) -> None:
        indent = " " * (INDENT * depth)
        marker = f"{key}-{prefix}{next(numbers):0{width}}"
        attributes = "".join([f' {name}="{value}"' for name, value in part.attributes])
        pieces.append(f'{indent}<{part.name}{attributes} end="{marker}">')
        if isinstance(part.content, tuple):
            pieces.append("\n")
            for child in part.content:
                put(child, depth + 1)
            pieces.append(indent)
        elif "\n" in part.content:
            pieces.extend(("\n", part.content, "\n", indent))
        else:
            pieces.append(part.content)
        pieces.append(f"</{part.name} {marker}>\n")

    put(block, 0)
    return "".join(pieces)


def choose_key(strings: Iterable[str]) -> str:
    """A key that occurs in none of these strings, the same one every time. There are more keys than places in 4 GB."""
    everything = "\n".join(strings)
    digest = sha256(everything.encode("utf-8", "replace")).digest()
    candidates = (sha256(digest + str(attempt).encode()).hexdigest()[:KEY_LENGTH] for attempt in count())
    return next(key for key in candidates if key not in everything)


def strings(block: Block) -> Iterator[str]:
    """All that a block says and that is not ours."""
    for part, _ in walk(block):
        yield from (value for _, value in part.attributes)
        if isinstance(part.content, str):
            yield part.content


def walk(block: Block, depth: int = 0) -> Iterator[tuple[Block, int]]:
    """A block and all below it with their depths, in the order of their openers."""
    waiting = [(block, depth)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        if isinstance(part.content, tuple):
            waiting += [(child, depth + 1) for child in reversed(part.content)]


def _leaf(name: str, pairs: tuple[tuple[str, str], ...], content: str) -> Block:
    content, size = _measured(content)
    plain = _tags(name, pairs) + size
    if "\n" in content:
        return Block(name, pairs, content, plain + 3, 2, 0, 1)
    return Block(name, pairs, content, plain + 1, 1, 0, 1)


def _measured(content: str) -> tuple[str, int]:
    """What `encodable` and `byte_size` give, with a large text encoded once and never copied."""
    if content.isascii():
        return content, len(content)
    try:
        return content, len(content.encode())
    except UnicodeEncodeError:
        data = content.encode("utf-8", "replace")
        return data.decode(), len(data)


def _pairs(attributes: dict[str, str | None]) -> tuple[tuple[str, str], ...]:
    """Attributes that say something."""
    return tuple([(_hyphened(name), escaped(value)) for name, value in attributes.items() if value])


@cache
def _hyphened(name: str) -> str:
    """Python's underscores are the markup's hyphens."""
    return name.strip("_").replace("_", "-")


def _tags(name: str, pairs: tuple[tuple[str, str], ...]) -> int:
    """Bytes of opener and closer without the digits of the markers."""
    total = _OPENER + _CLOSER + 2 * len(name)
    for key, value in pairs:
        total += len(key) + 4 + (len(value) if value.isascii() else byte_size(value))
    return total
