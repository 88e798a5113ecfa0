"""One sample of an Inspect log: its conversation, completed by what the events record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from dense.readers.chat import AGENT_ROLES, Chat, role_of
from dense.readers.content import compact, text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.inspect.archive import referred_messages
from dense.readers.formats.inspect.events import (
    InspectEvents,
    InspectModelCall,
    InspectToolEvent,
    first_message,
    sum_usage,
    usage_with_cost,
)
from dense.readers.json_value import first_string, is_obj, is_seq, obj, objs, seq, string
from dense.readers.notices import Notices
from dense.trajectory import Observation, Source, Step, Task, Trajectory, Usage

ATTACHMENT = "attachment://"


@dataclass
class InspectSample:
    """One sample: its conversation, and what the events add to it."""

    value: dict[str, Any]
    notices: Notices
    source: Source

    def __post_init__(self) -> None:
        self.attachments = obj(self.value.get("attachments"))
        self.pool = seq(obj(self.value.get("events_data")).get("messages"))
        self.missing: set[str] = set()
        self.events = InspectEvents.of(seq(self.value.get("events")))

    def steps(self, chat: Chat) -> list[Step]:
        """The steps of the sample's own agent."""
        messages = [TraceRecord(m, self._at(index)) for index, m in enumerate(seq(self.value.get("messages")))]
        has_acts = any(map(_is_act, messages))
        if self.events.compacted or not has_acts:
            as_called = self._as_called(self.events.within(None), messages)
            messages = as_called or (messages if has_acts else [*messages, *self._output()])
        steps = self._steps(chat, messages, self.events.within(None), frozenset())
        if steps:
            steps[-1] = with_observations(steps[-1], list(self._end()))
        return steps

    def task(self, chat: Chat, run: str | None) -> Task | None:
        given = self._resolved(self.value.get("input"))
        words = [m.get("content") for m in objs(given) if role_of(m) == "user"] if is_seq(given) else [given]
        text = "\n\n".join(filter(None, map(text_of, words)))
        if seq(self.value.get("choices")) or not text:
            text = "\n\n".join(chat.prompts) or text
        return Task(text, "/".join(filter(None, (run, id_text(self.value.get("id")))))) if text else None

    def usage(self) -> Usage | None:
        """What the attempt cost: all model calls but those of scorers."""
        if self.events.calls:
            return sum_usage(call.usage for call in self.events.calls if not call.grades)
        return sum_usage(map(usage_with_cost, obj(self.value.get("model_usage")).values()))

    def _steps(
        self, chat: Chat, messages: list[TraceRecord], own: list[InspectModelCall], inside: frozenset[str]
    ) -> list[Step]:
        """The steps of one agent, each with what the events know of its model call and its tool calls."""
        by_id = {call.message_id: call for call in self.events.calls if call.message_id}
        # Logs before 0.3.70 have no message IDs; where each call gave one message they still correspond by their order.
        in_order = iter(own if len(own) == sum(map(_is_act, messages)) else ())
        calls = [
            by_id.get(string(obj(record.value).get("id")) or "", call)
            for record in messages
            if _is_act(record)
            for call in (next(in_order, None),)
        ]
        # Each message of the agent opens a step, so the steps and the calls go together.
        steps = chat.steps(self._normal_records(messages, iter(calls)))
        return [self._with_events(step, call, inside) for step, call in zip(steps, calls, strict=False)]

    def _normal_records(
        self, messages: list[TraceRecord], calls: Iterator[InspectModelCall | None]
    ) -> Iterator[TraceRecord]:
        for record in messages:
            message = record.value
            if _is_act(record):
                call = next(calls, None)
                if call and seq(obj(call.message).get("tool_calls")) and not seq(message.get("tool_calls")):
                    message = call.message
            yield TraceRecord(_normal(self._resolved(message)) if is_obj(message) else message, record.source)

    def _with_events(self, step: Step, call: InspectModelCall | None, inside: frozenset[str]) -> Step:
        answered = {observation.call_id for observation in step.observations}
        tools = [self.events.tools[c.id] for c in step.calls if c.id in self.events.tools]
        late = [said for tool in tools if tool.id not in answered and (said := self._result(tool))]
        subagents = [
            trajectory
            for tool in tools
            if tool.agent_span and tool.agent_span not in inside
            for trajectory in self._subagent(tool, tool.agent_span, inside | {tool.agent_span})
        ]
        step = with_observations(step, late) if late else step
        if call is None:
            return msgspec.structs.replace(step, subagents=tuple(subagents)) if subagents else step
        return msgspec.structs.replace(
            step, usage=call.usage, timestamp=call.timestamp, subagents=tuple(subagents) or step.subagents
        )

    def _result(self, tool: InspectToolEvent) -> Observation | None:
        text = text_of(self._resolved(tool.error or tool.result))
        return Observation(text=text, call_id=tool.id, is_error=True if tool.error else None) if text else None

    def _subagent(self, tool: InspectToolEvent, span: str, inside: frozenset[str]) -> Iterator[Trajectory]:
        own = self.events.within(span)
        chat = Chat(notices=self.notices)
        steps = self._steps(chat, self._as_called(own, []), own, inside)
        if steps:
            source = msgspec.structs.replace(self.source, part=f"{self.source.part} {tool.function}")
            task = Task("\n\n".join(chat.prompts)) if chat.prompts else None
            usage = sum_usage(call.usage for call in own)
            yield Trajectory(
                format="inspect",
                id=span,
                source=source,
                agent=tool.function,
                agent_version=None,
                model=chat.model,
                task=task,
                steps=tuple(steps),
                usage=usage,
            )

    def _as_called(self, calls: list[InspectModelCall], last: list[TraceRecord]) -> list[TraceRecord]:
        """The messages in the order in which they were first shown to the model, then what came after the last call."""
        keys: set[str] = set()
        records: list[TraceRecord] = []

        def add(message: Any, source: Source) -> None:
            key = string(obj(message).get("id")) or compact(message)
            if is_obj(message) and key not in keys:
                keys.add(key)
                records.append(TraceRecord(message, source))

        for call in calls:
            source = self._at(call.index, " events")
            for message in call.inputs or referred_messages(call.input_refs, self.pool):
                add(message, source)
            add(call.message, source)
        for record in last if records else ():
            add(record.value, record.source)
        return records

    def _output(self) -> list[TraceRecord]:
        message = first_message(self.value.get("output"))
        return [TraceRecord(message, self.source)] if message else []

    def _end(self) -> Iterator[Observation]:
        """What ended the sample before its agent did."""
        limit = obj(self.value.get("limit"))
        if limit:
            reason = string(limit.get("reason")) or f"{limit.get('type')} limit reached: {limit.get('limit')}"
            yield Observation(text=reason, origin="system")
        if error := string(obj(self.value.get("error")).get("message")):
            yield Observation(text=self._resolved(error), origin="system", is_error=True)

    def _at(self, index: int, what: str = "") -> Source:
        return msgspec.structs.replace(self.source, part=f"{self.source.part}{what}", index=index)

    def _resolved(self, value: Any) -> Any:
        """The same value with its attachments put in."""
        if isinstance(value, str):
            return self._attached(value) if value.startswith(ATTACHMENT) else value
        if is_seq(value):
            return [self._resolved(item) for item in value]
        if is_obj(value):
            return {key: self._resolved(item) for key, item in value.items()}
        return value

    def _attached(self, reference: str) -> str:
        text = self.attachments.get(reference.removeprefix(ATTACHMENT))
        if isinstance(text, str):
            return text
        if reference not in self.missing:
            self.missing.add(reference)
            self.notices.skip(f"{reference} is not among the attachments", self.source)
        return reference


