"""Where in a text something may be found: most of a long output holds nothing of interest.

Python's expressions tell where a match is, at some dozens of instructions for each character. `dense.text.search` has
some that only tell whether there is one, at a few. So they look at the text piece by piece, and Python only at the
pieces that hold something."""

from __future__ import annotations

import re
from collections.abc import Callable

from dense.text.search import one_byte_each

PIECE = 1_600
"""Characters of a piece, at least: it ends with a line."""
SMALL = 240
"""Pieces of fewer characters are not halved."""


def pieces(text: str, holds: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Where the pieces of a text begin and end that hold something, in order. Each begins with a line feed, if the text
    does. `holds` sees a question mark for each character that has no single byte."""
    text = one_byte_each(text)
    found: list[tuple[int, int]] = []
    start, size = 0, len(text)
    while start < size:
        end = text.find("\n", start + PIECE)
        end = size if end < 0 else end
        if holds(text[start:end]):
            found.append(narrowed(text, holds, start, end))
        start = end
    return found


def narrowed(text: str, holds: Callable[[str], bool], start: int, end: int) -> tuple[int, int]:
    """A piece that holds something, without halves of it that hold nothing."""
    while end - start > SMALL:
        middle = text.find("\n", (start + end) // 2, end)
        if middle < 0:
            break
        if not holds(text[start:middle]):
            start = middle
        elif not holds(text[middle:end]):
            end = middle
        else:
            break
    return start, end


def one_of(*words: str) -> str:
    """An expression for one of these words."""
    return "|".join(map(re.escape, words))


def roughly(expression: str) -> str:
    """An expression for `holds`, of one of Python's: it has no look ahead and no ends of words, so it matches more."""
    fewer = re.sub(r"\(\?[=!](?:[^()\\]|\\.)*\)|\\b", "", expression)
    return re.sub(r"[^\0-\xff]", r"\\?", fewer).replace(r"\w", r"[^ \n]")
