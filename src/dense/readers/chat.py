"""Chat messages as steps: the dialects of OpenAI and Anthropic, and the mixtures that people write.

An assistant message opens a step; what follows until the next one (tool messages, tool-result blocks, user and late
system messages) is what the step observed. Formats that keep a chat inside (Inspect, tau-bench, mini-swe-agent, spans)
feed it here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dense.readers.content import arguments_of, compact, text_of
from dense.readers.embedded import spoken_calls
from dense.readers.files import TraceRecord
from dense.readers.json_value import first_string, flag, is_obj, is_seq, obj, objs, string, timestamp, whole
from dense.readers.notices import Notices
from dense.readers.stream import StepBuilder
from dense.trajectory import Origin, Source, Step, ToolCall, Usage

AGENT_ROLES = frozenset({"assistant", "model", "ai", "agent"})
TOOL_ROLES = frozenset({"tool", "function", "toolResult", "tool_result", "environment", "ipython", "observation"})
SYSTEM_ROLES = frozenset({"system", "developer"})
USER_ROLES = frozenset({"user", "human"})
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
RESULT_IDS = ("tool_call_id", "toolCallId", "tool_use_id", "call_id")
CALL_PARTS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "toolCall", "tool-call"})


def role_of(message: dict[str, Any]) -> str:
    """The message's role; "" where it has none."""
    role = message.get("role")
    return role if isinstance(role, str) else string(message.get("from")) or ""


@dataclass
class Chat:
    """Goes through messages in order. `prompts` are the user's words before the first action: the task is among
    them."""

    notices: Notices
    prompts: list[str] = field(default_factory=list[str])
    system: list[str] = field(default_factory=list[str])
    model: str | None = None
    builder: StepBuilder | None = None
    calls_in_text: bool = False
    """Whether messages may have calls in their text: a log of a scaffold without tool calls."""

    def steps(self, records: Iterable[TraceRecord]) -> Iterator[Step]:
        """The steps of these messages. The first is handed out when the second begins: by then `prompts` is
        complete."""
        for record in records:
            if not is_obj(record.value):
                self.notices.skip(f"not a message: {describe(record.value)}", record.source)
            elif done := self.feed(record.value, record.source):
                yield done
        if done := self.finish():
            yield done

    def feed(self, message: dict[str, Any], source: Source) -> Step | None:
        """Take one message; the step that it completes, if it does."""
        role = role_of(message)
        if role in AGENT_ROLES:
            return self.act(message, source)
        if role in TOOL_ROLES:
            self._observe_tool(message, source)
        elif role in USER_ROLES:
            self._observe_user(message, source)
        elif role in SYSTEM_ROLES:
            if text := text_of(message.get("content")):
                self._said(text, "system", self.system, message)
        else:
            self.notices.skip(f"message with unknown role {role!r}" if role else "message without a role", source)
        return None

    def act(self, message: dict[str, Any], source: Source) -> Step | None:
        """The same for a message that is known to be the agent's."""
        done = self.finish()
        self.builder = self._open(message, source)
        return done

    def finish(self) -> Step | None:
        """The step that is still open, at the end."""
        builder, self.builder = self.builder, None
        if builder is not None and self.calls_in_text:
            _take_spoken_calls(builder, None)
        return None if builder is None else builder.build()

    def _open(self, message: dict[str, Any], source: Source) -> StepBuilder:
        content = message.get("content")
        if len(message) == 2 and isinstance(content, str):  # a role and a text, nothing else
            return StepBuilder(source=source, message=[content])
        builder = StepBuilder(
            source=source, timestamp=timestamp(message.get("timestamp")), usage=usage_of(message.get("usage"))
        )
        model = string(message.get("model"))
        if self.model is None:
            self.model = model
        elif model != self.model:
            builder.model = model
        for key in REASONING_KEYS:
            if key in message and (thought := text_of(message[key])):
                builder.reasoning.append(thought)
                break
        if isinstance(content, str):
            builder.message.append(content)
        else:
            for part in content if is_seq(content) else [content]:
                if is_obj(part):
                    add_part(builder, part)
                else:
                    builder.message.append(text_of(part))
        if message.get("tool_calls"):
            # Some writers keep a call in both places: among the parts and in the list.
            known = {call.id for call in builder.calls if call.id is not None}
            calls = map(tool_call, objs(message["tool_calls"]))
            builder.calls += [call for call in calls if call.id not in known] if known else calls
        if is_obj(message.get("function_call")):
            builder.calls.append(tool_call(message["function_call"]))
        return builder

    def _observe_tool(self, message: dict[str, Any], source: Source) -> None:
        if self.builder is None:
            self.notices.skip("tool result before any action", source)
            return
        error = message.get("error")
        text = text_of(message.get("content"))
        if error and not text:
            text = text_of(obj(error).get("message", error))
        call_id = first_string(message.get(key) for key in RESULT_IDS)
        is_error = flag(message.get("is_error"), message.get("isError"), True if error else None)
        self.builder.observe(text, call_id, is_error=is_error, exit_code=whole(message.get("exit_code")))

    def _observe_user(self, message: dict[str, Any], source: Source) -> None:
        content = message.get("content")
        words: list[Any] = []
        for part in content if is_seq(content) else [content]:
            if not (is_obj(part) and part.get("type") == "tool_result"):
                words.append(part)
            elif self.builder is None:
                self.notices.skip("tool result before any action", source)
            else:
                add_part(self.builder, part)
        if text := text_of(words):
            is_output = self.builder is not None and self.calls_in_text and _take_spoken_calls(self.builder, text)
            self._said(text, "tool" if is_output else "user", self.prompts, message)

    def _said(self, text: str, origin: Origin, before: list[str], message: dict[str, Any]) -> None:
        if self.builder is None:
            before.append(text)
        else:
            time = timestamp(message.get("timestamp")) if origin != "tool" else None
            self.builder.observe(text, origin=origin, timestamp=time)


