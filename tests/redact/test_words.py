"""Whether a text holds one of a few words: the same answer as looking for each of them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dense.redact.words import any_of, one_byte_each

WORDS = ("key", "sig=", "a.b", "(x", "dense-feedback-")
pieces = st.sampled_from([*WORDS, "ke", "y", "a-b", "é", "本", "\ud800", "\0", "\n", " "])


@settings(deadline=None)  # the first one makes the validators
@given(st.lists(pieces | st.text(max_size=4), max_size=12).map("".join))
def test_it_says_what_searching_says(text: str) -> None:
    plain = one_byte_each(text)
    assert len(plain) == len(text)
    assert any_of(*WORDS)(plain) == any(word in text for word in WORDS)
    for word in WORDS:
        assert any_of(word)(plain) == (word in text)
