"""Patterns that are searched for a hundred times faster where they do not match, which is nearly everywhere.

The Rust engine of `dense.text.search` says first whether there may be a match. It knows no looking ahead and behind: it
gets the pattern without, which matches at least where the pattern does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from dense.text.search import fast_search

PART = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\(\?(?:<?[=!]|>)|[().$]", re.DOTALL)
"""The parts of a pattern that the two engines write differently, and those that must be passed over to find them."""
IN_CLASS = re.compile(r"(?<!^)[\[&~#]|\\.", re.DOTALL)
"""Characters that mean something to the Rust engine within brackets."""
CLASSES = {r"\w": "0-9A-Za-z_", r"\d": "0-9", r"\s": r"\t-\r\x1c-\x20"}
BEYOND_ASCII = r"\x80-\x{17e}\x{180}-\x{2129}\x{212b}-\x{10ffff}"
"""Without the two characters that are ASCII letters in another case."""
ANCHORS = {r"\b": r"(?-u:\b)", r"\B": r"(?-u:\B)", r"\Z": r"\z", "(?>": "(?:"}
FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}


class GuardedPattern:
    """A pattern with a guard before it. A text that is not ASCII is searched without."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if not text.isascii() or self._guard(text) else None

    def findall(self, text: str) -> list[Any]:
        return self.pattern.findall(text) if not text.isascii() or self._guard(text) else []

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if not text.isascii() or self._guard(text) else iter(())

    @cached_property
    def _guard(self) -> Callable[[str], bool]:
        flags = "".join([letter for flag, letter in FLAGS.items() if self.pattern.flags & flag])
        return fast_search(f"(?{flags}){guard_of(self.pattern)}" if flags else guard_of(self.pattern))


def guard_of(pattern: re.Pattern[str]) -> str:
    """A pattern for the Rust engine that matches in every ASCII text in which this one does. All of Unicode would make
    it too large."""
    source, kept, done, depth = pattern.pattern, list[str](), 0, 0
    for match in PART.finditer(source):
        part = match[0]
        if depth:  # within what looks ahead or behind
            depth += (part[0] == "(") - (part == ")")
        else:
            kept.append(source[done : match.start()])
            if part.startswith("(?") and part != "(?>":
                depth = 1
            else:
                kept.append(_translated(part, pattern.flags))
        done = match.end()
    return "".join(kept) + source[done:]


def _translated(part: str, flags: int) -> str:
    if part[0] == "[":
        inner = IN_CLASS.sub(
            lambda match: CLASSES.get(match[0], match[0] if match[0][0] == "\\" else "\\" + match[0]), part
        )
        inner = inner.replace(" ", r"\x20") if flags & re.VERBOSE else inner
        return f"{inner[:-1]}{BEYOND_ASCII}]" if inner[1] == "^" else inner
    if part.lower() in CLASSES:
        members = CLASSES[part.lower()]
        return f"[{members}]" if part.islower() else f"[^{members}{BEYOND_ASCII}]"
    if part == ".":
        return f"[^{'' if flags & re.DOTALL else chr(92) + 'n'}{BEYOND_ASCII}]"
    if part == "$" and not flags & re.MULTILINE:
        return r"(?:\n?\z)"
    return ANCHORS.get(part, part)
