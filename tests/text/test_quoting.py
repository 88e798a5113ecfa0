"""Text of a trace stays on one line and inside its marks, whatever it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dense.text.quoting import CONTROL, as_text, code_span, in_quotes, last_line, line_count, one_line, path_span

texts = st.lists(
    st.sampled_from(["`", "``", '"', "\n", "\x1b[31m", "\u202e", " ", "…", "word", "/"]) | st.text(max_size=5)
)


@given(texts.map("".join), st.integers(2, 90))
def test_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert CONTROL.search(line) is None
    assert one_line(line, limit) == line


@given(texts.map("".join))
def test_marks_are_closed(text: str) -> None:
    marked = code_span(text)
    mark = "``" if marked.startswith("`` ") else "`"
    assert marked.startswith(mark)
    assert marked.endswith(mark)
    assert mark not in marked[len(mark) : -len(mark)]
    assert in_quotes(text).count('"') == 2


def test_a_line_is_clipped_at_a_word() -> None:
    assert one_line("one two three four five", 14) == "one two three…"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_a_long_path_keeps_its_name() -> None:
    assert path_span("/app/a.py") == "`/app/a.py`"
    assert path_span("/very" * 20 + "/name.py", 30) == "`…/very/very/very/very/name.py`"


def test_lines() -> None:
    assert [line_count(text) for text in ("a", "a\n", "a\nb")] == [1, 1, 2]
    assert last_line("a\n b \n\n") == "b"


def test_arguments_as_text() -> None:
    assert [as_text(value) for value in ("a", None, 3, ["a", 1], {"a": 1})] == ["a", "", "3", "a, 1", "{'a': 1}"]
