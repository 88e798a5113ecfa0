"""Small attempts that were really run (`tests/fixtures/make/attempts.py`), in the shapes in which agents record them:
what passed a hidden check is `complete`, what failed it never is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_attempt import assess, found, state

import dense

ATTEMPTS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "attempts.json").read_text(encoding="utf-8")
)
TYPED = re.compile(r"^cat > (\S+) << 'EOF'\n(.*)\nEOF$", re.DOTALL)
UNKNOWN_IN_ONE_BATCH = {"token-passes", "answer-printed-passes", "server-with-bad-request-passes"}
"""In one batch the agent types a value before it can have seen it, and a last request that fails spoils all of it."""
SURE = (
    "Are you sure you want to mark the task as complete? This will trigger your solution to be graded. If so, include"
    ' "task_complete": true in your JSON response again.'
)
type Recorded = dict[str, Any]


def _call(steps: list[Recorded], name: str, arguments: Recorded, output: str) -> None:
    number = len(steps) + 1
    call = {"tool_call_id": f"c{number}", "function_name": name, "arguments": arguments}
    results = [{"source_call_id": f"c{number}", "content": output}]
    step = {"step_id": number, "source": "agent", "message": "", "tool_calls": [call]}
    steps.append({**step, "observation": {"results": results}})


def _trial(agent: str, steps: list[Recorded]) -> Recorded:
    return {"schema_version": "ATIF-v1.4", "session_id": "x", "agent": {"name": agent, "version": "1"}, "steps": steps}


def claude_code(made: Recorded) -> Recorded:
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        if typed := TYPED.match(one["command"]):
            answer = f"File created successfully at: {typed[1]}"
            _call(steps, "Write", {"file_path": typed[1], "content": typed[2]}, answer)
        else:
            failed = f"Exit code {one['exit_code']}\n" if one["exit_code"] else ""
            _call(steps, "Bash", {"command": one["command"]}, failed + one["output"])
    steps.append({"step_id": len(steps) + 1, "source": "agent", "message": made["closing"]})
    return _trial("claude-code", steps)


def pochi(made: Recorded) -> Recorded:
    """Its to-do list and its hand-over name the files; it records no exit codes."""
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        if typed := TYPED.match(one["command"]):
            _call(steps, "writeToFile", {"path": typed[1], "content": typed[2]}, '{"success":true}')
        else:
            output = json.dumps({"output": one["output"], "isTruncated": False})
            _call(steps, "executeCommand", {"command": one["command"]}, output)
    plan = {"id": "1", "content": f"Make {' '.join(re.findall(r'/app/[\w./]+', made['task']))}", "status": "completed"}
    _call(steps, "todoWrite", {"todos": [plan]}, '{"success":true}')
    _call(steps, "attemptCompletion", {"result": made["closing"]}, '{"success":true}')
    return _trial("pochi", steps)


def codex_program(made: Recorded) -> Recorded:
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        code = f"const r = await tools.exec_command({{cmd: {json.dumps(one['command'])}}});\ntext(r.output);"
        _call(steps, "exec", {"input": code}, one["output"])
    steps.append({"step_id": len(steps) + 1, "source": "agent", "message": made["closing"]})
    return _trial("codex", steps)


def returned_result(made: Recorded) -> Recorded:
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        output = json.dumps({"stdout": one["output"], "stderr": "", "exit_code": one["exit_code"]})
        _call(steps, "bash", {"command": one["command"]}, output)
    _call(steps, "return_result", {"done": True, "result": made["closing"]}, "")
    return _trial("own", steps)


def terminus(made: Recorded, batch: int = 3) -> Recorded:
    """Several commands on one screen, without a mark between them."""
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for start in range(0, len(made["actions"]), batch):
        some = made["actions"][start : start + batch]
        calls = [
            {
                "tool_call_id": f"c{start}_{n}",
                "function_name": "bash_command",
                "arguments": {"keystrokes": f"{one['command']}\n", "duration": 1.0},
            }
            for n, one in enumerate(some)
        ]
        screen = "".join(f"agent@sandbox:/app# {one['command']}\n{one['output']}" for one in some)
        results = [{"content": f"New Terminal Output:\n\n{screen}agent@sandbox:/app# "}]
        step = {"step_id": len(steps) + 1, "source": "agent", "message": "Analysis: -\nPlan: -", "tool_calls": calls}
        steps.append({**step, "observation": {"results": results}})
    for answer in (SURE, ""):
        _call(steps, "mark_task_complete", {}, answer)
        steps[-1]["message"] = f"Analysis: {made['closing']}"
    return _trial("terminus-2", steps)


def mini_swe_agent(made: Recorded, indent: str = "    ") -> Recorded:
    task = f"Please solve this issue: {made['task']}\n\nYou can execute bash commands and edit files."
    messages = [{"role": "system", "content": "One bash code block."}, {"role": "user", "content": task}]
    done = {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "output": "", "exit_code": 0}
    for one in (*made["actions"], done):
        block = "\n".join(indent + line for line in f"```bash\n{one['command']}\n```".split("\n"))
        output = f"<returncode>{one['exit_code']}</returncode>\n<output>\n{one['output']}</output>"
        thought = made["closing"] if one is done else "next."
        messages.append({"role": "assistant", "content": f"THOUGHT: {thought}\n\n{block}"})
        messages.append({"role": "user", "content": output})
    return {"info": {}, "messages": messages, "trajectory_format": "mini-swe-agent-1"}


SHAPES: dict[str, Callable[[Recorded], Recorded]] = {
    shape.__name__: shape for shape in (claude_code, pochi, codex_program, returned_result, terminus, mini_swe_agent)
}


def read(made: Recorded, shape: str, folder: Path) -> dense.Trajectory:
    path = folder / ("x.traj.json" if shape == "mini_swe_agent" else "trajectory.json")
    path.write_text(json.dumps(SHAPES[shape](made)), encoding="utf-8")
    (trajectory,) = dense.read(str(path))
    return trajectory


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ATTEMPTS)
def test_complete_is_what_passed(name: str, shape: str, tmp_path: Path) -> None:
    made = ATTEMPTS[name]
    assert made["passed"] == name.endswith("-passes")
    is_expected = made["passed"] and not (shape == "terminus" and name in UNKNOWN_IN_ONE_BATCH)
    run = read(made, shape, tmp_path)
    assert (state(run) == "complete") == is_expected, assess(run).demands
    assert state(run) != "incomplete" or not made["passed"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("server-silent-fails", "port_silent"),
        ("c-program-too-large-fails", "limit_missed"),
        ("c-program-never-run-fails", "program_never_run"),
        ("summary-never-read-fails", "unverified_change"),
        ("named-check-fails", "check_failed"),
        ("announced-fails", "action_announced"),
        ("admitted-fails", "failure_admitted"),
        ("steps-left-fails", "failure_admitted"),
        ("conflict-fails", "conflict_left"),
    ],
)
def test_what_failed_is_found(name: str, code: str, shape: str, tmp_path: Path) -> None:
    if code == "action_announced" and shape not in ("claude_code", "codex_program"):
        return  # what ends with a hand-over announces nothing
    assert found(assess(read(ATTEMPTS[name], shape, tmp_path)), code)
