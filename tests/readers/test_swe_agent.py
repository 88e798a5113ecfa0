"""`swe-agent`: steps from `trajectory` or `history`, the bare task, no demonstration, nothing of how it ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.trajectory import Source, ToolCall, Usage

FIXTURES = Path(__file__).parents[1] / "fixtures" / "swe-agent"
TASK = "The check in check.py fails: total() in ledger.py gives a wrong sum. Repair ledger.py so that check.py passes."


def entry(thought: str, action: str, observation: str | None = "seen", **more: Any) -> dict[str, Any]:
    response = f"{thought}\n```\n{action}\n```" if action else thought
    return {"thought": thought, "action": action, "observation": observation, "response": response, "state": {}, **more}


def said(step: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": step["response"], "thought": step["thought"], "action": step["action"]}
    return {**message, "agent": "main", "message_type": "action", **more}


def user_message(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "agent": "main", "message_type": "observation", **more}


def read(tmp_path: Path, run: Any, name: str = "x.traj") -> list[dense.Trajectory]:
    path = tmp_path / name
    path.write_text(json.dumps(run))
    return list(dense.read(path))


def one(tmp_path: Path, run: Any) -> dense.Trajectory:
    (trajectory,) = read(tmp_path, run)
    assert trajectory.format == "swe-agent"
    return trajectory


def fixture(name: str) -> dense.Trajectory:
    (trajectory,) = dense.read(FIXTURES / name / f"{name}.traj")
    return trajectory


def test_a_run_of_1_x() -> None:
    read = fixture("repair")
    assert (read.agent, read.agent_version, read.model) == ("swe-agent", "1.1.0", "scripted")
    assert read.task and read.task.instruction == TASK
    assert read.usage == Usage(input=4000, output=200)
    assert [step.source.index for step in read.steps] == [0, 1, 2, 3]
    assert [step.calls[0].id for step in read.steps] == ["call_1", "call_2", "call_3", "call_4"]
    assert [step.observations[0].call_id for step in read.steps] == ["call_1", "call_2", "call_3", "call_4"]
    assert read.steps[1].calls == (ToolCall("bash", {"command": "python3 check.py"}, "call_2"),)
    assert read.steps[1].observations[0].text == "total([2, 3]) = -5, expected 5"
    assert not read.notices


@pytest.mark.parametrize("name", ["history-only", "demonstration-turns"])
def test_history_without_trajectory(name: str) -> None:
    read = fixture(name)
    assert read.task and read.task.instruction == TASK
    assert [step.message for step in read.steps] == [
        "I look at the file.",
        "I run the check.",
        "The operator is wrong.",
        "It passes, so I hand it in.",
    ]
    assert read.steps[0].calls == (ToolCall("bash", {"command": "cat ledger.py"}),)
    assert read.steps[0].observations[0].origin == "tool"
    assert read.steps[3].observations == ()


def test_demonstrations_are_no_steps() -> None:
    """Their commands, results and task stand in the same list, before the attempt."""
    read = fixture("demonstration-turns")
    assert "hello" not in str(read)
    assert read.steps[0].source == Source(str(FIXTURES / "demonstration-turns" / "demonstration-turns.traj"), index=5)


def test_answers_that_were_asked_for_again_are_steps(tmp_path: Path) -> None:
    """They are in `trajectory` and not in `history`; the tool calls must still find their entries."""
    again, good = entry("I forgot the call.", "", "no tool call found"), entry("Now.", "ls")
    calls = [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}]
    history = [user_message("Count."), said(good, tool_calls=calls)]
    steps = one(tmp_path, {"trajectory": [again, good], "history": history}).steps
    assert [(step.message, [call.id for call in step.calls]) for step in steps] == [
        ("I forgot the call.", []),
        ("Now.", ["c1"]),
    ]


def test_the_programs_own_exit_is_an_observation(tmp_path: Path) -> None:
    gone = entry("Exit due to cost limit", "", "Exited (autosubmitted)")
    steps = one(tmp_path, {"trajectory": [entry("I look.", "ls"), gone], "history": [user_message("Count.")]}).steps
    assert len(steps) == 1
    last = steps[0].observations[-1]
    assert (last.origin, last.text) == ("system", "Exit due to cost limit\nExited (autosubmitted)")


def test_copies_of_the_chat_are_not_read(tmp_path: Path) -> None:
    step = entry("I look.", "ls", query=[{"role": "user", "content": "COPY"}], messages=[{"content": "COPY"}])
    assert "COPY" not in str(one(tmp_path, {"trajectory": [step], "history": [user_message("Count.")]}))


@pytest.mark.parametrize(
    "run",
    [
        {"replay_config": json.dumps({"problem_statement": {"text": "Count.", "id": "i-1"}})},
        {
            "replay_config": {
                "agent": {"templates": {"instance_template": "Go to {{dir}}.\n<it>{{problem_statement}}</it>"}}
            },
            "history": [user_message("Go to /app.\n<it>Count.</it>\nThe end.")],
        },
        {"history": [user_message("In /app:\n<pr_description>\nCount.\n</pr_description>\nMake it so.")]},
        {"history": [user_message("Here it is:\nISSUE:\nCount.\n\nINSTRUCTIONS:\nBe good.\n(Open file: n/a)\nbash-$")]},
        {"history": [user_message("Count.\n\n(Open file: n/a)\n(Current directory: /app)\nbash-$")]},
        {
            "history": [
                user_message("ISSUE:\nA demonstration.\n\nINSTRUCTIONS:\n", is_demo=True),
                user_message("Count."),
            ]
        },
    ],
)
def test_the_task_without_its_template(tmp_path: Path, run: dict[str, Any]) -> None:
    read = one(tmp_path, {"trajectory": [entry("I look.", "ls")], **run})
    assert read.task and read.task.instruction == "Count."


def test_thinking_and_no_task(tmp_path: Path) -> None:
    step = entry("I look.", "ls")
    thinking = [{"type": "thinking", "thinking": "Where am I?"}]
    read = one(tmp_path, {"trajectory": [step], "history": [said(step, thinking_blocks=thinking)]})
    assert read.steps[0].reasoning == "Where am I?"
    assert read.task is None


def test_attempts_are_trajectories(tmp_path: Path) -> None:
    """The copy of the chosen one at the top would be a third, and tell which was chosen."""
    attempts = [{"trajectory": [entry(f"Try {n}.", "ls")] * n, "history": [user_message("Count.")]} for n in (1, 2)]
    runs = read(tmp_path, {"attempts": attempts, **attempts[1], "info": {"best_attempt_idx": 1}})
    assert [(run.id, len(run.steps), run.source.part) for run in runs] == [
        ("x", 1, "attempt 0"),
        ("x#attempt 1", 2, "attempt 1"),
    ]
    assert all(run.task and run.task.instruction == "Count." for run in runs)


def test_labels_do_not_pass(tmp_path: Path) -> None:
    run: dict[str, Any] = json.loads((FIXTURES / "repair" / "repair.traj").read_text())
    before = one(tmp_path, run)
    for key in ("submission", "exit_status", "review", "score", "edited_files30", "resolved"):
        run["info"][key] = "CHANGED"
    run |= {"resolved": "CHANGED", "reward": "CHANGED", "test_result": "CHANGED"}
    assert one(tmp_path, run) == before


def test_damaged_entries_are_reported(tmp_path: Path) -> None:
    run = {"trajectory": [entry("One.", "ls"), None, {"action": None}, entry("Two.", "ls")], "history": "?"}
    read = one(tmp_path, run)
    assert [step.message for step in read.steps] == ["One.", "Two."]
    assert [(n.kind, n.source.index) for n in read.notices][:2] == [("skipped", 1), ("skipped", 2)]


def test_null_observation_is_none(tmp_path: Path) -> None:
    read = one(tmp_path, {"trajectory": [entry("One.", "ls", None)], "history": []})
    assert read.steps[0].observations == ()
