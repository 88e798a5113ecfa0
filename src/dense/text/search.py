"""Search a text for many words or patterns at once.

`contains_any` is plain `in` and enough nearly everywhere. `fast_search` is for the few searches that pass over every
character of a trace: it asks the Rust regex engine inside pydantic, which is installed anyway. Decision 0012 has the
measurements, `bench/search_engines.py` repeats them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated


def contains_any(text: str, words: Iterable[str]) -> bool:
    """Whether a text contains at least one of the words."""
    return any(map(text.__contains__, words))


@cache
def fast_search(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text has a match, not where.

    The pattern must not look ahead or behind. The text must contain no surrogates: pass it through `one_byte_each`."""
    from pydantic import StringConstraints, TypeAdapter  # slow to import; not needed to read traces

    return TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)]).validator.isinstance_python


def one_byte_each(text: str) -> str:
    """The text with `?` for each character beyond Latin-1, so that positions stay the same."""
    return text if text.isascii() else text.encode("latin-1", "replace").decode("latin-1")


def lower_ascii(text: str) -> str:
    """The text with the ASCII letters in lower case; the text must be `one_byte_each`."""
    return text.lower() if text.isascii() else str(text.encode("latin-1").lower(), "latin-1")
