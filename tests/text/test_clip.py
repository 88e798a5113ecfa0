"""Clipping keeps the limit and counts truthfully what it leaves out."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dense.text.clip import ELLIPSIS, clip_end, clip_lines, clip_middle

COUNT = re.compile(r"\[… ([\d,]+) characters left out …\]")
texts = st.text("ab \n", max_size=300)
limits = st.integers(0, 320)


@given(texts, limits)
def test_clip_end(text: str, limit: int) -> None:
    clipped = clip_end(text, limit)
    assert len(clipped) <= limit
    assert clipped == text if len(text) <= limit else text.startswith(clipped.removesuffix(ELLIPSIS))


@given(texts, limits, st.floats(0, 1))
def test_the_count_is_what_is_missing(text: str, limit: int, head: float) -> None:
    clipped = clip_middle(text, limit, head=head)
    assert len(clipped) <= limit
    if len(text) <= limit:
        assert clipped == text
    elif found := COUNT.search(clipped):
        front, back = clipped[: found.start()], clipped[found.end() :]
        assert text.startswith(front)
        assert text.endswith(back)
        assert int(found[1].replace(",", "")) == len(text) - len(front) - len(back) > 0
    else:
        assert clipped == clip_end(text, limit)


def test_a_long_text_shows_its_count() -> None:
    assert clip_middle("a" * 50 + "b" * 50, 40) == "aaaaaa[… 89 characters left out …]bbbbb"


def test_a_long_line_is_cut_where_there_is_little_room() -> None:
    text = "start\n" + "x" * 400 + " error: no such key " + "y" * 400 + "\nend"
    clipped = clip_lines(text, 200)
    assert "xxx" in clipped
    assert "characters left out" in clipped
    assert len(clipped) <= 200
