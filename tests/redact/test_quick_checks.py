"""The quick checks before the search for secrets never miss one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.redact.rules.contexts import CONTEXTS, _anchors  # pyright: ignore[reportPrivateUsage]
from dense.redact.rules.password_commands import PASSWORD_RULES, PIPED
from dense.redact.rules.token_formats import TOKEN_FORMATS, TokenFormat, may_contain_token
from dense.text.search import lower_ascii, one_byte_each

values = st.text("aK1/+_.~-ſKı", min_size=16, max_size=44)
named = st.sampled_from(
    "api_ client_ SECRET Secret_Access_Key key AccountKey token --token auth Password Authorization authorızatİon "
    "hooks.slack.com/services/ hooks\\/123456789012345/".split()
)
between = st.text(" =:>\"'\\`])[\n\x1c\xa0\u3000b", max_size=9)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(named, between, values).map("".join), max_size=3).map("".join))
def test_a_sign_is_there_wherever_a_row_matches(text: str) -> None:
    lowered = lower_ascii(one_byte_each(text))
    for is_any_in, anchors in _anchors():
        for places, rows in anchors:
            found = {(match.start(), back) for _, pattern, _, back in rows for match in pattern.finditer(text)}
            assert not found or is_any_in(lowered), places
            if not any(back for _, back in found):
                assert {start for start, _ in found} <= {place.start() for place in places.finditer(lowered)}
    assert sum(len(anchors) for _, anchors in _anchors()) == len(CONTEXTS)


def test_anchors_are_in_lower_case() -> None:
    """They are looked for in a text in lower case: with a capital they are never met."""
    anchors = [*CONTEXTS, *PIPED, *(anchor for rule in PASSWORD_RULES for anchor in rule.anchors)]
    assert [anchor for anchor in anchors if anchor != anchor.lower()] == []


_LOOKS = re.compile(r"\(\?<?[=!][^()]*\)")
_POSSESSIVE = re.compile(r"(?<=[}*])\+")


@pytest.mark.parametrize("token", TOKEN_FORMATS, ids=lambda token: f"{token.label} {token.prefixes[0]}")
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_text_with_a_token_may_contain_one(token: TokenFormat, data: st.DataObject) -> None:
    prefix = data.draw(st.sampled_from(token.prefixes))
    rest = data.draw(st.from_regex(_POSSESSIVE.sub("", _LOOKS.sub("", token.rest)), fullmatch=True))
    assert may_contain_token(one_byte_each(f"本 12345678:{prefix}{rest} 本"))
