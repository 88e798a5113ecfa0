"""Codex's event streams: `codex exec --json` (`item.completed`) and logs with `{"msg": {…}}`, which have no response
items.

Events do not say which calls a response made together: each call is a step, with what was said and thought before it.
A call that was running when the stream ended is the last step, without an observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from dense.readers.chat import describe
from dense.readers.content import arguments_of, text_of
from dense.readers.files import TraceRecord
from dense.readers.json_value import obj, string, whole
from dense.readers.reader import TraceLocation, steps_of_lines
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of
from dense.trajectory import Source, Step, ToolCall, Usage

PASSED = frozenset({"turn.started", "item.updated", "error"})
"""Lines of `codex exec --json` that add nothing to others."""


def is_event(line: dict[str, Any]) -> bool:
    """Whether a line is of such a stream."""
    if string(obj(line.get("msg")).get("type")) and "id" in line:
        return True
    if line.get("kind") == "codex_event" or (line.get("kind") == "session_start" and line.get("dir") == "meta"):
        return True
    if line.get("type") == "thread.started":
        return "thread_id" in line
    return line.get("type") == "item.completed" and "type" in obj(line.get("item"))


class EventStream:
    """Goes through the events and builds the steps."""

    def __init__(self, location: TraceLocation) -> None:
        self.location = location
        self.id: str | None = None
        self.model: str | None = None
        self.prompts: list[str] = []
        self.builder: StepBuilder | None = None
        self.usage: Usage | None = None
        self.running: dict[str, tuple[dict[str, Any], Source]] = {}

    def stream(self, records: Iterator[TraceRecord]) -> Stream | None:
        steps = self.steps(records)
        first = next(steps, None)
        if first is None:
            return None
        stream = Stream(
            format="codex",
            id=self.id or self.location.path.stem,
            source=Source(self.location.name),
            notices=self.location.notices,
        )
        stream.agent, stream.model, stream.task = "codex", self.model, task_of(self.prompts)
        stream.steps = self.with_usage(chain((first,), steps), stream)
        return stream

    def with_usage(self, steps: Iterator[Step], stream: Stream) -> Iterator[Step]:
        yield from steps
        stream.usage = self.usage

    def steps(self, records: Iterator[TraceRecord]) -> Iterator[Step]:
        yield from steps_of_lines(records, self.feed, self.location.notices)
        for item, source in self.running.values():
            if done := self.call(_completed_call(string(item.get("type")) or "?", item)[0], source)[1]:
                yield done
        if self.builder is not None:
            yield self.builder.build()

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        """Take one line; the step that it completes, if it does."""
        kind = string(line.get("type"))
        if kind == "thread.started":
            self.id = string(line.get("thread_id"))
        elif kind == "turn.completed":
            self.usage = usage_of_codex(line.get("usage")) or self.usage
        elif kind == "turn.failed":
            self.failed(text_of(obj(line.get("error")).get("message")))
        elif kind == "item.started":
            self.started(obj(line.get("item")), source)
        elif kind == "item.completed":
            return self.completed(obj(line.get("item")), source)
        elif line.get("kind") == "session_start":
            self.model = string(line.get("model"))
        elif message := obj(line.get("msg")) or obj(obj(line.get("payload")).get("msg")):
            return self.prompt(message, source)
        elif "kind" not in line and kind not in PASSED:  # a `kind` has the log of a user interface: keys, redraws
            self.location.notices.skip(f"unknown event {describe(line.get('type'))}", source)
        return None

    def failed(self, text: str) -> None:
        if self.builder is not None and text:
            self.builder.observe(text, origin="system", is_error=True)

    def started(self, item: dict[str, Any], source: Source) -> None:
        if item.get("type") in ("command_execution", "mcp_tool_call") and (identity := string(item.get("id"))):
            self.running[identity] = (item, source)

    def completed(self, item: dict[str, Any], source: Source) -> Step | None:
        """An item of `codex exec --json`, with its result."""
        kind = string(item.get("type")) or ""
        if kind in ("agent_message", "assistant_message"):
            return self.say(text_of(item.get("text")), source)
        if kind == "reasoning":
            return self.think(text_of(item.get("text")), source)
        if not kind:
            self.location.notices.skip("item without a type", source)
        if kind in ("", "error", "todo_list"):
            return None
        call, text, code = _completed_call(kind, item)
        self.running.pop(call.id or "", None)
        builder, done = self.call(call, source)
        builder.observe(text, call.id, exit_code=code)
        return done

    def call(self, call: ToolCall, source: Source) -> tuple[StepBuilder, Step | None]:
        """The step of a call, and the one that is complete by that."""
        builder, done = self.act(source, new=self.builder is not None and bool(self.builder.calls))
        builder.calls.append(call)
        return builder, done

    def prompt(self, message: dict[str, Any], source: Source) -> Step | None:
        """An event of the older protocol."""
        kind = message.get("type")
        if kind == "session_configured":
            self.id = self.id or string(message.get("session_id"))
            self.model = self.model or string(message.get("model"))
        elif kind == "user_message":
            self.words(text_of(message.get("message")))
        elif kind == "agent_message":
            return self.say(text_of(message.get("message")), source)
        elif kind == "agent_reasoning":
            return self.think(text_of(message.get("text")), source)
        elif call := _begun_call(message):
            return self.call(call, source)[1]
        elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end") and self.builder is not None:
            self.builder.observe(
                _ended_text(message), string(message.get("call_id")), exit_code=whole(message.get("exit_code"))
            )
        elif kind == "token_count":
            self.usage = usage_of_codex(obj(message.get("info")).get("total_token_usage")) or self.usage
        return None

    def words(self, text: str) -> None:
        if self.builder is not None:
            self.builder.observe(text, origin="user")
        elif text:
            self.prompts.append(text)

    def say(self, text: str, source: Source) -> Step | None:
        builder, done = self.act(source, new=self.has_acted())
        builder.message.append(text)
        return done

    def think(self, text: str, source: Source) -> Step | None:
        builder, done = self.act(source, new=self.has_acted())
        builder.reasoning.append(text)
        return done

    def has_acted(self) -> bool:
        return self.builder is not None and bool(self.builder.calls or self.builder.message)

    def act(self, source: Source, new: bool) -> tuple[StepBuilder, Step | None]:
        """The step that something of the agent belongs to, and the one that is complete by that."""
        if self.builder is not None and not new:
            return self.builder, None
        done = self.builder.build() if self.builder is not None else None
        self.builder = StepBuilder(source=source)
        return self.builder, done


def _begun_call(message: dict[str, Any]) -> ToolCall | None:
    """The call that an event of the older protocol announces, if it does."""
    kind, identity = message.get("type"), string(message.get("call_id"))
    if kind == "exec_command_begin":
        return ToolCall("shell", {key: message[key] for key in ("command", "cwd") if key in message}, identity)
    if kind == "patch_apply_begin":
        return ToolCall("apply_patch", obj(message.get("changes")), identity)
    if kind == "mcp_tool_call_begin":
        called = obj(message.get("invocation")) or message
        return ToolCall(_mcp_name(called), arguments_of(called.get("arguments")), identity)
    return None


def _ended_text(message: dict[str, Any]) -> str:
    if message.get("type") == "mcp_tool_call_end":
        result = obj(message.get("result"))
        return text_of(result.get("Ok")) or text_of(result.get("Err"))
    return text_of(message.get("aggregated_output")) or text_of([message.get("stdout"), message.get("stderr")])


def _mcp_name(called: dict[str, Any]) -> str:
    return "__".join(filter(None, ("mcp", string(called.get("server")), string(called.get("tool")))))


def _completed_call(kind: str, item: dict[str, Any]) -> tuple[ToolCall, str, int | None]:
    identity = string(item.get("id"))
    if kind == "command_execution":
        call = ToolCall("shell", {"command": item.get("command")}, identity)
        return call, text_of(item.get("aggregated_output")), whole(item.get("exit_code"))
    if kind == "mcp_tool_call":
        result = obj(item.get("result")).get("content", item.get("result")) or item.get("error")
        return ToolCall(_mcp_name(item), arguments_of(item.get("arguments")), identity), text_of(result), None
    arguments = {key: value for key, value in item.items() if key not in ("id", "type", "status")}
    return ToolCall(kind, arguments, identity), string(item.get("status")) or "", None


def usage_of_codex(value: Any) -> Usage | None:
    """Codex counts the cache inside the input."""
    counts = obj(value)
    total, read, output = (whole(counts.get(key)) for key in ("input_tokens", "cached_input_tokens", "output_tokens"))
    written = whole(counts.get("cache_write_input_tokens"))
    if total is None and output is None:
        return None
    fresh = None if total is None else max(total - (read or 0) - (written or 0), 0)
    return Usage(fresh, read, written, output)
