"""Recorded attempts (`tests/fixtures/attempts.json` and its like) in the shapes in which agents record them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dense

TYPED = re.compile(r"^cat > (\S+) <<-? *'?(\w+)'?\n(.*)\n\2$", re.DOTALL)
"""A command that only writes a file: agents with a tool for files use that."""
SURE = (
    "Are you sure you want to mark the task as complete? This will trigger your solution to be graded. If so, include"
    ' "task_complete": true in your JSON response again.'
)
type Recorded = dict[str, Any]


def _call(steps: list[Recorded], name: str, arguments: Recorded, output: str, thought: str = "") -> None:
    number = len(steps) + 1
    call = {"tool_call_id": f"c{number}", "function_name": name, "arguments": arguments}
    results = [{"source_call_id": f"c{number}", "content": output}]
    step = {"step_id": number, "source": "agent", "message": thought, "tool_calls": [call]}
    steps.append({**step, "observation": {"results": results}})


def _trial(agent: str, steps: list[Recorded]) -> Recorded:
    return {"schema_version": "ATIF-v1.4", "session_id": "x", "agent": {"name": agent, "version": "1"}, "steps": steps}


def _closed(agent: str, steps: list[Recorded], made: Recorded) -> Recorded:
    """A run that ends with a message, or breaks off if there is none."""
    if made["closing"]:
        steps.append({"step_id": len(steps) + 1, "source": "agent", "message": made["closing"]})
    return _trial(agent, steps)


def _thought(one: Recorded) -> str:
    return one.get("thought", "")


def claude_code(made: Recorded) -> Recorded:
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        if (typed := TYPED.match(one["command"])) and not one["exit_code"]:
            answer = f"File created successfully at: {typed[1]}"
            _call(steps, "Write", {"file_path": typed[1], "content": typed[3]}, answer, _thought(one))
        else:
            failed = f"Exit code {one['exit_code']}\n" if one["exit_code"] else ""
            _call(steps, "Bash", {"command": one["command"]}, failed + one["output"], _thought(one))
    return _closed("claude-code", steps, made)


def pochi(made: Recorded) -> Recorded:
    """Its to-do list and its hand-over name the files; it records no exit codes."""
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        if (typed := TYPED.match(one["command"])) and not one["exit_code"]:
            arguments = {"path": typed[1], "content": typed[3]}
            _call(steps, "writeToFile", arguments, '{"success":true}', _thought(one))
        else:
            output = json.dumps({"output": one["output"], "isTruncated": False})
            _call(steps, "executeCommand", {"command": one["command"]}, output, _thought(one))
    if made["closing"]:
        files = " ".join(re.findall(r"/app/[\w./]+", made["task"]))
        plan = {"id": "1", "content": f"Make {files}", "status": "completed"}
        _call(steps, "todoWrite", {"todos": [plan]}, '{"success":true}')
        _call(steps, "attemptCompletion", {"result": made["closing"]}, '{"success":true}')
    return _trial("pochi", steps)


def codex_program(made: Recorded) -> Recorded:
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        code = f"const r = await tools.exec_command({{cmd: {json.dumps(one['command'])}}});\ntext(r.output);"
        _call(steps, "exec", {"input": code}, one["output"], _thought(one))
    return _closed("codex", steps, made)


def returned_result(made: Recorded) -> Recorded:
    steps: list[Recorded] = [{"step_id": 1, "source": "user", "message": made["task"]}]
    for one in made["actions"]:
        output = json.dumps({"stdout": one["output"], "stderr": "", "exit_code": one["exit_code"]})
        _call(steps, "bash", {"command": one["command"]}, output, _thought(one))
    if made["closing"]:
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
        said = f"Analysis: {_thought(some[0]) or '-'}\nPlan: -"
        step = {"step_id": len(steps) + 1, "source": "agent", "message": said, "tool_calls": calls}
        steps.append({**step, "observation": {"results": results}})
    for answer in (SURE, "") if made["closing"] else ():
        _call(steps, "mark_task_complete", {}, answer)
        steps[-1]["message"] = f"Analysis: {made['closing']}"
    return _trial("terminus-2", steps)


def mini_swe_agent(made: Recorded, indent: str = "    ") -> Recorded:
    task = f"Please solve this issue: {made['task']}\n\nYou can execute bash commands and edit files."
    messages = [{"role": "system", "content": "One bash code block."}, {"role": "user", "content": task}]
    done = {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "output": "", "exit_code": 0}
    done["thought"] = made["closing"]
    for one in (*made["actions"], *([done] if made["closing"] else [])):
        block = "\n".join(indent + line for line in f"```bash\n{one['command']}\n```".split("\n"))
        output = f"<returncode>{one['exit_code']}</returncode>\n<output>\n{one['output']}</output>"
        messages.append({"role": "assistant", "content": f"THOUGHT: {_thought(one) or 'next.'}\n\n{block}"})
        messages.append({"role": "user", "content": output})
    return {"info": {}, "messages": messages, "trajectory_format": "mini-swe-agent-1"}


SHAPES: dict[str, Callable[[Recorded], Recorded]] = {
    shape.__name__: shape for shape in (claude_code, pochi, codex_program, returned_result, terminus, mini_swe_agent)
}


def write_as(made: Recorded, shape: str, folder: Path) -> Path:
    """Write the attempt to a folder in this shape."""
    path = folder / ("x.traj.json" if shape == "mini_swe_agent" else "trajectory.json")
    path.write_text(json.dumps(SHAPES[shape](made)), encoding="utf-8")
    return path


def read_as(made: Recorded, shape: str, folder: Path) -> dense.Trajectory:
    """The attempt as the reader gives it of a file in this shape, which is written to a folder."""
    (trajectory,) = dense.read(str(write_as(made, shape, folder)))
    return trajectory
