"""The texts of a trajectory, joined into groups: most are short, and one search of a group is cheap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from dense.text.search import one_byte_each

BETWEEN = "\0"
"""Separates the texts of a group. No pattern matches across it."""
_MAX_GROUP_CHARS = 1 << 18
"""Few enough characters to stay in the processor's cache."""
_MIN_TEXT_CHARS = 8
"""No shorter text contains a secret; a password in a URL is longer with its URL."""


class TextGroup(Struct, frozen=True):
    """Some of the texts as one."""

    numbers: Sequence[int]
    """Their positions in the trajectory."""
    text: str
    """The texts, with `BETWEEN` between them."""
    plain: str
    """The same with one byte for each character, for `fast_search`."""


class Texts:
    """All texts of a trajectory in their order, and the same in groups."""

    def __init__(self, each: list[str]) -> None:
        self.each = each
        self.groups = group_texts(each, range(len(each)))


def group_texts(texts: list[str], numbers: Sequence[int]) -> list[TextGroup]:
    """These texts, in as few groups as possible."""
    whole = BETWEEN.join(texts if len(numbers) == len(texts) else [texts[number] for number in numbers])
    if len(whole) <= _MAX_GROUP_CHARS and whole.isascii():
        return [TextGroup(numbers, whole, whole)]
    return [
        TextGroup(group, text := BETWEEN.join([texts[number] for number in group]), one_byte_each(text))
        for group in _groups(texts, numbers)
    ]


def _groups(texts: list[str], numbers: Sequence[int]) -> Iterator[list[int]]:
    """ASCII texts apart from the others, which are much slower to map to one byte for each character."""
    for is_ascii in (True, False):
        group: list[int] = []
        size = 0
        for number in numbers:
            length = len(texts[number])
            if length < _MIN_TEXT_CHARS or texts[number].isascii() != is_ascii:
                continue
            if size + length > _MAX_GROUP_CHARS and group:
                yield group
                group, size = [], 0
            group.append(number)
            size += length
        if group:
            yield group
