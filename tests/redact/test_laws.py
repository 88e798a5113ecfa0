"""Laws for any text: a second time changes nothing, what is not a mark is the source's own, time is in proportion."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from functools import partial

import pytest
from cpu_time import assert_growth, assert_within
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.redact import redact_text
from dense.redact.rules.token_formats import TOKEN_FORMATS

MARK = re.compile(r"\[redacted: [a-z0-9-]+ [0-9]+\]")
ALNUM = string.ascii_letters + string.digits
PREFIXES = sorted({prefix for token in TOKEN_FORMATS for prefix in token.prefixes})
BEGIN, END = "-----BEGIN RSA PRIV" + "ATE KEY-----", "-----END RSA PRIV" + "ATE KEY-----"
CONTEXTS = (
    "://user:|@host/|Bearer |Authorization: |Basic |api_key=|client_secret: '|password=|host=x |AccountKey=|?sv=1&sig=|"
    "AWS_SECRET_ACCESS_KEY=|hooks.slack.com/services/|/webhooks/123456789012345678/|[redacted: github-token 1]|8Q~|"
    "--token |--password |curl -u a:|PGPASSWORD=|mysql -p|echo |sudo -S|machine h login u password |h:5432:a:b:|"
    'IDENTIFIED BY \'|\\"password\\": \\"|%22password%22%3A%22|auth=(\'u\', \'|%3A%2F%2Fa%3Ab%40c|"kty": {|'
    "password is |cGFzc3dvcmQgPSAiaHVudGVyMjEhIgo=|Cookie: sessionid=|acme_live_"
).split("|")
PARTS = [*PREFIXES, *CONTEXTS, BEGIN, END, "\n", "\\n", "\0", *"\"' =:;.-_/+~é完"]


@st.composite
def pieces(draw: st.DrawFn) -> str:
    drawn = random.Random(draw(st.integers(0, 10**9)))
    chosen = draw(st.lists(st.sampled_from([*PARTS, "RANDOM"]), max_size=14))
    return "".join(
        "".join(drawn.choices(ALNUM + "+/_-", k=drawn.choice([6, 16, 20, 24, 36, 40, 43, 64, 86])))
        if part == "RANDOM"
        else part
        for part in chosen
    )


@given(pieces())
@settings(max_examples=600, deadline=None)
def test_a_second_time_changes_nothing(text: str) -> None:
    once, _ = redact_text(text, environment={})
    twice, redactions = redact_text(once, environment={})
    assert twice == once
    assert not redactions


@given(pieces())
@settings(max_examples=400, deadline=None)
def test_what_is_no_mark_is_the_sources_own(text: str) -> None:
    """The pieces between the marks stand in the source, in that order, and nothing was redacted that is not counted."""
    redacted, redactions = redact_text(text, environment={})
    place = 0
    for piece in MARK.split(redacted):
        found = text.find(piece, place)
        assert found >= 0
        place = found + len(piece)
    assert len(MARK.findall(redacted)) == len(MARK.findall(text)) + redactions.places
    assert bool(redactions) == (redacted != text)


@given(pieces())
@settings(max_examples=100, deadline=None)
def test_the_same_each_time(text: str) -> None:
    assert redact_text(text, environment={}) == redact_text(text, environment={})


HOSTILE_PARTS = [*PREFIXES[::6], *PARTS[len(PREFIXES) :]]
"""A sample of the prefixes, all others."""


def drawn(alphabet: str, length: int) -> str:
    return "".join(random.Random(1).choices(alphabet, k=length))


HOSTILE = {
    **{f"prefix {prefix}": lambda size, prefix=prefix: prefix * (size // len(prefix)) for prefix in PREFIXES[::6]},
    **{
        f"spaced {part[:12]!r}": lambda size, part=part: f"{part} " * (size // (len(part) + 1))
        for part in HOSTILE_PARTS
    },
    **{
        f"random after {part[:12]!r}": lambda size, part=part: f"{part}{drawn(ALNUM, 30)}" * (size // (len(part) + 30))
        for part in HOSTILE_PARTS
    },
    "words": lambda size: "the quick brown fox " * (size // 20),
    "letters": lambda size: "a" * size,
    "base64": lambda size: drawn(ALNUM + "+/", size),
    "url64": lambda size: drawn(ALNUM + "_-", size),
    "all parts": lambda size: "".join(random.Random(2).choices(PARTS, k=size // 6)),
    "one long key": lambda size: "-----BEGIN PRIV" + "ATE KEY-----\n" + f"{drawn(ALNUM, 64)}\n" * (size // 65),
    "dots": lambda size: "eyJ" + "a." * (size // 2),
    "slashes": lambda size: "://" * (size // 3) + "@" * 100,
    "ats": lambda size: "//a:b" + "@" * size,
    "quotes": lambda size: 'api_key"""""":::::' * (size // 18),
    "blanks": lambda size: "secret_key" + " " * size,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_in_proportion_to_length(name: str) -> None:
    """Four times the text may take a few times longer, never sixteen times; and none takes 12 s for a megabyte."""
    redact_text(HOSTILE[name](1000), environment={})

    def work(size: int) -> Callable[[], object]:
        return partial(redact_text, HOSTILE[name](size), environment={})

    assert_within(0.5, work(40_000))
    assert_growth(work, 10_000, 40_000, most=10)