def _take_spoken_calls(builder: StepBuilder, answer: str | None) -> bool:
    """Takes the calls out of the text of a step that has no others and was not answered yet; whether there are any."""
    if builder.calls or builder.observations:
        return False
    spoken = spoken_calls("\n\n".join(filter(None, builder.message)), answer)
    if spoken is None:
        return False
    builder.message, builder.calls = [spoken.text], spoken.calls
    return True


def add_part(builder: StepBuilder, part: dict[str, Any]) -> None:
    """One part of a message's content: text, thinking, a call, or a result."""
    kind = string(part.get("type")) or ""
    if kind in ("thinking", "reasoning"):
        keys = ("thinking", "reasoning", "text", "summary")
        builder.reasoning.append(next((t for key in keys if (t := text_of(part.get(key)))), ""))
    elif kind == "redacted_thinking":
        pass
    elif kind in CALL_PARTS:
        builder.calls.append(tool_call(part))
    elif kind.endswith("tool_result"):
        is_error = flag(part.get("is_error"))
        code = whole(part.get("exit_code"))
        builder.observe(
            text_of(part.get("content")), string(part.get("tool_use_id")), is_error=is_error, exit_code=code
        )
    else:
        builder.message.append(text_of(part))


def tool_call(call: dict[str, Any]) -> ToolCall:
    """A call, in whichever dialect."""
    inner = obj(call.get("function")) or call
    name = first_string((inner.get("name"), call.get("function"), call.get("toolName"))) or "?"
    arguments = next((inner[key] for key in ("arguments", "input", "args") if inner.get(key) is not None), None)
    return ToolCall(
        name, arguments_of(arguments), first_string(call.get(key) for key in ("id", "call_id", "toolCallId"))
    )


def usage_of(value: Any) -> Usage | None:
    """Token counts in the dialects of OpenAI (cache inside the input) and Anthropic (cache beside it), in disjoint
    buckets."""
    if not is_obj(value) or not value:
        return None
    output = _count(value, "output_tokens", "completion_tokens", "output")
    details = obj(value.get("prompt_tokens_details")) or obj(value.get("input_tokens_details"))
    read = _count(value, "cache_read_input_tokens", "input_tokens_cache_read", "cacheRead")
    write = _count(value, "cache_creation_input_tokens", "input_tokens_cache_write", "cacheWrite")
    if not details and "prompt_tokens" not in value:
        usage = Usage(_count(value, "input_tokens", "input"), read, write, output)
        return usage if usage != Usage() else None
    # Proxies that speak OpenAI's dialect for other providers name the cache in either place, always inside the prompt.
    prompt = _count(value, "prompt_tokens", "input_tokens")
    read = _count(details, "cached_tokens") if read is None else read
    write = _count(details, "cache_write_tokens", "cache_creation_tokens") if write is None else write
    fresh = None if prompt is None else max(prompt - (read or 0) - (write or 0), 0)
    return Usage(fresh, read, write, output)


def _count(usage: dict[str, Any], *keys: str) -> int | None:
    for key in keys:
        if key in usage and (number := whole(usage[key])) is not None:
            return number
    return None


def describe(value: Any) -> str:
    """A value for a message to people, on one line. Of an object only the keys: its values may be grades."""
    if is_obj(value):
        return f"an object with {', '.join(map(repr, list(value)[:6])) or 'nothing in it'}"
    if is_seq(value):
        return f"a list of {len(value)}"
    text = compact(value)
    return text if len(text) <= 60 else text[:57] + "..."
