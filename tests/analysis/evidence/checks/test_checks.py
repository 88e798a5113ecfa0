"""Which checks ran, and how they ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_attempt import Action, assess, attempt, evidence_of, trajectory

from dense.trajectory import Observation, Source, Step, ToolCall

EDIT = ("sed -i s/a/b/ app.py", "")
DONE = "It is done."


def test_each_call_of_an_action_is_a_check_of_its_own() -> None:
    first, second = attempt(
        None, ("python3 -m unittest", "Ran 4 tests in 0.1s\n\nOK"), ("python3 check.py", "too slow", 1)
    ).steps
    joined = Step(first.source, "", "", first.calls + second.calls, first.observations + second.observations)
    checks = assess(trajectory("`python3 check.py` must pass.", joined, Step(Source("made"), DONE))).evidence.checks
    assert [(check.runner, check.has_passed) for check in checks] == [("unittest", True), ("python check.py", False)]


def test_calls_that_share_an_observation_are_one_check() -> None:
    calls = tuple(ToolCall("bash_command", {"keystrokes": f"{text}\n"}) for text in ("pytest tests/a.py", "ls"))
    step = Step(Source("made"), "", "", calls, (Observation("2 passed in 0.1s\na.py"),))
    (check,) = assess(trajectory(None, step, Step(Source("made"), DONE))).evidence.checks
    assert (check.runner, check.has_passed, check.ran) == ("pytest", True, 2)


@pytest.mark.parametrize("command", ["python -c", "curl http://127.0.0.1:80/x", "nc 127.0.0.1 4444", "`"])
def test_not_every_command_in_a_task_is_a_check(command: str) -> None:
    assert evidence_of(f"It must answer to `{command}`.", ("ls", "a"), DONE).named_checks == []


@pytest.mark.parametrize(
    "line",
    ["FAIL. Expected {x}", "Test 1: FAILED", "❌ Test 2 failed", "Import failed: No module named 'x'", "MISMATCH"],
)
def test_a_check_that_prints_a_failure_has_not_passed(line: str) -> None:
    (check,) = evidence_of(None, EDIT, ("python test_edge.py", f"PASS\n{line}\nPASS"), DONE).checks
    assert (check.has_passed, check.line) == (None, line)


@pytest.mark.parametrize("line", ["Failed: 0", "no failures", "PASS: it fails when empty", "✅ refused as it must"])
def test_a_line_that_only_mentions_failures_is_none(line: str) -> None:
    (check,) = evidence_of(None, EDIT, ("python test_edge.py", f"{line}\ndone"), DONE).checks
    assert check.has_passed


@pytest.mark.parametrize(
    ("action", "has_passed"),
    [
        (("pytest tests/ | head -3", "collected 31 items\ntests/test_a.py ......"), None),
        (("pytest -q tests/a.py", "ssss\n8 skipped in 0.1s"), None),
        (("go test ./...", "?   \tx/shop\t[no test files]\nok  \tx/shop/sum\t0.003s"), True),
        (("make test", "boom\nmake: *** [Makefile:3: test] Error 1", 2), False),
        (("./test.sh", "", 0), None),
    ],
)
def test_how_a_check_ended(action: Action, has_passed: bool | None) -> None:
    (check,) = evidence_of(None, EDIT, action, DONE).checks
    assert check.has_passed is has_passed


UNSTARTED = json.loads((Path(__file__).parents[3] / "fixtures" / "unstarted-checks.json").read_text())


@pytest.mark.parametrize("run", UNSTARTED, ids=lambda run: run["command"])
def test_a_check_that_never_started_has_not_failed(run: dict[str, Any]) -> None:
    """Recorded in an empty folder."""
    evidence = evidence_of(
        "Fix a.py.", ("sed -i s/a/b/ a.py", "", 0), (run["command"], run["output"], run["exit_code"])
    )
    assert [check.has_passed for check in evidence.checks] in ([], [None])


def test_an_error_in_a_program_under_test_is_a_failed_check() -> None:
    output = '  File "/app/a.py", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
    for command in ("pytest -q", "python3 check.py"):
        (check,) = evidence_of("Fix a.py.", ("sed -i s/a/b/ a.py", "", 0), (command, output, 1)).checks
        assert (check.has_passed, check.line) == (False, "SyntaxError: invalid syntax")
