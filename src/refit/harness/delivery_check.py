"""What the agent was really given, by its trace: the message is read back and compared.

The trace is read as it was written, not as a trajectory: readers take prompt templates off, and what is asked here is
what stood in them. A trace is somebody else's file; whatever is in it, an answer comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from dense.errors import DenseError
from dense.readers import read_streams
from dense.readers.content import text_of
from dense.readers.json_value import obj, objs
from dense.readers.stream import Stream
from dense.trajectory import Step
from refit.harness.derived_task import FEEDBACK_FILE, instruction_of, instruction_with, sha256
from refit.harness.harness import AttemptOrder, AttemptResult, Delivery, Received

_NAME = FEEDBACK_FILE.rpartition("/")[2]


def with_delivery(attempted: AttemptResult, order: AttemptOrder, trial: Path) -> AttemptResult:
    """The attempt with how its message was delivered and what came of that; as it is where there was no message."""
    if order.message is None:
        return attempted
    instruction = instruction_with(order.message, instruction_of(order.task), as_file=order.as_file)
    return replace(
        attempted,
        delivered=instruction.delivered,
        message_sha256=sha256(order.message),
        received=compare_received(trial, instruction.text, instruction.delivered),
    )


def compare_received(trial: Path, expected: str, delivered: Delivery) -> Received:
    """How the trace of a trial compares with the instruction that its agent should have been given."""
    if not delivered:
        return ""
    try:
        if delivered == "file" and _is_opened(trial):
            return "opened"
        prompts = [_plain(text) for text in _prompts_of(trial)]
    except (DenseError, OSError, ValueError, RecursionError):
        return "not recorded"
    if not any(prompts):
        return "not recorded"
    wanted = _plain(expected)
    if not any(wanted in text for text in prompts):
        return "different"
    return "same" if delivered == "instruction" else "not opened"


def _plain(text: str) -> str:
    """A text as programs hand it on: with one kind of line ends, and without blanks around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _prompts_of(trial: Path) -> Iterator[str]:
    """What users and the harness said before the agent first acted."""
    documents = sorted((trial / "agent").glob("trajectory*.json"))
    has_prompts = False
    for path in documents:
        for text in _prompts(path):
            has_prompts = True
            yield text
    if not has_prompts:
        yield from _prompts_of_other_traces(trial)


def _prompts(path: Path) -> Iterator[str]:
    """The prompts of an ATIF document, those that a continuation copied included."""
    try:
        document = obj(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return
    texts: list[str] = []
    for step in objs(document.get("steps")):
        if step.get("source") == "agent":
            break
        texts.append(text_of(step.get("message")))
    yield from texts
    if len(texts) > 1:  # one message that was recorded in parts
        yield "\n".join(texts)


def _prompts_of_other_traces(trial: Path) -> Iterator[str]:
    """The same from the traces of programs that write none for Harbor. A task that was read from a file beside the
    trace is what we wrote there ourselves, and shows nothing."""
    for stream in _streams(trial):
        if stream.task is not None and stream.task.origin == "trace":
            yield stream.task.instruction
        for _ in stream.guarded():  # a stream must be gone through before the next is asked for
            pass


def _is_opened(trial: Path) -> bool:
    """Whether an action names the file."""
    opened = False
    for stream in _streams(trial):
        for step in stream.guarded():
            opened = opened or _names_file(step)
    return opened


def _names_file(step: Step) -> bool:
    if any(_NAME in _text(call.arguments) for call in step.calls):
        return True
    return any(_names_file(inner) for subagent in step.subagents for inner in subagent.steps)


def _text(arguments: dict[str, Any]) -> str:
    return msgspec.json.encode(arguments).decode()


def _streams(trial: Path) -> Iterator[Stream]:
    for item in read_streams(trial):
        if isinstance(item, Stream):
            yield item
