"""Which way out of a failure is seen: an installation, another program, a further option, another tool first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_traces import made_trace, ran_batch, rows
from typer.testing import CliRunner

from dense.cli.app import app

MISSING = ("pytest tests/test_a.py", "bash: line 1: pytest: command not found")
RAN = "collected 3 items\n\n===== 3 passed in 0.10s ====="
UNDECODABLE = (
    "Traceback (most recent call last):\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 3"
)
MANAGED = "error: externally-managed-environment\n\n× This environment is externally managed"


def ways(tmp_path: Path, *steps: tuple[str, str]) -> list[tuple[str, str, bool]]:
    (tmp_path / "one.json").write_text(json.dumps(made_trace("Fix a.py.", *steps)))
    ran_batch(tmp_path / "out", tmp_path / "one.json")
    (row,) = rows(tmp_path / "out")
    return [(way["kind"], way["text"], way["has_worked"]) for failure in row["failures"] for way in failure["ways"]]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([MISSING, ("pip install pytest", "Successfully installed pytest-9"), ("pytest tests/test_a.py", RAN)],
         [("install", "pip install pytest", True)]),
        ([MISSING, ("pip install pytest", "ERROR: Could not find a version that satisfies the requirement pytest")],
         [("install", "pip install pytest", False)]),
        ([MISSING, ("bin/test tests/test_a.py", "=== tests finished: 3 passed, in 0.1 seconds ===")],
         [("use", "bin/test", True)]),
        # Nothing ran: the program's end is no way out. Another file: it is not the same work.
        ([MISSING, ("bin/test tests/test_a.py", "=== tests finished: 0 passed, in 0.0 seconds ===")], []),
        ([MISSING, ("bin/test tests/test_b.py", "=== tests finished: 3 passed, in 0.1 seconds ===")], []),
        ([("pip install numpy", MANAGED), ("pip install --break-system-packages numpy", "Successfully installed")],
         [("with", "--break-system-packages", True)]),
        # Another question to the same program, or about another file, is no way out.
        ([("python3 - <<'E'\nopen('a').read()\nE", UNDECODABLE), ("python3 --version", "Python 3.12.1")], []),
        ([("pip install numpy", MANAGED), ("pip install --user rich", "Successfully installed")], []),
        # A change of a file in between may be what cured it.
        ([("make docs", "make: *** [docs] Error 1"), ("echo x > Makefile", ""), ("make --silent docs", "done")], []),
    ],
)  # fmt: skip
def test_ways_out(tmp_path: Path, steps: list[tuple[str, str]], expected: list[Any]) -> None:
    found = ways(tmp_path, *steps)
    assert found[: len(expected) or None] == expected


def test_attempts_with_feedback_are_attempts_at_the_same_task(tmp_path: Path) -> None:
    """The message begins with the feedback and ends with the task: hash and name are those of the task alone."""
    source = tmp_path / "in"
    source.mkdir()
    (source / "first.json").write_text(json.dumps(made_trace("Fix a.py.", MISSING)))
    ran_batch(tmp_path / "out", source)
    (row,) = rows(tmp_path / "out")
    assert "dense-feedback" in row["message"] and row["message"].endswith("Fix a.py.")
    (source / "second.json").write_text(json.dumps(made_trace(row["message"], MISSING)))
    ran_batch(tmp_path / "out", source)
    assert {(one["task"], one["task_hash"]) for one in rows(tmp_path / "out")} == {("Fix a.py.", row["task_hash"])}


def called(tmp_path: Path, *calls: tuple[str, dict[str, Any], str]) -> list[tuple[str, str, bool]]:
    """The ways out of a trace of calls to tools."""
    trace = made_trace("Change the booking.", *((name, output) for name, _, output in calls))
    made = [call["function"] for message in trace["messages"] for call in message.get("tool_calls", [])]
    for function, (name, arguments, _) in zip(made, calls, strict=True):
        function |= {"name": name, "arguments": json.dumps(arguments)}
    (tmp_path / "one.json").write_text(json.dumps(trace))
    ran_batch(tmp_path / "out", tmp_path / "one.json")
    (row,) = rows(tmp_path / "out")
    return [(way["kind"], way["text"], way["has_worked"]) for failure in row["failures"] for way in failure["ways"]]


ERROR = "Error: the amounts do not add up"
PAID = {"booking": "B7", "payments": [{"card": "c1", "amount": 5}, {"card": "c2", "amount": 1}]}


@pytest.mark.parametrize(
    ("after", "output", "expected"),
    [
        ({**PAID, "payments": [{"card": "c1", "amount": 55}]}, '{"paid": 55}', [("argument", "payments", True)]),
        ({**PAID, "payments": [{"card": "c1", "amount": 6}]}, ERROR, [("argument", "payments", False)]),
        (PAID, '{"paid": 6}', []),  # nothing was changed
        ({**PAID, "booking": "B8", "payments": []}, '{"paid": 0}', []),  # it is another booking
        ({**PAID, "payments": PAID["payments"][:1]}, '{"paid": 5}', []),  # less was asked for
    ],
)
def test_a_tool_that_accepts_another_argument(
    tmp_path: Path, after: dict[str, Any], output: str, expected: list[tuple[str, str, bool]]
) -> None:
    assert called(tmp_path, ("book", PAID, ERROR), ("book", after, output)) == expected


def test_a_message_that_was_refused_and_the_next_with_one_call(tmp_path: Path) -> None:
    """As mini-swe-agent writes it: a reply without a call, and the reason as a message of the user."""
    trace = made_trace("Fix a.py.", ("ls", "a.py"))
    refused = "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."
    trace["messages"][1:1] = [
        {"role": "assistant", "content": "First, then second."},
        {"role": "user", "content": refused},
    ]
    trace |= {"trajectory_format": "mini-swe-agent-1", "info": {}}
    (tmp_path / "a.traj.json").write_text(json.dumps(trace))
    ran_batch(tmp_path / "out", tmp_path / "a.traj.json")
    (row,) = rows(tmp_path / "out")
    ways = [way for failure in row["failures"] for way in failure["ways"]]
    assert [(way["kind"], way["text"], way["has_worked"]) for way in ways] == [("form", "one call", True)]


def test_from_traces_to_a_message_of_another_task(tmp_path: Path) -> None:
    """Three tasks teach it; a fourth is given it; one of the three is not, because two are too few."""
    source = tmp_path / "in"
    source.mkdir()
    steps = (MISSING, ("pip install pytest", "Successfully installed pytest-9"), ("pytest tests/test_a.py", RAN))
    for name in "abc":
        (source / f"{name}.json").write_text(json.dumps(made_trace(f"Fix {name}.py.", *steps)))
    ran_batch(tmp_path / "out", source)
    run, page = CliRunner(), tmp_path / "lessons.md"
    done = run.invoke(app, ["lessons", str(tmp_path / "out"), "--out", str(page)])
    assert "1 lesson of 3 traces" in done.output, done.output
    assert "`pip install pytest` installed it" in page.read_text()
    (tmp_path / "d.json").write_text(json.dumps(made_trace("Fix d.py.", MISSING)))
    lesson = "lesson from other tasks: `pytest` was not installed. `pip install pytest` installed it"
    for file, is_given in ((tmp_path / "d.json", True), (source / "a.json", False)):
        printed = run.invoke(app, ["distill", str(file), "--lessons", str(page)])
        assert printed.exit_code == 0, printed.output
        assert (lesson in printed.output) is is_given
    assert (
        run.invoke(app, ["distill", str(tmp_path / "d.json"), "--lessons", str(page), "--method", "none"]).exit_code
        != 0
    )
