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

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import count
from zlib import crc32

from msgspec import Struct

KEY_LENGTH = 8
INDENT = 2
_STEP = " " * INDENT

WIDTH_KNOWN = 3
"""Numbers of blocks are kept for the next time up to so many digits."""

_MARKERS = len('-">') + len("->") + 2 * KEY_LENGTH
"""Bytes of what follows opener and closer, without the digits."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Tags(Struct, frozen=True, gc=False):
    """How a block opens and closes, but for its marker. Made by `tags` and `bare`, which know the size."""

    name: str
    """The block's name."""
    keys: tuple[str, ...]
    """The names of its attributes."""
    values: tuple[str, ...]
    """What they say, escaped."""
    opener: str
    """The opener up to the marker."""
    closer: str
    """The closer up to the marker."""
    size: int
    """Bytes of both in UTF-8, without the digits of the markers."""


class Block(Struct, frozen=True, gc=False):
    """A piece of the report. Made by `text` and `group`, which know the sizes."""

    tags: Tags
    content: str | tuple[Block, ...]
    """A text, verbatim, or further blocks."""
    plain: int
    """Bytes in UTF-8 with all below it when it stands at the margin, without the digits of the markers."""
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
        """What its opener says: names and escaped values, in order."""
        return dict(zip(self.tags.keys, self.tags.values, strict=True))

    @property
    def parts(self) -> tuple[Block, ...]:
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
    """An attribute's value that cannot leave its quotes nor its line, nor steer a terminal."""
    if value.isalnum():  # most are names and numbers
        return value
    if not value.isprintable():
        value = "".join(character if character.isprintable() else " " for character in value)
    if "&" in value or "<" in value or ">" in value or '"' in value:
        return value.translate(_ESCAPES)
    return value


def tags(name: str, attributes: Mapping[str, str | None]) -> Tags:
    """Tags with those of the attributes that say something, escaped."""
    keys = tuple([key for key, value in attributes.items() if value])
    return opened(name, keys, tuple([escaped(value) for value in attributes.values() if value]))


def opened(name: str, keys: tuple[str, ...], values: tuple[str, ...]) -> Tags:
    """Tags with attributes that need no escaping."""
    opening, closer = _shape(name, keys)
    opener = opening % values
    size = _MARKERS + len(closer) + (len(opener) if opener.isascii() else byte_size(opener))
    return Tags(name, keys, values, opener, closer, size)


@cache
def _shape(name: str, keys: tuple[str, ...]) -> tuple[str, str]:
    """What tags of this name with these attributes, all of them words of ours, look like: the opener with a place for
    each value, and the closer."""
    return "".join([f"<{name}", *(f' {key}="%s"' for key in keys), ' end="']), f"</{name} "


@cache
def bare(name: str) -> Tags:
    """Tags that say nothing but a name of ours."""
    return opened(name, (), ())


def text(name: str, content: str, /, **attributes: str | None) -> Block:
    """A block that holds a text, byte by byte."""
    return leaf(tags(name, _hyphened(attributes)), content)


def leaf(tags: Tags, content: str) -> Block:
    """The same with tags that somebody has."""
    if content.isascii():
        size = tags.size + len(content)
    else:
        content, measured = _measured(content)
        size = tags.size + measured
    if "\n" in content:
        return Block(tags, content, size + 3, 2, 1)
    return Block(tags, content, size + 1, 1, 1)


def emptied(block: Block, omitted: str) -> Block:
    """The same block without its text, and with a word on what was there."""
    tags = block.tags
    return leaf(opened(tags.name, (*tags.keys, "omitted"), (*tags.values, escaped(omitted))), "")


def body_size(block: Block) -> int:
    """The bytes of a block's text, without its tags."""
    return block.plain - block.tags.size - (1 if block.lines == 1 else 3)


def group(name: str, children: Sequence[Block], /, **attributes: str | None) -> Block:
    """A block that holds blocks."""
    return holding(tags(name, _hyphened(attributes)), children)


