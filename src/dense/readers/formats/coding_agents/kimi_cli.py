"""`kimi-cli`: sessions of Kimi CLI, `~/.kimi/sessions/<hash of the folder>/<id>/wire.jsonl`.

A line each, `{timestamp, message: {type, payload}}`. `TurnBegin` has the prompt; `StepBegin` opens an action, whose
text, thinking and calls come in parts; `ToolResult` has the result of a call, `StatusUpdate` the tokens of the step.

- Arguments that stream come as `ToolCallPart`s after their call.
- What a tool says about itself (`message`) is taken where it has no output, or an error beside it; the exit code of a
  shell is in it.
- A sub-agent's events are inside `SubagentEvent` and nest in the step whose call started it.
- The wire does not name the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from dense.readers.content import arguments_of, text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.coding_agents.sessions import AgentSession
from dense.readers.json_value import first_string, flag, is_obj, obj, string, timestamp, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source, Step, ToolCall, Trajectory, Usage

SILENT = frozenset(
    "TurnEnd StepInterrupted CompactionBegin CompactionEnd ApprovalRequest ApprovalResponse ApprovalRequestResolved"
    " MCPLoadingBegin MCPLoadingEnd MCPStatus HookTriggered HookResolved QuestionRequest QuestionResponse Notification"
    " PlanDisplay BtwBegin BtwEnd StepRetry ToolCallRequest".split()
)
EXIT_CODE = re.compile(r"exit code:? (-?\d{1,9})")


class KimiCli:
    name = "kimi-cli"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_event(obj(record))[0] in ("TurnBegin", "StepBegin") for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        yield from _Session(location).stream(records)


def _event(line: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    message = obj(line.get("message"))
    return string(message.get("type")) or "", obj(message.get("payload"))


class _Session(AgentSession):
    name = KimiCli.name

    def __init__(self, location: TraceLocation) -> None:
        super().__init__(location)
        self.inner: dict[str, tuple[_Session, list[Step], Source]] = {}

    def default_id(self) -> str:
        return self.location.path.parent.name

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        (kind, payload), time = _event(line), timestamp(line.get("timestamp"))
        builder = self.builder
        if kind in ("TurnBegin", "SteerInput"):
            self.said(text_of(payload.get("user_input")), time)
        elif kind == "StepBegin":
            return self.act(source, None, time)[0]
        elif kind == "SubagentEvent":
            return self.subagent(payload, source)
        elif builder is None:
            if kind and kind not in SILENT and kind != "StatusUpdate":
                self.location.notices.skip(f"{kind[:60]!r} before any action", source)
        elif kind == "ContentPart":
            is_thought = payload.get("type") == "think"
            (builder.reasoning if is_thought else builder.message).append(
                text_of(payload.get("think") if is_thought else payload)
            )
        elif kind == "ToolCall":
            function = obj(payload.get("function"))
            name = string(function.get("name")) or "?"
            builder.calls.append(ToolCall(name, arguments_of(function.get("arguments")), string(payload.get("id"))))
        elif kind == "ToolCallPart" and builder.calls:
            given = str(builder.calls[-1].arguments.get("input", "")) + (string(payload.get("arguments_part")) or "")
            builder.calls[-1] = replace(builder.calls[-1], arguments=arguments_of(given))
        elif kind == "ToolResult":
            result = obj(payload.get("return_value")) or obj(payload.get("result"))
            text, code = _result(result)
            is_error = flag(result.get("is_error")) or None
            builder.observe(text, string(payload.get("tool_call_id")), is_error=is_error, exit_code=code)
        elif kind == "StatusUpdate":
            builder.usage = _usage(obj(payload.get("token_usage"))) or builder.usage
        elif kind not in SILENT and line.get("type") != "metadata":
            self.location.notices.skip(f"unknown event {kind[:60]!r}", source)
        return None

    def subagent(self, payload: dict[str, Any], source: Source) -> None:
        """An event of a sub-agent, by the call that started it."""
        call_id = first_string((payload.get("parent_tool_call_id"), payload.get("task_tool_call_id"))) or ""
        session, steps, _ = self.inner.setdefault(call_id, (_Session(self.location), [], source))
        if is_obj(payload.get("event")) and (done := session.feed({"message": payload["event"]}, source)):
            steps.append(done)

    def close(self) -> Step | None:
        for call in self.builder.calls if self.builder is not None else ():
            if (inner := self.inner.pop(call.id or "", None)) is not None and self.builder is not None:
                self.builder.subagents += _nested(*inner, call)
        return super().close()


def _nested(session: _Session, steps: list[Step], source: Source, call: ToolCall) -> Iterator[Trajectory]:
    session.location = TraceLocation(session.location.path, session.location.name, Notices())
    last = session.close()
    steps += [last] if last else []
    if steps:
        stream = Stream(
            format=KimiCli.name,
            id=call.id or "sub-agent",
            source=source,
            notices=session.location.notices,
            steps=iter(steps),
        )
        stream.agent = KimiCli.name
        yield stream.collect()


def _result(result: dict[str, Any]) -> tuple[str, int | None]:
    output, said = text_of(result.get("output")), string(result.get("message")) or ""
    code = EXIT_CODE.search(said)
    if not output:
        text = said
    else:
        text = f"{output.rstrip()}\n{said}" if result.get("is_error") is True and said and not code else output
    return text, int(code[1]) if code else 0 if said == "Command executed successfully." else None


def _usage(tokens: dict[str, Any]) -> Usage | None:
    keys = ("input_other", "input_cache_read", "input_cache_creation", "output")
    usage = Usage(*(whole(tokens.get(key)) for key in keys))
    return usage if usage != Usage() else None
