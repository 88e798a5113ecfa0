"""Only pieces of a text are looked at closely, and no line of interest is outside them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dense.evidence.observations.pieces import PIECE, pieces
from dense.evidence.observations.runners import failed_names
from dense.text.search import fast_search

LINES = st.sampled_from(("", "x", "é本", "a line of a log", "words " * 20, "w" * 2 * PIECE, "here"))


@given(st.lists(LINES, max_size=60))
@example(["here", *["a line of a log"] * 200, "here"])
@example([*["a line of a log"] * 200, "here"])
@example(["here", *["a line of a log"] * 200])
def test_every_line_of_interest_stands_in_one_piece(lines: list[str]) -> None:
    text = "".join(f"\n{line}" for line in lines)
    found = pieces(text, fast_search("here"))
    assert sum(text[start:end].count("\nhere") for start, end in found) == lines.count("here")
    assert all(text[start] == "\n" and text[end : end + 1] in ("\n", "") for start, end in found)
    assert all("here" in text[start:end] for start, end in found)
    assert found == sorted(found)


def test_a_piece_is_no_longer_than_it_must_be() -> None:
    ((start, end),) = pieces("\na line of a log" * 400 + "\nhere" + "\na line of a log" * 400, fast_search("here"))
    assert end - start < PIECE / 4


@pytest.mark.parametrize(
    ("line", "name"),
    (
        *(("FAILED a.py::b - KeyError: 1", "a.py::b"), ("ERROR a.py", "a.py"), ("FAIL: test_a (x.Y)", "test_a (x.Y)")),
        *(("ERROR: test_a", "test_a"), ("    --- FAIL: TestA (0.1s)", "TestA"), ("test a::b ... FAILED", "a::b")),
        *(("  ✕ adds", "adds"), ("× adds", "adds"), ("✗ adds", "adds"), ("not ok 3 - adds", "adds")),
        *(("\t  2 - adds (Failed)", "adds"), ("rspec ./a_spec.rb:3 # adds", "./a_spec.rb:3")),
        *(("[  FAILED  ] A.b (1 ms)", "A.b"), ("[ERROR]   ATest.b:12 x", "ATest.b:12"), ("  1) adds", "adds")),
        ("  Failed adds [3 ms]", "adds"),
    ),
)
def test_names_of_failed_tests_are_found_wherever_they_stand(line: str, name: str) -> None:
    assert failed_names(f"{'\nsome words' * 300}\n{line}{'\nsome words' * 300}\n") == (name,)
