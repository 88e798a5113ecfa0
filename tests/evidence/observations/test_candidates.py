"""The quick look at the lines of a text leaves out no line that complains, and most of the others."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dense.evidence.observations import ObservedResult
from dense.evidence.observations.complaints import BLANKS, candidates, complaint
from dense.evidence.observations.runners import summaries
from dense.evidence.observations.tracebacks import tracebacks

EVERYWHERE = [(0, 10_000)]
"""Where to look in a text that is not looked at piece by piece."""
NAMES = st.sampled_from(
    """
    error ERROR FAIL fatal panic bash /bin/sh -bash (eval) psql /usr/bin/psql make make[2] cat cd curl a.py src/a.py a.c
    main.go a.ts(3,5) error[E0308] x.sh ./run.sh ValueError a.b.KeyError SystemExit
    App\\Failure INFO total a.jsonl 错误 ²
    """.split()
)
RESTS = st.sampled_from(
    (
        *(" ", "\t", ":", "3", "3:5:", "12: ", "²", "x", ",4) ", " error: x", " error TS1: y", " fatal error: z"),
        *(" No such file or directory", "1: no such file or directory: x", " cannot open", " Permission denied"),
        *(" line 3: 44 Killed", " line 3: x: command not found", " 0.3", "root:bad", "f.sql:3: ERROR: q", " ERROR:"),
        *(" (7) Failed to connect", " *** [x] Error 1", " Assertion `a' failed", " could not y", " Datei nicht da"),
    )
)
PROGRAMS = st.sampled_from(((), ("python",), ("make", "cat", "curl"), ("bash", "psql", "cd")))


@settings(max_examples=1_000, deadline=None)
@given(NAMES, st.lists(RESTS, min_size=1, max_size=3).map("".join), PROGRAMS)
@example("x.sh", "3: line 4: 55 Killed", ())
@example("cd", "1: no such file or directory: x", ("cd",))
@example("a.c", "3:5: fatal error: x.h", ())
def test_no_line_that_complains_is_left_out(name: str, rest: str, programs: tuple[str, ...]) -> None:
    line = f"{name}:{rest}"
    if complaint(1, line, programs) is not None:
        assert candidates(f"\n{line}\nx", programs, EVERYWHERE) == [(1, line)]


@pytest.mark.parametrize(
    "line",
    (
        *("src/a.py:3:    def a(self):", "tests/test_a.py::test_b PASSED", "main.go:14: x := 1", "total: 30"),
        *("INFO: started", "std::vector<int> a", "a.json:{}", "cat: black", "terminals", "thread", "npm"),
    ),
)
def test_lines_that_tell_nothing_are_left_out(line: str) -> None:
    assert not candidates(f"\n{line}\n", (), EVERYWHERE)


@pytest.mark.parametrize(
    "line",
    (
        *("Exception in thread main", "Uncaught x", "terminate called after x", "thread 'main' panicked at a.rs:1"),
        *("CMake Error at a", "BUILD FAILED", "! LaTeX x", "Killed", "FAILED a", "[FAIL] a", "✗ a", "❌ a", "✘ a"),
        *("HTTP/1.1 404 a", "< HTTP/2 500", "Your proposed edit x", "npm ERR! missing a", "npm error 404 a"),
        *("Error in a", "[ERROR] a", "Cannot a", "Can't a", "TypeError [ERR_X]: a", "No module named a"),
        *("parse error near a", "syntax error at a", "'a' is not recognized", "Connecting to a failed: b"),
        *("Get-Item : a", "An error occurred", "Permission denied", "PHP Fatal a", "Execution halted"),
    ),
)
def test_every_mark_is_a_candidate(line: str) -> None:
    assert candidates(f"\nx\n{line}\n", (), EVERYWHERE) == [(3, line)]


@pytest.mark.parametrize(
    "line",
    (
        *("== 1 passed in 0.1s ==", "no tests ran in 0.1s", "test result: ok. 1 passed; 0 failed", "ok  \ta\t0.1s"),
        *("FAIL\ta\t0.1s", "FAILED | 1 passed | 2 failed", "Tests:  1 failed, 2 total", "OK (3 tests, 4 assertions)"),
        *("67% tests passed, 1 tests failed out of 3", "# pass 4", "ℹ pass 4", "Result: PASS", "Passed!  - Failed: 0"),
        *("All tests passed (3 assertions)", "***Test Failed*** 2 failures.", "[INFO] Tests run: 3, Failures: 1"),
        *("[  PASSED  ] 3 tests.", "      Tests  2 passed", "  3 passing (2s)", "\t Executed 3 tests, with 1 failure"),
    ),
)
def test_every_summary_is_found(line: str) -> None:
    assert [*summaries(f"\nx\n{line}\n", EVERYWHERE)] == [line.strip()]


def test_blanks_are_what_python_calls_so() -> None:
    every = "".join(map(chr, range(0x110000)))
    assert re.findall(f"[{BLANKS}]", every) == re.findall(r"\s", every)


def test_a_long_traceback_is_followed_to_its_end(after: Callable[..., ObservedResult]) -> None:
    frames = '  File "a.py", line 1, in f\n    f()\n' * 300
    text = f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n"
    assert after("python a.py", text, code=1).failures[0].line == "RecursionError: too deep"


@pytest.mark.parametrize(
    ("text", "last"),
    (
        ('T\n  File "a"\n\n    x\n\x0b\nKeyError: 1\n', "KeyError: 1"),  # blank lines between the frames
        ('T\n  File "a"\n    x', "T"),  # broken off
        ('T\n  File "a"\n    x\n', "T"),
        ('| T\n|   File "a"\n| KeyError: 1\n', "KeyError: 1"),
        ("T\n  no frame\nKeyError: 1\n", None),
    ),
)
def test_the_last_line_of_a_traceback(text: str, last: str | None) -> None:
    first = "Traceback (most recent call last)"
    lines = [*tracebacks("\n" + text.replace("T\n", first + ":\n")).values()]
    assert lines == ([] if last is None else [last.replace("T", first)])
