"""Output belongs to its own command: screens of a terminal, outputs in JSON, commands that were left running."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.analysis.actions.observations.harness import separated, split_screen
from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.wording.actions import describe_output
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

FIXTURES = Path(__file__).parents[3] / "fixtures"
HEAD = "New Terminal Output:\n\n"
PROMPT = "root@box:/app# "
WRAPPED = "grep -rn 'a long pattern that does not fit' src tests docs | sort | uniq -c | sort -rn | head -20"


def typed(*commands: str, seen: str, call_id: str | None = None) -> Step:
    calls = tuple(ToolCall("bash_command", {"keystrokes": command, "duration": 0.5}) for command in commands)
    return Step(Source("t"), calls=calls, observations=(Observation(seen, call_id),))


def ran(command: str, seen: str) -> Step:
    return Step(Source("t"), calls=(ToolCall("Bash", {"command": command}),), observations=(Observation(seen),))


def evidence(*steps: Step, task: str = "Fix it.") -> TraceEvidence:
    return TraceAssessment(Trajectory("atif", "t", Source("t"), task=Task(task), steps=steps)).evidence


def test_recorded_screens_are_split_at_their_prompts() -> None:
    """Terminus-2 of Harbor 0.25.0, recorded."""
    (path,) = FIXTURES.glob("atif/jobs/terminus-2-harbor-0.25.0/*/agent/trajectory.json")
    (trajectory,) = dense.read(path)
    shown = [[seen.text.split("\n") for seen in separated(step).observations] for step in trajectory.steps[:2]]
    assert [lines[0] for lines in shown[0]] == ["agent@sandbox:/app# ls -la", "agent@sandbox:/app# cat words.txt"]
    assert "orange" in shown[0][1]
    assert [lines[:2] for lines in shown[1]] == [
        ["agent@sandbox:/app# grep -c e words.txt > count.txt", ""],
        ["agent@sandbox:/app# cat count.txt", "4"],
    ]


@pytest.mark.parametrize(
    ("screen", "commands", "parts"),
    [
        (
            f"{PROMPT}ls\na\n{PROMPT}pwd\n/app\n{PROMPT}",
            ["ls", "pwd"],
            [f"{PROMPT}ls\na\n", f"{PROMPT}pwd\n/app\n{PROMPT}"],
        ),
        (f"{PROMPT}printf x\nx{PROMPT}pwd\n/app", ["printf x", "pwd"], [f"{PROMPT}printf x\nx", f"{PROMPT}pwd\n/app"]),
        (f"old\n{PROMPT}pwd\n/app", ["", "pwd"], None),
        (f"its end\n{PROMPT}pwd\n/app", ["make", "pwd"], ["its end\n", f"{PROMPT}pwd\n/app"]),
        (
            f"(a) (b) {PROMPT}{WRAPPED[:60]}\n{WRAPPED[60:]}\n3 x\n(a) (b) {PROMPT}pwd\n/app",
            [WRAPPED, "pwd"],
            [f"{PROMPT}{WRAPPED[:60]}\n{WRAPPED[60:]}\n3 x\n(a) (b) ", f"{PROMPT}pwd\n/app"],
        ),
        (f"{PROMPT}ls\na\n{PROMPT}ls\na\n", ["ls", "ls"], [f"{PROMPT}ls\na\n"] * 2),
        ("a\nb\n", ["ls", "pwd"], None),
        (f"{PROMPT}other\n", ["ls", "pwd"], None),
        ("", ["ls", "pwd"], None),
    ],
)
def test_a_screen_is_split_by_what_was_typed(screen: str, commands: list[str], parts: list[str] | None) -> None:
    assert split_screen(screen, commands) == parts


def test_what_one_command_shows_is_no_failure_of_another() -> None:
    screen = (
        f"{HEAD}{PROMPT}cat old.log\nTraceback (most recent call last):\n  File 'a.py'\nValueError: x\n"
        f"{PROMPT}python3 -m pytest -q\n..   [100%]\n2 passed in 0.02s\n{PROMPT}"
    )
    (fact,) = evidence(typed("cat old.log\n", "python3 -m pytest -q\n", seen=screen)).facts
    assert not fact.has_failed
    assert fact.has_passed


def test_each_check_of_a_screen_has_its_own_result() -> None:
    screen = f"{HEAD}{PROMPT}python3 check_a.py\nAssertionError: a\n{PROMPT}python3 check_b.py\nall good\n{PROMPT}"
    checks = evidence(typed("python3 check_a.py\n", "python3 check_b.py\n", seen=screen)).checks
    assert [(check.command, check.has_passed) for check in checks] == [
        ("python3 check_a.py", False),
        ("python3 check_b.py", True),
    ]


DECODE = "./decode --input /srv/data/part-1.bin --input /srv/data/part-2.bin --input /srv/data/part-3.bin --verbose"


@pytest.mark.parametrize("call_id", [None, "c1"])
@pytest.mark.parametrize(
    ("first", "printed", "text"),
    [
        ("echo aGk= | base64 -d", "hi\n", "`PASSWORD=DECOY`"),
        (DECODE, "hidden\n", "`hidden`"),
        (DECODE, "", "`strings disk.img` printed `PASSWORD=DECOY`"),
    ],
)
def test_an_output_is_read_by_its_own_command(first: str, printed: str, text: str, call_id: str | None) -> None:
    """A decoy that a later command showed once looked like what the first one had decoded."""
    screen = f"{HEAD}{PROMPT}{first}\n{printed}{PROMPT}strings disk.img\nPASSWORD=DECOY\n{PROMPT}"
    found = evidence(typed(f"{first}\n", "strings disk.img\n", seen=screen, call_id=call_id))
    assert describe_output(found.facts[0], found.steps[0]) == text


@pytest.mark.parametrize(
    "record",
    [
        {"stdout": "F.\n1 failed, 1 passed in 0.1s\n", "stderr": "", "exitCode": 1, "command": "pytest -q"},
        {"output": "F.\n1 failed, 1 passed in 0.1s\n", "metadata": {"exit_code": 1, "duration_seconds": 1}},
    ],
)
def test_an_output_in_json_is_read_as_the_program_printed_it(record: dict[str, Any]) -> None:
    found = evidence(ran("pytest -q", json.dumps(record)))
    (run,) = found.fact(1).result.tests
    assert (run.passed, run.failed, found.fact(1).result.exit_code) == (1, 1, 1)
    assert found.checks[0].has_passed is False


def test_an_answer_in_json_that_is_no_output_stays() -> None:
    step = Step(Source("t"), calls=(ToolCall("get_user"),), observations=(Observation('{"name": "A", "text": 1}'),))
    assert separated(step).observations == step.observations


RUNNING = [
    ("Command running in background with ID: b1", {"task_id": "b1", "block": True}),
    (
        "Command still running (session calm-reef, pid 41). Use process (list/poll/log) for follow-up.",
        {"action": "poll", "sessionId": "calm-reef"},
    ),
    (
        "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 18613\nOutput:\n",
        {"session_id": 18613, "chars": ""},
    ),
]
"""How Claude Code, OpenClaw and Codex leave a command running, and how its output is asked for."""


@pytest.mark.parametrize(("said", "asked"), RUNNING)
@pytest.mark.parametrize("tail", ["1 failed, 1 passed in 9.1s", "2 passed in 9.1s"])
def test_an_output_that_is_asked_for_later_belongs_to_its_command(said: str, asked: dict[str, Any], tail: str) -> None:
    start = ran("pytest -q tests/slow", said)
    poll = Step(Source("t"), calls=(ToolCall("TaskOutput", asked),), observations=(Observation(tail),))
    found = evidence(start, poll)
    assert [(check.action, check.command, check.has_passed) for check in found.checks] == [
        (1, "pytest -q tests/slow", None),
        (2, "pytest -q tests/slow", "failed" not in tail),
    ]
    assert not found.fact(1).has_passed


def test_a_check_that_was_left_running_has_not_passed() -> None:
    found = evidence(ran("python3 check.py", "Command running in background with ID: b1"))
    assert [check.has_passed for check in found.checks] == [None]
