"""The parts in which two texts or two JSON values differ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

MAX_ENTRIES = 50
"""Entries of a list or an object that are compared."""
MAX_DEPTH = 6


def differing_parts(new: str, old: str, limit: int, around: int = 0) -> tuple[str, str]:
    """Two texts, or of long ones the whole words in which they differ, with `around` characters of context."""
    if max(len(new), len(old)) <= limit or not old:
        return new, old
    start = common_prefix_length(new, old)
    end = common_prefix_length(new[start:][::-1], old[start:][::-1])
    start = max(new.rfind(" ", 0, max(start - around, 0)) + 1, start - limit // 2)
    end = max(0, end - around)
    rest = new[len(new) - end :].partition(" ")[0] if end else ""
    end -= len(rest) if len(rest) <= limit // 2 else 0  # to the end of a word
    return new[start : len(new) - end], old[start : len(old) - end]


def common_prefix_length(a: str, b: str) -> int:
    """How many characters two texts have in common at the beginning."""
    return next((n for n, (own, other) in enumerate(zip(a, b, strict=False)) if own != other), min(len(a), len(b)))


def differing_leaves(new: Any, old: Any, name: str, depth: int = MAX_DEPTH) -> Iterator[tuple[str, Any, Any]]:
    """The single values in which two lists or objects differ, each with its path: `payments[0].amount`."""
    if new == old:
        return
    if depth and isinstance(new, dict) and isinstance(old, dict):
        entries, other = cast("dict[str, Any]", new), cast("dict[str, Any]", old)
        for key in islice(dict.fromkeys([*entries, *other]), MAX_ENTRIES):
            yield from differing_leaves(entries.get(key), other.get(key), f"{name}.{key}", depth - 1)
    elif depth and isinstance(new, list) and isinstance(old, list):
        ours, theirs = cast("list[Any]", new), cast("list[Any]", old)
        if len(ours) != len(theirs):
            yield name, new, old
            return
        for index in range(min(len(ours), MAX_ENTRIES)):
            yield from differing_leaves(ours[index], theirs[index], f"{name}[{index}]", depth - 1)
    else:
        yield name, new, old
