"""Traces with a canary in every field, for tests of what leaves this program.

A canary has a text that acts on a terminal (colour, clipboard, direction, line feed). Every canary of a trajectory is
numbered, so that a test can say which field came through."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory, Usage

ACTING = "\x1b]52;c;aGFjaw==\x07\x1b[38;5;213m\x9b31m\u202e\u2066\u200f\ufeff\r\x08\x00\u2028"
"""Sets the clipboard, colours, turns the direction, overwrites."""
FORGED = "\nerror: FORGED"
"""Begins a line of its own."""
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What may not reach a terminal, without tab and line feed."""
OWN_SEQUENCES = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*[AGK])|\r")
"""What commands themselves write to a terminal: colours, the cursor, the end of a line."""
COUNTS = "\n1 failed, 2 passed in 0.1s\n"
"""What a test run sums up with: unmarked, so that it is known as one."""
FORGED_COLOUR = "\x1b[38;5;213m"
"""The colour of a canary, which no command uses."""


def acting(text: str) -> str:
    """A text with a canary in its middle and behind it."""
    head, _, tail = text.partition(" ")
    return f"{head}{ACTING}{FORGED} {tail}{ACTING}"


def _step(source: Source, mark: Any, calls: tuple[ToolCall, ...], seen: tuple[Observation, ...], **fields: Any) -> Step:
    return Step(source, mark("I go on"), calls=calls, observations=seen, **fields)


def hostile_trajectory(path: str = "trace.json", mark: Any = acting) -> Trajectory:
    """A trajectory in which every text is marked, and that leaves something open."""
    source = Source(path, None, None, mark("part"))
    test = ToolCall("bash", {"command": mark("pytest -q")}, mark("call-1"))
    tool = ToolCall(mark("tool"), {mark("key"): [mark("value"), {mark("inner"): mark("deep")}]}, mark("c2"), mark("c1"))
    write = ToolCall("write", {"path": mark("/app/notes.txt"), "content": mark("a result")}, mark("call-3"))
    failed = Observation(f"{mark('E   assert 1 == 2')}{COUNTS}", mark("call-1"), exit_code=1)
    again = ToolCall("bash", {"command": "pytest -q"}, mark("call-4"))
    other = Observation(mark("Traceback (most recent call last):\nValueError: bad"), mark("c2"), timestamp=mark("now"))
    stamp = mark("2026-01-01T00:00:00Z")
    inner = Step(source, mark("I help"), calls=(test,), observations=(failed,))
    child = Trajectory("dense", mark("child"), source, mark("helper"), mark("1.0"), mark("small"), steps=(inner,))
    return Trajectory(
        "dense",
        mark("session"),
        source,
        agent=mark("agent"),
        agent_version=mark("1.2.3"),
        model=mark("model"),
        task=Task(mark("Make the tests pass and write /app/result.txt."), mark("name"), last_request=mark("last")),
        steps=(
            _step(source, mark, (test,), (failed,), reasoning=mark("I think"), agent=mark("a"), model=mark("m")),
            _step(source, mark, (tool,), (other,), timestamp=stamp, usage=Usage(1, 2, 3, 4, 0.5)),
            _step(source, mark, (write,), (Observation(mark("ok"), mark("call-3")),), subagents=(child,)),
            _step(source, mark, (again,), (Observation(f"{mark('E   assert')}{COUNTS}", mark("call-4")),)),
            Step(source, mark("One test still fails.")),
        ),
        notices=(Notice("skipped", mark("a notice"), source),),
    )


def write_hostile_trace(path: Path, mark: Any = acting) -> Path:
    """The same as a file."""
    path.write_bytes(msgspec.json.encode(hostile_trajectory(str(path), mark)))
    return path


def write_claude_session(home: Path, project: Path, mark: Any = acting, name: str = "s1") -> Path:
    """A session of Claude Code in its store, every text of it marked, in which a test fails."""
    folder = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project))
    folder.mkdir(parents=True, exist_ok=True)
    common = {"sessionId": mark("session"), "cwd": str(project), "version": mark("2.0"), "gitBranch": mark("main")}
    common["timestamp"] = "2026-01-01T00:00:00.000Z"
    call = {"type": "tool_use", "id": mark("t1"), "name": "Bash", "input": {"command": mark("pytest -q")}}
    again = {"type": "tool_use", "id": mark("t3"), "name": "Bash", "input": {"command": "pytest -q"}}
    failed = {"type": "tool_result", "tool_use_id": mark("t3"), "content": mark("E   assert 1 == 2") + COUNTS}
    other = {"type": "tool_use", "id": mark("t2"), "name": mark("Tool"), "input": {mark("key"): mark("value")}}
    result = {"type": "tool_result", "tool_use_id": mark("t1"), "content": mark("E   assert 1 == 2") + COUNTS}
    answer = {
        "type": "tool_result",
        "tool_use_id": mark("t2"),
        "content": mark("Error: no such tool"),
        "is_error": True,
    }
    contents: list[tuple[str, Any]] = [
        ("user", mark("Make the tests pass and write /app/result.txt.")),
        ("assistant", [{"type": "text", "text": mark("I run the tests.")}, call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": mark("I call.")}, other]),
        ("user", [answer]),
        ("assistant", [{"type": "text", "text": mark("Again.")}, again]),
        ("user", [failed]),
        ("assistant", [{"type": "text", "text": mark("One test still fails.")}]),
    ]
    lines: list[str] = []
    for number, (role, content) in enumerate(contents):
        message = {"role": role, "content": content, "id": f"m{number}", "model": mark("model")}
        parent = f"u{number - 1}" if number else None
        lines.append(
            json.dumps({**common, "type": role, "uuid": f"u{number}", "parentUuid": parent, "message": message})
        )
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path