def holding(tags: Tags, children: Sequence[Block]) -> Block:
    """The same with tags that somebody has."""
    if not children:
        return leaf(tags, "")
    plain, inside, blocks = tags.size + 2, 0, 1
    for child in children:
        plain += child.plain
        inside += child.lines
        blocks += child.blocks
    # Its own tags stand on lines of their own.
    return Block(tags, tuple(children), plain + INDENT * inside, inside + 2, blocks)


def extended(block: Block, children: Sequence[Block]) -> Block:
    """The same block with further blocks behind those that it holds; it holds blocks, or nothing."""
    return holding(block.tags, (*block.parts, *children)) if children else block


def regrouped(block: Block, children: Sequence[Block], *, without: Collection[str] = ()) -> Block:
    """The same block with other blocks in it, and without the attributes of these names."""
    kept = {name: value for name, value in block.attributes.items() if name not in without}
    return holding(opened(block.name, tuple(kept), tuple(kept.values())), children)


def size(block: Block, depth: int = 0, width: int | None = None) -> int:
    """Bytes of a block that stands at this depth, in a report whose block numbers have this many digits."""
    if width is None:
        width = digits(block.blocks)
    return block.plain + INDENT * depth * block.lines + 2 * width * block.blocks


def unindented(block: Block) -> int:
    """Bytes of a block if nothing in it were indented, without the digits of the markers."""
    below = block.parts
    return block.tags.size + 2 + sum([unindented(part) for part in below]) if below else block.plain


def digits(blocks: int) -> int:
    """How wide the numbers of so many blocks are: all the same, so that none is the beginning of another."""
    return len(str(max(blocks - 1, 0)))


def write(block: Block, key: str, prefix: str = "") -> str:
    """The text of a block, numbered from its own opener on."""
    pieces: list[str] = []
    _put((block,), "", f"{key}-{prefix}", iter(_numbers(block.blocks)), pieces)
    return "".join(pieces)


def _numbers(blocks: int) -> Sequence[str]:
    """The numbers of so many blocks, and perhaps more."""
    width = digits(blocks)
    return _all_numbers(width) if width <= WIDTH_KNOWN else [f"{number:0{width}d}" for number in range(blocks)]


@cache
def _all_numbers(width: int) -> tuple[str, ...]:
    return tuple([f"{number:0{width}d}" for number in range(10**width)])


def _put(blocks: Iterable[Block], indent: str, head: str, numbers: Iterator[str], pieces: list[str]) -> None:
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
    """A key that occurs in none of these strings, the same one every time. There are more keys than places in 4 GB. A
    checksum is enough to begin with: whoever foresees it and writes the key into a trace only makes us take another."""
    everything = "\n".join(strings)
    if everything.isascii():
        data = everything.encode()
    else:  # one by one: most are plain, and encoded much faster as long as they stand alone
        data = b"\n".join([string.encode("utf-8", "replace") for string in strings])
    candidates = (sha256(f"{crc32(data)}-{attempt}".encode()).hexdigest()[:KEY_LENGTH] for attempt in count())
    return next(key for key in candidates if key not in everything)


def strings(block: Block) -> list[str]:
    """All that a block says and that is not ours, in the order of the openers."""
    found: list[str] = []
    _gather((block,), found)
    return found


def _gather(blocks: Iterable[Block], found: list[str]) -> None:
    for block in blocks:
        content = block.content
        found += block.tags.values
        if isinstance(content, str):
            found.append(content)
        else:
            _gather(content, found)


def walk(block: Block, depth: int = 0) -> Iterator[tuple[Block, int]]:
    """A block and all below it with their depths, in the order of their openers."""
    waiting = [(block, depth)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        if isinstance(part.content, tuple):
            waiting += [(child, depth + 1) for child in reversed(part.content)]


def _measured(content: str) -> tuple[str, int]:
    """What `encodable` and `byte_size` give, with a large text encoded once and never copied."""
    try:
        return content, len(content.encode())
    except UnicodeEncodeError:
        data = content.encode("utf-8", "replace")
        return data.decode(), len(data)


def _hyphened(attributes: Mapping[str, str | None]) -> dict[str, str | None]:
    """Python's underscores are the markup's hyphens."""
    return {name.strip("_").replace("_", "-"): value for name, value in attributes.items()}
