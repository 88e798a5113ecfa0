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

_TAGS = len('< end="-">') + len("</ ->") + 2 * KEY_LENGTH
"""Bytes of opener and closer without their names, their attributes and the digits of their markers."""
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Tags(Struct, frozen=True, gc=False):
    """How a block opens and closes, but for its marker. Made by `tags` and `bare`, which know the size."""

    name: str
    """The block's name."""
    attributes: dict[str, str]
    """What its opener says: names and escaped values, in order."""
    opener: str
    """The opener up to the marker."""
    closer: str
    """The closer up to the marker."""
    said: str
    """The values alone, line by line."""
    size: int
    """Bytes of both in UTF-8, without the digits of the markers."""


class Block(Struct, frozen=True, gc=False):
    """A piece of the report. Made by `text` and `group`, which know the sizes."""

    tags: Tags
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

    @property
    def name(self) -> str:
        """What its tags are called."""
        return self.tags.name

    @property
    def attributes(self) -> dict[str, str]:
        """What its opener says."""
        return self.tags.attributes

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
    if not value.isprintable():
        value = "".join(character if character.isprintable() else " " for character in value)
    if "&" in value or "<" in value or ">" in value or '"' in value:
        return value.translate(_ESCAPES)
    return value


def tags(name: str, attributes: Mapping[str, str | None]) -> Tags:
    """Tags with those of the attributes that say something, escaped."""
    said = {
        key: value if value.isalnum() else escaped(value)  # most are names and numbers
        for key, value in attributes.items()
        if value
    }
    return opened(name, said)


def opened(name: str, attributes: dict[str, str]) -> Tags:
    """Tags with attributes that need no escaping."""
    said = "".join([f' {key}="{value}"' for key, value in attributes.items()])
    size = _TAGS + 2 * len(name) + (len(said) if said.isascii() else byte_size(said))
    return Tags(name, attributes, f'<{name}{said} end="', f"</{name} ", "\n".join(attributes.values()), size)


@cache
def bare(name: str) -> Tags:
    """Tags that say nothing but a name of ours."""
    return opened(name, {})


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
        return Block(tags, content, size + 3, 2, 0, 1)
    return Block(tags, content, size + 1, 1, 0, 1)


def emptied(block: Block, omitted: str) -> Block:
    """The same block without its text, and with a word on what was there."""
    return leaf(opened(block.name, {**block.attributes, "omitted": escaped(omitted)}), "")


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
    return _held(tags, (), children, tags.size + 2, 2, 0, 1)


def extended(block: Block, children: Sequence[Block]) -> Block:
    """The same block with further blocks behind those that it holds; it holds blocks, or nothing."""
    if not children:
        return block
    if isinstance(block.content, str):
        return holding(block.tags, children)
    return _held(block.tags, block.content, children, block.plain, block.lines, block.inner, block.blocks)


def _held(
    tags: Tags, content: tuple[Block, ...], children: Sequence[Block], plain: int, lines: int, inner: int, blocks: int
) -> Block:
    """A block of what it holds so far, with these counts, and of children behind it."""
    for child in children:
        plain += child.plain
        lines += child.lines
        inner += child.lines + child.inner
        blocks += child.blocks
    return Block(tags, (*content, *children), plain, lines, inner, blocks)


def regrouped(block: Block, children: Sequence[Block], *, without: Collection[str] = ()) -> Block:
    """The same block with other blocks in it, and without the attributes of these names."""
    kept = {name: value for name, value in block.attributes.items() if name not in without}
    return holding(opened(block.name, kept), children)


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
    pieces, _ = _laid_out(block, prefix)
    return key.join(pieces)


def write_safely(block: Block, others: Iterable[str]) -> tuple[str, str]:
    """The text of a block and its key, which occurs neither in what the block says nor in these other strings."""
    pieces, strings = _laid_out(block)
    key = choose_key([*strings, *others])
    return key.join(pieces), key


def _laid_out(block: Block, prefix: str = "") -> tuple[list[str], list[str]]:
    """What stands before, between and behind the keys in a block's text; and all that it says and that is not ours, in
    the order of the openers."""
    marker = f"-{prefix}%0{digits(block.blocks)}d"
    markers = [marker % number for number in range(block.blocks - 1, -1, -1)]
    pieces: list[str] = []
    strings: list[str] = []
    pieces.append(_lay_out((block,), "", "", markers, pieces, strings))
    return pieces, strings


def _lay_out(
    blocks: tuple[Block, ...], indent: str, behind: str, markers: list[str], pieces: list[str], strings: list[str]
) -> str:
    """Adds what blocks in a row have, and gives what stands behind the last key so far. The markers that are left,
    without their keys, stand in reverse."""
    for block in blocks:
        tags, content, marker = block.tags, block.content, markers.pop()
        if tags.said:
            strings.append(tags.said)
        pieces.append(f"{behind}{indent}{tags.opener}")
        if not isinstance(content, str):
            behind = _lay_out(content, indent + _STEP, f'{marker}">\n', markers, pieces, strings)
            pieces.append(f"{behind}{indent}{tags.closer}")
        else:
            strings.append(content)
            if block.lines == 1:
                pieces.append(f'{marker}">{content}{tags.closer}')
            else:
                pieces.append(f'{marker}">\n{content}\n{indent}{tags.closer}')
        behind = f"{marker}>\n"
    return behind


def choose_key(strings: Iterable[str]) -> str:
    """A key that occurs in none of these strings, the same one every time. There are more keys than places in 4 GB. A
    checksum is enough to begin with: whoever foresees it and writes the key into a trace only makes us take another."""
    everything = "\n".join(strings)
    checksum = crc32(everything.encode("utf-8", "replace"))
    candidates = (sha256(f"{checksum}-{attempt}".encode()).hexdigest()[:KEY_LENGTH] for attempt in count())
    return next(key for key in candidates if key not in everything)


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
