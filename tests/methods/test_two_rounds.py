"""A second round: the run was given feedback as its instruction. No method sees a trace of that, in any format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from made_feedback import made_feedback, tree_feedback

import dense
from dense.analysis.rules import RulesAnalyst
from dense.message.message import REPORT
from dense.methods import method, method_names
from dense.model.chat import ChatReply, ChatRequest
from dense.outcome import Outcome
from dense.redact.walk import texts_of
from dense.service import ModelSettings, distill_sync
from dense.trajectory import Task, Trajectory, Usage

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "atif": "csv-report/trial",
    "mini-swe-agent": "password-recovery/recovery.traj.json",
    "claude-code": "clean-success/session.jsonl",
    "codex": "looks-successful/rollout.jsonl",
}


def first_round(task: Task, format: str) -> tuple[str, list[str]]:
    """A message for this task, with a report on another trace, and the lines by which it is known."""
    other = "looks-successful" if format != "codex" else "csv-report"
    (trace,) = dense.read(ROOT / "examples" / other)
    tree = msgspec.structs.replace(distill_sync(trace, RulesAnalyst()).reconciled, task=task)
    feedback = tree_feedback(tree)
    lines = [*feedback.report.splitlines(), *REPORT.fresh.splitlines()]
    return feedback.message, sorted({line.strip() for line in lines if len(line.strip()) >= 20})


def escaped(text: str, *, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def second_round(format: str, folder: Path) -> tuple[Path, Task, list[str]]:
    """A copy of a real trace of this format whose instruction is the message."""
    path = ROOT / "examples" / EXAMPLES[format]
    copy = folder / path.name
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        shutil.copy(path, copy)
    (before,) = dense.read(copy)
    assert before.task is not None
    message, lines = first_round(before.task, format)
    file = copy / "agent" / "trajectory.json" if copy.is_dir() else copy
    text, changed = file.read_text(), 0
    for ascii_only in (True, False):
        asked = escaped(before.task.instruction.strip(), ascii_only=ascii_only)
        changed += text.count(asked)
        text = text.replace(asked, escaped(message.rstrip("\n"), ascii_only=ascii_only))
        if ascii_only and asked == escaped(before.task.instruction.strip(), ascii_only=False):
            break
    assert changed
    file.write_text(text)
    # What the trace says by itself is its own: a traceback's first line, the folder in a listing.
    return copy, before.task, [line for line in lines if not found([line], texts_of(before))]


def as_messages(folder: Path) -> tuple[Path, Task, list[str]]:
    """The message in parts: of one message, and over two."""
    task = Task("Sum the column `amount` of /app/sales.csv and say the total.")
    message, lines = first_round(task, "messages")
    cut = [message[: len(message) // 3], message[len(message) // 3 : len(message) // 2], message[len(message) // 2 :]]
    content = [{"type": "text", "text": part} for part in cut[:2]]
    chat = [
        {"role": "user", "content": content},
        {"role": "user", "content": cut[2]},
        {"role": "assistant", "content": "I add them up: 4 + 5 + 6 is 15."},
    ]
    path = folder / "chat.json"
    path.write_text(json.dumps({"messages": chat}))
    return path, task, lines


class Listening:
    """A model that keeps what it is asked, and answers in the simplest way that the schema allows."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.heard.append("\n".join([request.system, *(message.text for message in request.messages)]))
        return ChatReply(json.dumps(filled(request.schema or {})), Usage(1, None, None, 1), "stop", "m", 0.0)


def filled(schema: dict[str, Any], place: int = 0) -> Any:
    if "enum" in schema:
        return schema["enum"][place % len(schema["enum"])]
    kind = schema.get("type")
    if kind == "object":
        return {key: filled(value, place) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema["items"], entry) for entry in range(schema.get("minItems", 0))]
    return {"integer": schema.get("minimum", 0), "boolean": False}.get(str(kind), "words")


def found(lines: list[str], texts: list[str]) -> list[str]:
    everything = "\n".join(texts)
    plain = " ".join(everything.split())
    return [line for line in lines if line in everything or " ".join(line.split()) in plain]


def read(path: Path) -> Trajectory:
    (trajectory,) = dense.read(path)
    return trajectory


@pytest.mark.parametrize("format", [*EXAMPLES, "messages"])
def test_no_method_sees_a_trace_of_the_first_round(format: str, tmp_path: Path) -> None:
    path, task, lines = as_messages(tmp_path) if format == "messages" else second_round(format, tmp_path)
    trajectory = read(path)
    assert trajectory.format == format
    assert len(lines) > 12
    assert len(found(lines, texts_of(trajectory))) >= len(lines) - 2, "the message is in the trace, but for its cuts"
    for name in method_names():
        model = Listening()
        chosen = method(name)
        outcome = Outcome("x", 0.0) if chosen.sees == "outcome" else None
        analyst = ModelSettings().analyst(model)
        made = made_feedback(chosen, trajectory, analyst, outcome=outcome)
        assert found(lines, model.heard) == [], name
        own = made.feedback.message.replace(REPORT.fresh, "")
        assert found(lines, [own]) == [], name
        assert own.rstrip("\n").endswith(task.instruction.strip())
        kept = [msgspec.json.encode(value).decode() for value in made.files.values()]
        assert found([line for line in lines if '"' not in line], kept) == [], name
