"""The search for many words gives the same answer as a search for each."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from dense.text.search import contains_any, fast_search, lower_ascii, one_byte_each

WORDS = ("key", "sig=", "a.b", "(x", "dense-feedback-")
PATTERN = "|".join(map(re.escape, WORDS))
pieces = st.sampled_from([*WORDS, "ke", "y", "a-b", "KEY", "É", "é", "本", "\ud800", "\0", "\n", " "])
texts = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


@settings(deadline=None)  # the first search compiles the pattern
@given(texts)
def test_both_searches_agree_with_re(text: str) -> None:
    is_there = re.search(PATTERN, text) is not None
    assert contains_any(text, WORDS) == is_there
    assert fast_search(PATTERN)(one_byte_each(text)) == is_there


@given(texts)
def test_positions_stay_the_same(text: str) -> None:
    plain = one_byte_each(text)
    assert len(plain) == len(text)
    assert all(one == other for one, other in zip(plain, text, strict=True) if ord(other) < 256)
    assert lower_ascii(plain) == str(plain.encode("latin-1").lower(), "latin-1")
