"""What holds for every text: nothing raises, the same gives the same, time grows with length and no faster."""

from __future__ import annotations

from functools import partial

import pytest
from cpu_time import assert_within
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedResult, values
from dense.analysis.actions.step_effects import effects
from dense.trajectory import Observation, Source, Step, ToolCall

COMMANDS = ("python a.py", "cat a", "git diff", "grep x a", "curl -i http://a", "make test; echo $?", "'\"$(", "")
PIECES = st.sampled_from(
    [
        "\n",
        "Traceback (most recent call last):\n",
        '  File "a", line 1\n',
        "ValueError: x",
        "error: ",
        "bash: x: command not found\n",
        "root@a:/b# ",
        "> ",
        "=== 1 failed, 2 passed in 0.1s ===\n",
        "Ran 3 tests in 0.1s\n\nFAILED (errors=1)",
        "\x1b[31m",
        "\r",
        "exit code 3]",
        "[",
        "{",
        '"error":',
        "9" * 40,
        "‘",
        "é中\ud800",
        "a.c:1:2: error:",
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40).map("".join))


def look(command: str | None, text: str, code: int | None = None) -> ObservedResult:
    calls = () if command is None else (ToolCall("bash", {"command": command}),)
    step = Step(Source("t"), calls=calls, observations=(Observation(text, exit_code=code),))
    return observe(step, effects(step))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from((*COMMANDS, None)), TEXTS, st.one_of(st.none(), st.integers(-300, 300)))
def test_any_text_is_read_and_always_the_same(command: str | None, text: str, code: int | None) -> None:
    found = look(command, text, code)
    assert found == look(command, text, code)
    assert len(found.failures) <= 6
    assert all(failure.line and len(failure.line) <= 300 for failure in found.failures)
    assert all("\n" not in failure.line for failure in found.failures)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_any_text_has_values(text: str) -> None:
    assert values(text) == values(text)
    assert all(value.name for value in values(text))


HOSTILE = {
    "tracebacks": "Traceback (most recent call last):\n  x\n",
    "frames": 'Traceback (most recent call last):\n  File "a"\n',
    "colons": "a:b:c:d: e\n",
    "digits": "1" * 500 + ":\n",
    "spaces": " " * 500 + "x\n",
    "quotes": "'\"`" * 30 + "\n",
    "errors": "error: " * 20 + "\n",
    "equals": "=" * 200 + " 1 passed\n",
    "passed": "1 passed, 1 passed in\n",
    "prompts": "root@a:/b# cat x\nerror: y\n",
    "escapes": "\x1b[1;\x1b]0;a",
    "one line": "a: b = c | d ",
    "carriage returns": "x\r",
    "timed out": "command command timed out ",
    "assertions": "Assertion Assertion failed: x: ",
    "numbers": "1.1e1,",
}


def look_at_all_of(text: str) -> None:
    for command in ("python a.py; echo $?", "cat a", None):
        look(command, text)
    values(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_bounded_for_hostile_texts(name: str) -> None:
    piece = HOSTILE[name]
    for size, seconds in ((60_000, 0.5), (1_000_000, 1.0)):
        assert_within(seconds, partial(look_at_all_of, piece * (size // len(piece))))


def test_time_is_bounded_for_many_different_errors() -> None:
    shown = "\n".join(f"root@a:/b# cat x{n}\nerror: y{n}" for n in range(3_000))
    assert_within(0.5, lambda: look_at_all_of(shown))
    text = "\n".join(f"error: the line {n}" for n in range(3_000))
    assert_within(2.0, lambda: look(f"cat > a <<'EOF'\n{text}\nEOF\npython a", text))


def test_time_is_bounded_for_hostile_commands() -> None:
    for piece in ("git ", "docker ", "<<EOF\n", "'", '\\"', "a | ", "("):
        step = Step(
            Source("t"),
            calls=(ToolCall("bash", {"command": piece * (20_000 // len(piece))}),),
            observations=(Observation("error: x", exit_code=1),),
        )
        assert_within(0.5, partial(observe, step, effects(step)))
