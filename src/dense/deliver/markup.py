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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import count

from msgspec import Struct

KEY_LENGTH = 8
INDENT = 2
_STEP = " " * INDENT

_TAGS = len('< end="-">') + len("</ ->") + 2 * KEY_LENGTH
"""Bytes of opener and closer without their names, their attributes and the digits of their markers."""
_MUST_ESCAPE = re.compile('[&<>"]')
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})

type Pairs = tuple[tuple[str, str], ...]
"""Names of attributes and their escaped values, in order."""


class Block(Struct, frozen=True, gc=False):
    """A piece of the report. Made by `text` and `group`, which know the sizes."""

    name: str
    """The tag."""
    attributes: Pairs
    """What its opener says."""
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
    said: str
    """Its attributes as they stand in the opener."""


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
    return leaf(name, pairs(attributes), content)


def emptied(block: Block, omitted: str) -> Block:
    """The same block without its text, and with a word on what was there."""
    return leaf(block.name, (*block.attributes, ("omitted", escaped(omitted))), "")


def body_size(block: Block) -> int:
    """The bytes of a block's text, without its tags."""
    return block.plain - _tags(block.name, block.said) - (1 if block.lines == 1 else 3)


def group(name: str, children: Iterable[Block], /, **attributes: str | None) -> Block:
    """A block that holds blocks."""
    return grouped(name, pairs(attributes), children)


def grouped(name: str, given: Pairs, children: Iterable[Block]) -> Block:
    """The same with attributes that are escaped already."""
    children = tuple(children)
    if not children:
        return leaf(name, given, "")
    said = _said(given)
    return extended(Block(name, given, (), _tags(name, said) + 2, 2, 0, 1, said), children)


def extended(block: Block, children: Sequence[Block]) -> Block:
    """The same block with further blocks behind those that it holds; it holds blocks, or nothing."""
    if not children:
        return block
    if isinstance(block.content, str):
        return grouped(block.name, block.attributes, children)
    plain, lines, inner, blocks = block.plain, block.lines, block.inner, block.blocks
    for child in children:
        plain += child.plain
        lines += child.lines
        inner += child.lines + child.inner
        blocks += child.blocks
    return Block(block.name, block.attributes, (*block.content, *children), plain, lines, inner, blocks, block.said)


def regrouped(block: Block, children: Iterable[Block], *, without: Collection[str] = ()) -> Block:
    """The same block with other blocks in it, and without the attributes of these names."""
    return grouped(block.name, tuple([pair for pair in block.attributes if pair[0] not in without]), children)


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
    width = digits(block.blocks)
    markers = [f"{key}-{prefix}{str(number).zfill(width)}" for number in reversed(range(block.blocks))]
    pieces: list[str] = []
    _put(block, "", markers, pieces)
    return "".join(pieces)


def _put(block: Block, indent: str, markers: list[str], pieces: list[str]) -> None:
    """Adds the pieces of a block's text; the markers that are left stand in reverse."""
    name, content, marker = block.name, block.content, markers.pop()
    if not isinstance(content, str):
        pieces.append(f'{indent}<{name}{block.said} end="{marker}">\n')
        deeper = indent + _STEP
        for child in content:
            _put(child, deeper, markers, pieces)
        pieces.append(f"{indent}</{name} {marker}>\n")
    elif "\n" not in content:
        pieces.append(f'{indent}<{name}{block.said} end="{marker}">{content}</{name} {marker}>\n')
    else:  # A text of several lines is mostly long: it is not copied before all is joined.
        pieces += f'{indent}<{name}{block.said} end="{marker}">\n', content, f"\n{indent}</{name} {marker}>\n"


def choose_key(strings: Iterable[str]) -> str:
    """A key that occurs in none of these strings, the same one every time. There are more keys than places in 4 GB."""
    everything = "\n".join(strings)
    digest = sha256(everything.encode("utf-8", "replace")).digest()
    candidates = (sha256(digest + str(attempt).encode()).hexdigest()[:KEY_LENGTH] for attempt in count())
    return next(key for key in candidates if key not in everything)


def strings(block: Block) -> list[str]:
    """All that a block says and that is not ours, in the order of the openers."""
    found: list[str] = []
    waiting = [block]
    while waiting:
        part = waiting.pop()
        for _, value in part.attributes:
            found.append(value)
        if isinstance(part.content, str):
            found.append(part.content)
        else:
            waiting += part.content[::-1]
    return found


def walk(block: Block, depth: int = 0) -> Iterator[tuple[Block, int]]:
    """A block and all below it with their depths, in the order of their openers."""
    waiting = [(block, depth)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        if isinstance(part.content, tuple):
            waiting += [(child, depth + 1) for child in reversed(part.content)]


def leaf(name: str, given: Pairs, content: str) -> Block:
    """A block that holds a text, with attributes that are escaped already."""
    if content.isascii():
        size = len(content)
    else:
        content, size = _measured(content)
    said = _said(given) if given else ""
    plain = _tags(name, said) + size
    if "\n" in content:
        return Block(name, given, content, plain + 3, 2, 0, 1, said)
    return Block(name, given, content, plain + 1, 1, 0, 1, said)


def _measured(content: str) -> tuple[str, int]:
    """What `encodable` and `byte_size` give, with a large text encoded once and never copied."""
    try:
        return content, len(content.encode())
    except UnicodeEncodeError:
        data = content.encode("utf-8", "replace")
        return data.decode(), len(data)


def pairs(attributes: Mapping[str, str | None]) -> Pairs:
    """Attributes that say something, escaped."""
    if not attributes:
        return ()
    return tuple(
        [
            (_hyphened(name), value if value.isalnum() else escaped(value))  # most are names and numbers
            for name, value in attributes.items()
            if value
        ]
    )


@cache
def _hyphened(name: str) -> str:
    """Python's underscores are the markup's hyphens."""
    return name.strip("_").replace("_", "-")


def _said(given: Pairs) -> str:
    return "".join([f' {name}="{value}"' for name, value in given])


def _tags(name: str, said: str) -> int:
    """Bytes of opener and closer without the digits of the markers."""
    return _TAGS + 2 * len(name) + (len(said) if said.isascii() else byte_size(said))
