"""Search a text for many words or patterns at once.

`contains_any` says whether to look closer: whoever searches outputs by a pattern asks first for the words without which
it cannot match, because most outputs have none. `fast_search` is for the few patterns that pass over every character of
a trace. Both ask the Rust regex engine inside pydantic, which is installed anyway. Decision 0012 has the measurements,
`bench/search_engines.py` repeats them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated


def contains_any(text: str, words: tuple[str, ...]) -> bool:
    """Whether a text contains at least one of the words."""
    return _any_word(words)(text) if text.isascii() else any(map(text.__contains__, words))


def matcher(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """A function that says whether a pattern that does not look ahead or behind has a match in a text: ten times faster
    than its `search`, if the text is ASCII. A `$` in it matches at the end alone, not before a last line feed."""
    flags = "i" * bool(pattern.flags & re.IGNORECASE) + "m" * bool(pattern.flags & re.MULTILINE)
    fast = cache(lambda: fast_search(f"(?{flags}){pattern.pattern}" if flags else pattern.pattern))
    return lambda text: fast()(text) if text.isascii() else pattern.search(text) is not None


def lines_with(text: str, words: tuple[str, ...]) -> list[str]:
    """The lines of a text that contain at least one of the words, in order."""
    spans: dict[int, int] = {}
    for word in words:
        at = text.find(word)
        while at >= 0:
            end = text.find("\n", at)
            end = end if end >= 0 else len(text)
            spans[text.rfind("\n", 0, at) + 1] = end
            at = text.find(word, end)
    return [text[start : spans[start]] for start in sorted(spans)]


def holds_quote(text: str, quote: str) -> bool:
    """Whether a text contains a quote that is not blank, whatever blanks are between its words."""
    words = quote.split()
    line = " ".join(words)
    if not line or line in text:
        return bool(line)
    return all(map(text.__contains__, words)) and line in " ".join(text.split())


def line_with_quote(text: str, quote: str) -> str | None:
    """The first line of a text that contains a quote, in the same sense."""
    longest = max(quote.split(), key=len, default="")
    return next((line for line in lines_with(text, (longest,)) if holds_quote(line, quote)), None) if longest else None


@cache
def _any_word(words: tuple[str, ...]) -> Callable[[str], bool]:
    """Searches an ASCII text: other words cannot be in it."""
    possible = [re.escape(word) for word in words if word.isascii()]
    return fast_search("|".join(possible)) if possible else lambda _: False


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
