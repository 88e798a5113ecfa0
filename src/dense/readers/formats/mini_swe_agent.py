"""`mini-swe-agent`: `*.traj.json`, one document with `info`, `messages` and `trajectory_format`; some files are the
bare list.

Version 1 has the command in a bash fence of the assistant's text and the observation in a *user* message with
`<returncode>`; version 2 has tool calls, `tool` messages, and an `exit` message at the end. What is there, or in
the last user message of version 1, is the output of the last command, which submitted it: often a whole patch.
`info.exit_status` and `info.submission` are never read.

There are variants in which a whole message is a Python program that calls functions which the prompt offers
(`exec_bash_cmd(cmd: str): …`): these are its calls, unless the answer shows that it was not run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from dense.readers.chat import AGENT_ROLES, Chat, describe, role_of, usage_of
from dense.readers.content import text_of
from dense.readers.embedded import (
    Functions,
    bash_fence,
    broken_code,
    indented_fence,
    offered_functions,
    python_calls,
)
from dense.readers.files import TraceRecord
from dense.readers.json_value import is_obj, is_seq, number, obj, seq, string, timestamp, whole
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of
from dense.trajectory import Observation, Source, Step, Task, ToolCall

_RETURN_CODE = re.compile(r"<returncode>(-?\d{1,10})</returncode>")


class MiniSweAgent:
    name = "mini-swe-agent"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_trajectory(record) for record in head) or (len(head) == 1 and _is_bare(head[0]))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        ids: set[str] = set()
        for record in fitting_documents(
            records, _has_actions, location.notices, "a trajectory with a step of the agent"
        ):
            if stream := _stream(record, location):
                stream.id = unique_id(stream.id, location_of_row(record.source), ids)
                yield stream


def _has_actions(value: Any) -> bool:
    return any(role_of(message) in AGENT_ROLES for message in _messages(value) if is_obj(message))


def _messages(value: Any) -> list[Any]:
    return seq(value.get("messages")) if is_obj(value) else seq(value)


def _is_trajectory(value: Any) -> bool:
    document = obj(value)
    if not is_seq(document.get("messages")):
        return False
    info = obj(document.get("info"))
    return str(document.get("trajectory_format")).startswith("mini-swe-agent") or "mini_version" in info


def _is_bare(value: Any) -> bool:
    """A list of messages in which commands are in fences and their return codes in user messages."""
    messages = [obj(message) for message in seq(value)]
    return any(
        role_of(message) == "user" and text_of(message.get("content")).startswith("<returncode>")
        for message in messages
    ) and any(role_of(message) == "assistant" for message in messages)


def _stream(record: TraceRecord, location: TraceLocation) -> Stream | None:
    document = obj(record.value)
    info = obj(document.get("info"))
    config = obj(info.get("config"))
    chat = Chat(notices=location.notices)
    steps = _steps(chat, _messages(record.value), record.source)
    first = next(steps, None)
    if first is None:
        return None
    name = string(document.get("instance_id"))
    identity = name or Path(record.source.path).name.partition(".")[0]
    stream = Stream(
        format=MiniSweAgent.name,
        id=identity,
        source=record.source,
        notices=location.notices,
        steps=chain((first,), steps),
    )
    stream.agent, stream.agent_version = MiniSweAgent.name, string(info.get("mini_version"))
    stream.model = string(obj(config.get("model")).get("model_name")) or chat.model
    stream.task = _task(chat.prompts, string(obj(config.get("agent")).get("instance_template")), name)
    stream.cost_usd = number(obj(info.get("model_stats")).get("instance_cost")) or None
    return stream


def _steps(chat: Chat, messages: list[Any], source: Source) -> Iterator[Step]:
    code = _CodeMessages(chat)
    for index, message in enumerate(messages):
        if not is_obj(message):
            here = Source(source.path, source.line, index, source.part)
            chat.notices.skip(f"not a message: {describe(message)}", here)
            continue
        role = message.get("role")
        if chat.builder is not None and role in ("user", "tool", "exit"):
            if code.is_open:
                code.settle(chat.builder, message)
            _observe(chat.builder, message)
            continue
        here = Source(source.path, source.line, index, source.part)
        code.is_open = False
        done = chat.act(message, here) if role == "assistant" else chat.feed(message, here)
        if chat.builder is not None and role == "assistant":
            _complete(chat.builder, message)
            if not chat.builder.calls:
                code.take(chat.builder)
        if done is not None:
            yield done
    if done := chat.finish():
        yield done


def _complete(builder: StepBuilder, message: dict[str, Any]) -> None:
    """What an assistant's message has beyond a chat: its command in the text, its response's usage, its time."""
    if len(message) > 2 or "content" not in message:  # more than a role and a text
        builder.model = builder.usage = None
        if extra := obj(message.get("extra")):
            builder.usage = usage_of(obj(extra.get("response")).get("usage"))
            builder.timestamp = builder.timestamp or timestamp(extra.get("timestamp"))
    if not builder.calls and (spoken := bash_fence("\n".join(builder.message))):
        builder.message, builder.calls = [spoken.text], spoken.calls


class _CodeMessages:
    """Messages that are programs, or have a fence that not every version takes. Only its answer shows whether one was
    run."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._functions: Functions | None = None
        self._message: list[str] = []
        """The last message that may be one, as it was."""
        self.is_open = False
        """Whether its answer is still to come."""

    def take(self, builder: StepBuilder) -> None:
        """Takes the calls out of a message that is a program, or whose fence is indented."""
        if spoken := indented_fence("\n".join(builder.message)):
            self._message, self.is_open = builder.message, True
            builder.message, builder.calls = [spoken.text], spoken.calls
            return
        if self._functions is None:
            self._functions = offered_functions([*self._chat.system, *self._chat.prompts])
        if not self._functions:
            return
        self._message, self.is_open = builder.message, True
        if spoken := python_calls("\n".join(builder.message), self._functions):
            builder.message, builder.calls = [spoken.text], spoken.calls

    def settle(self, builder: StepBuilder, answer: dict[str, Any]) -> None:
        """By the first answer: a program that was run may be none that we can read, one that was not run has no calls.
        To end the attempt takes no arguments, and is not answered with a return code."""
        self.is_open = False
        was_run = _RETURN_CODE.search(text_of(answer.get("content"))) is not None
        if was_run and not builder.calls:
            spoken = broken_code("\n".join(self._message))
            builder.message, builder.calls = [spoken.text], spoken.calls
        elif not was_run and any(call.arguments for call in builder.calls) and not _submits(builder.calls):
            builder.message, builder.calls = self._message, []


