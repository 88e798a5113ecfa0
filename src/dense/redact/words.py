"""Whether a text holds one of a few words, many times faster than by looking for them one after the other.

Pydantic's validators search with a regular-expression engine that looks for several words at once, at the speed of
memory; they only say whether, not where. That is all that is asked of most texts, which hold none. They also make small
letters of large ones, several at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated


@cache
def any_of(*words: str) -> Callable[[str], bool]:
    """What tells whether a text holds one of these words. They are ASCII."""
    return matching("|".join(map(re.escape, words)))


@cache
def matching(pattern: str) -> Callable[[str], bool]:
    """What tells whether a text has a match of an expression of that engine, which does not look ahead or behind. The
    text must have no half characters, of which these validators will not hear (`one_byte_each`)."""
    from pydantic import StringConstraints, TypeAdapter  # not for those who only read traces

    return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)]).validator.isinstance_python


@cache
def searching(pattern: str) -> Callable[[str], bool]:
    """What tells whether a text has a match of an expression that means the same to both engines. A text that is not
    ASCII is searched by Python's: the two differ about some of its letters."""
    quick, slow = matching(pattern), re.compile(pattern).search
    return lambda text: quick(text) if text.isascii() else slow(text) is not None


def lowered(text: str) -> str:
    """A text of one byte for each character with ASCII's letters in lower case. Worth while for long texts only."""
    return _lowering()(text) if text.isascii() else str(text.encode("latin-1").lower(), "latin-1")


@cache
def _lowering() -> Callable[[str], str]:
    from pydantic import StringConstraints, TypeAdapter

    return TypeAdapter(Annotated[str, StringConstraints(to_lower=True)]).validator.validate_python


def one_byte_each(text: str) -> str:
    """The text with a question mark for each character that has no single byte."""
    return text if text.isascii() else text.encode("latin-1", "replace").decode("latin-1")
