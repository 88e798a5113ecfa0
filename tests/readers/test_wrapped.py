"""Results without the wrappers of harnesses, and commands that go on in the background."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.readers.stream import StepBuilder
from dense.trajectory import Source, Trajectory


def observed(text: str, exit_code: int | None = None) -> tuple[str, int | None]:
    builder = StepBuilder(Source("x"), observations=[])
    builder.observe(text, exit_code=exit_code)
    return builder.observations[0].text, builder.observations[0].exit_code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"stdout": "a\\n", "stderr": "", "exitCode": 0, "command": "cat a"}', ("a\n", 0)),
        ('{"stdout":"a","stderr":"b","exit_code":2}', ("a\nb", 2)),
        ('{"stdout": "", "stderr": "no", "returncode": 1, "duration": 3}', ("no", 1)),
        ("a\n<END_TOOL_OUTPUT>", ("a", None)),
        ("a\r\nb\r\n", ("a\nb\n", None)),
        ("a\r\r\nb", ("a\nb", None)),
        ("New Terminal Output:\n\na\r\nb\r\n", ("New Terminal Output:\n\na\nb\n", None)),
        ("50 %\r100 %\n", ("50 %\r100 %\n", None)),
        ('{"stdout": "a", "answer": 42}', ('{"stdout": "a", "answer": 42}', None)),
        ('{"stdout": 3}', ('{"stdout": 3}', None)),
        ('{"stdout": "cut off}', ('{"stdout": "cut off}', None)),
        ('the file has {"stdout": "a"}', ('the file has {"stdout": "a"}', None)),
    ],
)
def test_wrapped_results(text: str, expected: tuple[str, int | None]) -> None:
    assert observed(text) == expected


def test_a_recorded_exit_code_wins() -> None:
    assert observed('{"stdout": "a", "exitCode": 0}', 3) == ("a", 3)


def chat(tmp_path: Path, *turns: tuple[str, dict[str, Any], str]) -> Trajectory:
    """A chat in which each turn is a call and its answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, (name, arguments, answer) in enumerate(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": answer},
        ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages))
    return next(dense.read(path))


@pytest.mark.parametrize(
    ("answer", "key", "value"),
    [
        ("Command still running (session 7f3a). Use poll to wait.", "session_id", "7f3a"),
        ("Process running with session ID 12\nOutput:\n", "session_id", 12),
        ("Command running in background with ID: bash_1", "bash_id", "bash_1"),
        ('{"session_id": 44, "output": ""}', "session_id", 44),
    ],
)
def test_a_poll_continues_the_command_that_it_asks_for(tmp_path: Path, answer: str, key: str, value: Any) -> None:
    read = chat(
        tmp_path,
        ("bash", {"command": "make"}, answer),
        ("poll", {key: value}, "still running"),
        ("bash", {"command": "ls"}, "a"),
        ("poll", {key: value}, "built"),
        ("poll", {key: "another"}, "?"),
    )
    assert [step.calls[0].continues for step in read.steps] == [None, "c0", None, "c0", None]