def _submits(calls: list[ToolCall]) -> bool:
    """Whether a command ends the attempt: what it prints is the submission, without a return code."""
    return any("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in str(call.arguments.get("command")) for call in calls)


def _observe(builder: StepBuilder, message: dict[str, Any]) -> None:
    """Whoever the role says: what follows a command is its output, the rest are words of the harness."""
    content = message.get("content")
    text = content if isinstance(content, str) else text_of(content)
    code = whole(obj(message["extra"]).get("returncode")) if "extra" in message else None
    if code is None and "<returncode>" in text and (match := _RETURN_CODE.search(text)):
        code = int(match[1])
    is_output = message.get("role") == "tool" or (bool(builder.calls) and not builder.observations)
    if text or is_output:
        call_id = string(message["tool_call_id"]) if "tool_call_id" in message else None
        builder.observations.append(
            Observation(
                text=text, call_id=call_id, origin="tool" if is_output else "system", is_error=None, exit_code=code
            )
        )


def _task(prompts: list[str], template: str | None, name: str | None) -> Task | None:
    """The instruction, by the template that the run itself recorded, else by the known marks around it."""
    if template and prompts and (marks := _around_task(template)):
        before, after = marks
        start = prompts[0].find(before) + len(before)
        end = prompts[0].rfind(after) if after else len(prompts[0])
        if before in prompts[0] and start <= end:
            return Task(prompts[0][start:end], name)
    return task_of(prompts, name)


def _around_task(template: str) -> tuple[str, str] | None:
    """The fixed text right before and right after the task in a Jinja template."""
    parts = re.split(r"\{\{-?\s*task\s*-?\}\}", template, maxsplit=1)
    if len(parts) != 2:
        return None
    before = re.split(r"\}\}|%\}", parts[0])[-1]
    after = re.split(r"\{\{|\{%", parts[1])[0].rstrip("\n")
    if (parts[0].strip() and not before.strip()) or (parts[1].strip() and not after.strip()):
        return None  # there is something, but nothing that is the same in every prompt
    return before, after