def _is_act(record: TraceRecord) -> bool:
    return role_of(obj(record.value)) in AGENT_ROLES


def with_observations(step: Step, more: list[Observation]) -> Step:
    return msgspec.structs.replace(step, observations=(*step.observations, *more))


def _normal(message: dict[str, Any]) -> dict[str, Any]:
    """A message as `Chat` takes it."""
    message = message | {"timestamp": None, "usage": None}
    if string(message.get("tool_error")):
        message["error"] = message["tool_error"]
    carried = first_string(seq(message.get("tool_call_id")))
    if role_of(message) == "user" and carried:
        return message | {"role": "tool", "tool_call_id": carried}
    if role_of(message) == "user" and obj(message.get("metadata")).get("summary") is True:
        return message | {"role": "system"}
    if is_seq(message.get("content")):
        message["content"] = [normal for part in message["content"] for normal in _normal_parts(part)]
    return message


def _normal_parts(part: Any) -> Iterator[Any]:
    """A part of content: what only a provider understands is left out, a server-side call is followed by its result."""
    kind = obj(part).get("type")
    if kind == "data":
        return
    if kind == "reasoning" and obj(part).get("redacted") is True:
        yield part | {"reasoning": None}
        return
    yield part
    if kind == "tool_use" and ("result" in part or "error" in part):
        error = string(part.get("error"))
        result = {"type": "tool_result", "tool_use_id": part.get("id"), "is_error": error is not None}
        yield result | {"content": error or part.get("result")}


def id_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)
