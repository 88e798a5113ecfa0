"""Where two values differ, in as few words as tell it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

MOST_ENTRIES = 50
"""So many entries of a list or a record are compared."""
DEEPEST = 6


def differing(new: str, old: str, limit: int, around: int = 0) -> tuple[str, str]:
    """Two texts, or of long ones the pieces in which they differ, whole words of them, with so much of what stands
    `around` them."""
    if max(len(new), len(old)) <= limit or not old:
        return new, old
    start = common(new, old)
    end = common(new[start:][::-1], old[start:][::-1])
    start = max(new.rfind(" ", 0, max(start - around, 0)) + 1, start - limit // 2)
    end = max(0, end - around)
    rest = new[len(new) - end :].partition(" ")[0] if end else ""
    end -= len(rest) if len(rest) <= limit // 2 else 0  # to the end of a word
    return new[start : len(new) - end], old[start : len(old) - end]


def common(a: str, b: str) -> int:
    """How far two texts are the same."""
    return next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))


def leaves(new: Any, old: Any, name: str, depth: int = DEEPEST) -> Iterator[tuple[str, Any, Any]]:
    """The single values in which two lists or records differ, each by where it stands: `payments[0].amount`."""
    if new == old:
        return
    if depth and isinstance(new, dict) and isinstance(old, dict):
        one, other = cast("dict[str, Any]", new), cast("dict[str, Any]", old)
        for key in islice(dict.fromkeys([*one, *other]), MOST_ENTRIES):
            yield from leaves(one.get(key), other.get(key), f"{name}.{key}", depth - 1)
    elif depth and isinstance(new, list) and isinstance(old, list):
        ours, theirs = cast("list[Any]", new), cast("list[Any]", old)
        if len(ours) != len(theirs):
            yield name, new, old
            return
        for place in range(min(len(ours), MOST_ENTRIES)):
            yield from leaves(ours[place], theirs[place], f"{name}[{place}]", depth - 1)
    else:
        yield name, new, old
