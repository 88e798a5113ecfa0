"""The search for many words gives the same answer as a search for each."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from dense.text.search import (
    contains_any,
    fast_search,
    holds_quote,
    line_with_quote,
    lines_with,
    lower_ascii,
    matcher,
    one_byte_each,
)

WORDS = ("key", "sig=", "a.b", "(x", "dense-feedback-")
PATTERN = "|".join(map(re.escape, WORDS))
pieces = st.sampled_from([*WORDS, "ke", "y", "a-b", "KEY", "É", "é", "本", "\ud800", "\0", "\n", " "])
texts = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


@settings(deadline=None)  # the first search compiles the pattern
@given(texts)
def test_both_searches_agree_with_re(text: str) -> None:
    is_there = re.search(PATTERN, text) is not None
    assert contains_any(text, WORDS) == is_there
    assert contains_any(text * 40, WORDS) == (re.search(PATTERN, text * 40) is not None)
    assert fast_search(PATTERN)(one_byte_each(text)) == is_there


@given(texts)
def test_positions_stay_the_same(text: str) -> None:
    plain = one_byte_each(text)
    assert len(plain) == len(text)
    assert all(one == other for one, other in zip(plain, text, strict=True) if ord(other) < 256)
    assert lower_ascii(plain) == str(plain.encode("latin-1").lower(), "latin-1")


@settings(deadline=None)
@given(texts)
def test_matches_agrees_with_re(text: str) -> None:
    for pattern in (re.compile(r"^key$|sig=\b"), re.compile(r"^KEY\b", re.IGNORECASE | re.MULTILINE)):
        assert matcher(pattern)(text) == (pattern.search(text) is not None)


def test_words_beyond_ascii_are_in_no_ascii_text() -> None:
    assert not contains_any("a" * 500, ("█", "本"))
    assert contains_any("a" * 500 + "本", ("█", "本"))


@given(texts)
def test_lines_with_words_are_those_that_contain_one(text: str) -> None:
    assert lines_with(text, WORDS) == [line for line in text.split("\n") if any(word in line for word in WORDS)]


@given(st.lists(st.sampled_from(["a", "key", "b.c"]), max_size=3), texts)
def test_a_quote_is_found_whatever_blanks_it_has(words: list[str], text: str) -> None:
    around = f"{text}\n x {'  '.join(words)}\t{text}"
    assert holds_quote(around, "\n".join(words)) == bool(words)
    line = line_with_quote(around, " ".join(words))
    assert (line is not None and " ".join(words) in " ".join(line.split())) if words else line is None
