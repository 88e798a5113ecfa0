"""The texts of a trajectory, joined into groups: most are short, and one search of a group is cheap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from dense.text.search import one_byte_each

BETWEEN = "\0"
"""Separates the texts of a group. No pattern matches across it."""
_MAX_GROUP_CHARS = 1 << 16
"""Few enough characters to stay in the processor's cache."""
_MAX_KEPT_CHARS = 1 << 23
"""Characters of a trajectory whose groups are kept."""
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
        self._groups = list(group_texts(each, range(len(each)))) if _is_small(each) else None

    @property
    def groups(self) -> Iterable[TextGroup]:
        """The groups; those of a large trajectory are made anew each time, because all at once are a copy of it."""
        return group_texts(self.each, range(len(self.each))) if self._groups is None else self._groups


def _is_small(texts: list[str]) -> bool:
    return sum(map(len, texts)) <= _MAX_KEPT_CHARS


def group_texts(texts: list[str], numbers: Sequence[int]) -> Iterator[TextGroup]:
    """These texts, in as few groups as possible."""
    chosen = texts if len(numbers) == len(texts) else [texts[number] for number in numbers]
    if sum(map(len, chosen)) + len(chosen) <= _MAX_GROUP_CHARS:
        whole = BETWEEN.join(chosen)
        if whole.isascii():
            yield TextGroup(numbers, whole, whole)
            return
    for group in _groups(texts, numbers):
        text = BETWEEN.join([texts[number] for number in group])
        yield TextGroup(group, text, one_byte_each(text))


def _groups(texts: list[str], numbers: Sequence[int]) -> Iterator[list[int]]:
    """ASCII texts apart from the others, which are much slower to map to one byte for each character."""
    long_enough = [number for number in numbers if len(texts[number]) >= _MIN_TEXT_CHARS]
    ascii_ones = [number for number in long_enough if texts[number].isascii()]
    others = (
        [number for number in long_enough if not texts[number].isascii()] if len(ascii_ones) < len(long_enough) else []
    )
    for chosen in (ascii_ones, others):
        first = size = 0
        for index, number in enumerate(chosen):
            length = len(texts[number])
            if size + length > _MAX_GROUP_CHARS and index > first:
                yield chosen[first:index]
                first, size = index, 0
            size += length
        if chosen:
            yield chosen[first:]
