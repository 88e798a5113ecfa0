"""The texts of a trajectory, put together to be looked through at once: most are short, and hold nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from dense.text.search import one_byte_each

BETWEEN = "\0"
"""Stands between texts that are looked through as one. No pattern reaches across it."""
_AT_ONCE = 1 << 18
"""Characters that are put together: few enough to stay in the cache of a processor."""
_SHORTEST = 8
"""No secret is shorter, except a password in a URL, which is longer with its URL."""


class Together(Struct, frozen=True):
    """Some of the texts as one."""

    numbers: Sequence[int]
    """Which they are."""
    text: str
    """The texts, with `BETWEEN` between them."""
    plain: str
    """The same with one byte for each character, for the engine of `words`."""


class Texts:
    """All texts of a trajectory in their order, and the same put together."""

    def __init__(self, each: list[str]) -> None:
        self.each = each
        self.together = put_together(each, range(len(each)))


def put_together(texts: list[str], numbers: Sequence[int]) -> list[Together]:
    """These of the texts, in as few groups as may be."""
    whole = BETWEEN.join(texts if len(numbers) == len(texts) else [texts[number] for number in numbers])
    if len(whole) <= _AT_ONCE and whole.isascii():
        return [Together(numbers, whole, whole)]
    return [
        Together(group, text := BETWEEN.join([texts[number] for number in group]), one_byte_each(text))
        for group in _groups(texts, numbers)
    ]


def _groups(texts: list[str], numbers: Sequence[int]) -> Iterator[list[int]]:
    """Those that have only ASCII's characters apart from the others, which are many times slower to make plain."""
    for is_ascii in (True, False):
        group: list[int] = []
        size = 0
        for number in numbers:
            length = len(texts[number])
            if length < _SHORTEST or texts[number].isascii() != is_ascii:
                continue
            if size + length > _AT_ONCE and group:
                yield group
                group, size = [], 0
            group.append(number)
            size += length
        if group:
            yield group
