"""`tau-bench`: the chat with the customer, and nothing of the script and the grades that stand beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dense
from dense.trajectory import Observation, ToolCall, Usage

RESULTS = Path(__file__).parents[1] / "fixtures" / "tau-bench" / "results.json"


def read(tmp_path: Path, value: Any) -> list[dense.Trajectory]:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value))
    trajectories = list(dense.read(path))
    assert {trajectory.format for trajectory in trajectories} == {"tau-bench"}
    return trajectories


def test_rows() -> None:
    runs = list(dense.read(RESULTS))
    assert [(run.id, len(run.steps), run.source.part) for run in runs] == [
        ("task-0-trial-0", 4, "row 0"),
        ("task-1-trial-0", 2, "row 1"),
        ("task-0-trial-1", 2, "row 2"),
    ]
    first = runs[0]
    assert first.task and first.task.instruction == "Please move my booking B1 to 2 February."
    assert [step.source.index for step in first.steps] == [2, 4, 6, 8]
    assert first.steps[0].calls == (ToolCall("get_booking", {"booking": "B1"}, "call_1"),)
    assert first.steps[0].observations[0].call_id == "call_1"
    assert first.steps[1].observations == (Observation("Yes.", origin="user", is_request=True),)


def test_the_customers_script_does_not_pass() -> None:
    assert "You are Mia" not in str(list(dense.read(RESULTS)))


def test_labels_do_not_pass(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text())
    before = read(tmp_path, rows)
    for row in rows:
        row["reward"] = "CHANGED"
        row["info"] = {
            "task": {"instruction": "CHANGED", "actions": "CHANGED", "outputs": "CHANGED"},
            "reward_info": "CHANGED",
        }
    assert read(tmp_path, rows) == before


def test_damaged_rows_are_reported(tmp_path: Path) -> None:
    rows: list[Any] = json.loads(RESULTS.read_text())
    rows[1] = {"task_id": 5, "traj": None, "reward": 1}
    rows[2]["traj"][3] = 7
    first, last = read(tmp_path, rows)
    assert [(n.kind, n.source.index, n.source.part) for n in (*first.notices, *last.notices)] == [
        ("skipped", 1, None),
        ("skipped", 3, "row 2"),
    ]
    assert [len(run.steps) for run in (first, last)] == [4, 2]


def test_equal_trials_have_ids_of_their_own(tmp_path: Path) -> None:
    rows: list[Any] = json.loads(RESULTS.read_text())
    assert [run.id for run in read(tmp_path, [rows[0], rows[0]])] == ["task-0-trial-0", "task-0-trial-0#row 1"]


def test_calls_in_plain_text(tmp_path: Path) -> None:
    def turn(action: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": f"Thought:\nLet me.\nAction:\n{json.dumps(action)}"}

    traj = [
        {"role": "system", "content": "Policy."},
        {"role": "user", "content": "Move B1."},
        turn({"name": "get_booking", "arguments": {"booking": "B1"}}),
        {"role": "user", "content": "API output: it is there"},
        turn({"name": "respond", "arguments": {"content": "When?"}}),
        {"role": "user", "content": "Tomorrow."},
    ]
    (run,) = read(tmp_path, [{"task_id": 0, "trial": 0, "traj": traj, "reward": 0}])
    assert run.steps[0].calls == (ToolCall("get_booking", {"booking": "B1"}),)
    assert run.steps[0].observations == (Observation("it is there"),)
    assert run.steps[1].calls == ()
    assert run.steps[1].observations == (Observation("Tomorrow.", origin="user", is_request=True),)


def simulation() -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    replies = [
        {"role": "tool", "id": "c1", "content": "gone", "requestor": "assistant", "error": True},
        {"role": "tool", "id": "c2", "content": "fine", "requestor": "assistant", "error": False},
    ]
    calls = [{"id": f"c{n}", "name": "look", "arguments": {"n": n}, "requestor": "assistant"} for n in (1, 2)]
    own = [{"id": "u1", "name": "restart_phone", "arguments": {}, "requestor": "user"}]
    messages = [
        {"role": "assistant", "content": "Hi! How can I help you today?"},
        {"role": "user", "content": "My phone is slow."},
        {"role": "assistant", "content": None, "tool_calls": calls, "usage": usage, "timestamp": "2025-01-01"},
        {"role": "tool", "tool_messages": replies},
        {"role": "assistant", "content": "Restart it.", "usage": usage},
        {"role": "user", "content": None, "tool_calls": own},
        {"role": "tool", "id": "u1", "content": "HIDDEN", "requestor": "user", "error": False},
        {"role": "user", "content": "Done."},
    ]
    return {
        "id": "sim-1",
        "task_id": "telecom-1",
        "trial": 0,
        "agent_cost": 0.25,
        "messages": messages,
        "reward_info": {"reward": 1},
    }


def test_tau2(tmp_path: Path) -> None:
    info = {"agent_info": {"implementation": "llm_agent", "llm": "scripted"}, "user_info": {"llm": "other"}}
    results = {"info": info, "tasks": [{"id": "telecom-1", "user_scenario": "SECRET"}], "simulations": [simulation()]}
    (run,) = read(tmp_path, results)
    assert (run.id, run.agent, run.model) == ("sim-1", "llm_agent", "scripted")
    assert run.task and (run.task.instruction, run.task.name) == ("My phone is slow.", "task telecom-1")
    assert [step.source.index for step in run.steps] == [2, 4], "the greeting is the harness's own"
    assert [(seen.call_id, seen.is_error) for seen in run.steps[0].observations] == [("c1", True), ("c2", False)]
    assert run.steps[1].observations == (Observation("Done.", origin="user", is_request=True),)
    assert run.usage == Usage(20, None, None, 4, 0.25)
    assert "HIDDEN" not in str(run)
    assert "SECRET" not in str(run)


def test_tau2_labels_do_not_pass(tmp_path: Path) -> None:
    results: dict[str, Any] = {"tasks": [], "simulations": [simulation()]}
    before = read(tmp_path, results)
    results["simulations"][0] |= {"reward_info": "CHANGED", "termination_reason": "CHANGED", "review": "CHANGED"}
    results["tasks"] = [{"evaluation_criteria": "CHANGED"}]
    assert read(tmp_path, results) == before


def test_signals_of_the_simulated_customer_are_no_words(tmp_path: Path) -> None:
    chat = [
        {"role": "user", "content": "Move B1."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thank you! ###STOP###"},
        {"role": "assistant", "content": "Bye."},
        {"role": "user", "content": "###STOP###"},
    ]
    (run,) = read(tmp_path, [{"task_id": 0, "reward": 1.0, "trial": 0, "traj": chat}])
    assert [[seen.text for seen in step.observations] for step in run.steps] == [["Thank you!"], []]
