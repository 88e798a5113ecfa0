"""`copilot-cli`: sessions of GitHub Copilot CLI, `~/.copilot/session-state/<id>/events.jsonl`.

A line each: `{type, data, id, timestamp, parentId}`. `assistant.message` is one action with its `toolRequests`;
`tool.execution_complete` has the result of a call, with the exit code of a shell. A call that a sub-agent made
(`parentToolCallId`) nests in the step whose call started it. Everything else is bookkeeping.

- `user.message` has the prompt in `content`; `transformedContent` is what the program made of it.
- `session.usage_record` has the tokens of the answer that comes next; input counts what the cache served.
- The last line of a command's result, `<shellId: … completed with exit code …>`, is the program's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dense.readers.content import arguments_of, text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.coding_agents.sessions import AgentSession
from dense.readers.json_value import flag, is_obj, number, obj, objs, string, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.readers.task import task_of
from dense.trajectory import Source, Step, ToolCall, Trajectory, Usage

FAMILIES = (
    "session.",
    "user.",
    "assistant.",
    "tool.",
    "system.",
    "hook.",
    "subagent.",
    "skill.",
    "abort",
    "permission.",
    "elicitation.",
)
"""How the types of events begin."""
SHELL_LINE = re.compile(r"\n?<(?:shellId: [^\n>]*|exited with exit code -?\d+)>\s*\Z")


class CopilotCli:
    name = "copilot-cli"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_event, map(obj, head)))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        yield from _Session(location).stream(records)


def _is_event(line: dict[str, Any]) -> bool:
    kind = string(line.get("type")) or ""
    if not is_obj(line.get("data")) or "parentId" not in line:
        return False
    return kind in ("session.start", "assistant.message", "user.message", "tool.execution_complete")


class _Session(AgentSession):
    """Goes through the events and builds the steps; sub-agents have one of their own."""

    name = CopilotCli.name

    def __init__(self, location: TraceLocation) -> None:
        super().__init__(location)
        self.next_usage: Usage | None = None
        self.inner: dict[str, tuple[_Session, list[Step], Source]] = {}

    def default_id(self) -> str:
        return self.location.path.parent.name

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        if not is_obj(line.get("data")):
            self.location.notices.skip("line is not an event", source)
            return None
        kind, data, time = string(line.get("type")) or "", obj(line.get("data")), string(line.get("timestamp"))
        if (call_id := string(data.get("parentToolCallId"))) and kind.startswith(("assistant.", "tool.")):
            session, steps, _ = self.inner.setdefault(call_id, (_Session(self.location), [], source))
            if done := session.feed({**line, "data": {**data, "parentToolCallId": None}}, source):
                steps.append(done)
        elif kind == "session.start":
            self.id = self.id or string(data.get("sessionId"))
            self.version, self.model = string(data.get("copilotVersion")), string(data.get("selectedModel"))
        elif kind == "session.usage_record":
            self.next_usage = _usage(obj(data.get("usage")))
        elif kind == "assistant.message":
            return self.answer(data, source, time)
        elif kind == "user.message":
            self.hear(data, time)
        elif kind == "tool.execution_complete":
            self.result(data, source)
        elif kind in ("session.error", "abort"):
            if self.builder is not None:
                text = string(data.get("message")) or string(data.get("reason")) or kind
                self.builder.observe(text, origin="system", is_error=True)
        elif not kind.startswith(FAMILIES):
            self.location.notices.skip(f"unknown event {kind[:60]!r}", source)
        return None

    def answer(self, data: dict[str, Any], source: Source, time: str | None) -> Step | None:
        done, builder = self.act(source, string(data.get("model")), time, self.next_usage)
        self.next_usage = None
        builder.message.append(text_of(data.get("content")))
        builder.reasoning.append(text_of(data.get("reasoningText")))
        builder.calls += [
            ToolCall(
                string(call.get("name")) or "?", arguments_of(call.get("arguments")), string(call.get("toolCallId"))
            )
            for call in objs(data.get("toolRequests"))
        ]
        return done

    def hear(self, data: dict[str, Any], time: str | None) -> None:
        text = text_of(data.get("content"))
        if text.strip():
            self.said(text, time, is_own=string(data.get("source")) not in (None, "user"))

    def result(self, data: dict[str, Any], source: Source) -> None:
        if self.builder is None:
            self.location.notices.skip("result of a call before any action", source)
            return
        result = data.get("result")
        text = text_of(obj(result).get("content")) if is_obj(result) else text_of(result)
        text = text or text_of(obj(data.get("error")).get("message"))
        code = whole(obj(data.get("shellExecution")).get("exitCode"))
        metric = number(obj(obj(data.get("toolTelemetry")).get("metrics")).get("exit_code"))
        code = int(metric) if code is None and metric is not None else code
        self.builder.observe(
            SHELL_LINE.sub("\n", text) if code is not None else text,
            string(data.get("toolCallId")),
            is_error=True if flag(data.get("success")) is False else None,
            exit_code=code,
        )

    def close(self) -> Step | None:
        builder, self.builder = self.builder, None
        if builder is None:
            return None
        for call in builder.calls:
            if (inner := self.inner.pop(call.id or "", None)) is not None:
                builder.subagents += _nested(*inner, call)
        return builder.build()


def _nested(session: _Session, steps: list[Step], source: Source, call: ToolCall) -> Iterator[Trajectory]:
    if last := session.close():
        steps.append(last)
    if steps:
        stream = Stream(
            format=CopilotCli.name, id=call.id or "sub-agent", source=source, notices=Notices(), steps=iter(steps)
        )
        stream.agent, stream.model = CopilotCli.name, session.model
        stream.task = task_of([text_of(call.arguments.get("prompt"))])
        yield stream.collect()


def _usage(usage: dict[str, Any]) -> Usage | None:
    total, read, written, output = (
        whole(usage.get(key)) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
    )
    if total is None and output is None:
        return None
    fresh = None if total is None else max(total - (read or 0) - (written or 0), 0)
    return Usage(fresh, read, written, output, number(usage.get("cost")) or None)
