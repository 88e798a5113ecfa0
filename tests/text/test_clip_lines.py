"""Clipping to whole lines: at most so many characters, and the count of what is left out is true."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dense.text.clip import clip_lines

GAP = re.compile(r"\[… ([\d,]+) lines?, ([\d,]+) characters left out …\]")
lines = st.lists(
    st.text(st.characters(blacklist_characters="\n[…", codec="utf-8"), max_size=80), min_size=2, max_size=60
)


@given(lines, st.integers(60, 2_000), st.booleans())
def test_the_count_of_what_is_left_out_is_true(made: list[str], limit: int, is_listing: bool) -> None:
    text = "\n".join(made)
    clipped = clip_lines(text, limit, is_listing=is_listing)
    assert len(clipped) <= max(limit, 60)
    if clipped == text or "characters left out …]" not in clipped:
        return
    shown = clipped.split("\n")
    gaps = [found for line in shown if (found := GAP.fullmatch(line))]
    kept = [line for line in shown if GAP.fullmatch(line) is None]
    if not gaps:  # a single line, or too little room for lines
        return
    missing = sum(int(found[2].replace(",", "")) for found in gaps)
    assert len(text) + 1 == sum(len(line) + 1 for line in kept) + missing
    assert len(made) == len(kept) + sum(int(found[1].replace(",", "")) for found in gaps)


@given(lines, st.integers(60, 500))
def test_what_is_kept_is_in_order_and_whole(made: list[str], limit: int) -> None:
    rest = iter(made)
    for line in clip_lines("\n".join(made), limit).split("\n"):
        if "left out …]" not in line and not line.endswith("…"):
            assert any(line == other for other in rest)


def test_results_are_kept_rather_than_progress() -> None:
    """Django's runner names the databases that it copies before it says what came out."""
    progress = [f"Cloning test database for alias {name!r}..." for name in ["default"] * 40 + ["other"] * 40]
    text = "\n".join(["Found 521 test(s).", *progress, "." * 70, "Ran 521 tests in 2s", "", "OK", *["Destroying"] * 9])
    clipped = clip_lines(text, 300)
    assert "Ran 521 tests" in clipped and "\nOK\n" in clipped
    assert clipped.count("Cloning") <= 3


def test_the_line_in_focus_comes_before_telling_lines_around_it() -> None:
    errors = [f"error: {number} failed, see the log of this run for more" for number in range(3)]
    text = "\n".join([*errors, "the answer is x", *errors, *["warning 2"] * 20])
    assert "the answer is x" in clip_lines(text, 160, focus="the answer is x")


def test_the_focus_is_kept() -> None:
    text = "\n".join(f"def f{n}(): pass" for n in range(500))
    assert "def f250()" in clip_lines(text, 300, is_listing=True, focus="def f250()")
