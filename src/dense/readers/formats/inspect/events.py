"""What the events of a sample record beyond its conversation: model calls, tool calls, spans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from dense.readers.chat import usage_of
from dense.readers.json_value import number, obj, objs, seq, string
from dense.trajectory import Usage

GRADING_SPANS = frozenset({"scorer", "scorers"})
"""Spans in which a model grades."""


@dataclass(frozen=True)
class InspectModelCall:
    """One call of a model, as an event records it."""

    index: int
    message: dict[str, Any] | None
    inputs: list[Any]
    input_refs: Any
    usage: Usage | None
    timestamp: str | None
    spans: tuple[tuple[str, str], ...]
    """The ID and the kind of each span around it, the outermost first."""

    @property
    def grades(self) -> bool:
        return any(kind in GRADING_SPANS for _, kind in self.spans)

    @property
    def message_id(self) -> str | None:
        return string(obj(self.message).get("id"))

    def is_of(self, agent_span: str | None) -> bool:
        """Whether this agent itself (None is the sample's own) made the call and got an answer."""
        ids = [span for span, _ in self.spans]
        start = 0 if agent_span is None else ids.index(agent_span) if agent_span in ids else None
        if start is None or self.message is None:
            return False
        return not any(kind in GRADING_SPANS or kind == "tool" for _, kind in self.spans[start:])


@dataclass(frozen=True)
class InspectToolEvent:
    """One tool call, as an event records it."""

    id: str
    function: str
    result: Any
    error: str | None
    agent_span: str | None
    """The span of the agent that it started, unless that agent went on with the same conversation."""


@dataclass(frozen=True)
class InspectEvents:
    """What the events add to the conversation."""

    calls: list[InspectModelCall]
    tools: dict[str, InspectToolEvent]
    compacted: bool

    @classmethod
    def of(cls, events: list[Any]) -> InspectEvents:
        result = cls([], {}, any(event.get("event") == "compaction" for event in objs(events)))
        spans: dict[str, tuple[tuple[str, str], ...]] = {}
        steps: list[tuple[str, str]] = []
        for index, event in enumerate(events):
            kind = obj(event).get("event")
            if kind == "span_begin":
                around = spans.get(str(event.get("parent_id")), ())
                spans[str(event.get("id"))] = (*around, (str(event.get("id")), str(event.get("type"))))
            elif kind == "step" and event.get("action") == "begin":
                steps.append(("", str(event.get("type"))))
            elif kind == "step" and steps:
                steps.pop()
            elif kind == "model":
                around = spans.get(str(event.get("span_id")), tuple(steps))
                result.calls.append(_model_call(event, index, around))
            elif kind == "tool" and (tool := _tool_event(event)):
                result.tools[tool.id] = tool
        return result

    def within(self, agent_span: str | None) -> list[InspectModelCall]:
        """The model calls of one agent."""
        return [call for call in self.calls if call.is_of(agent_span)]


def _model_call(event: dict[str, Any], index: int, spans: tuple[tuple[str, str], ...]) -> InspectModelCall:
    output = event.get("output")
    return InspectModelCall(
        index=index,
        message=first_message(output),
        inputs=seq(event.get("input")),
        input_refs=event.get("input_refs"),
        usage=usage_with_cost(obj(output).get("usage")),
        timestamp=string(event.get("timestamp")),
        spans=spans,
    )


def _tool_event(event: dict[str, Any]) -> InspectToolEvent | None:
    call_id = string(event.get("id"))
    if call_id is None:
        return None
    handed_over = string(event.get("agent")) is not None
    return InspectToolEvent(
        call_id,
        string(event.get("function")) or "?",
        event.get("result"),
        string(obj(event.get("error")).get("message")),
        None if handed_over else string(event.get("agent_span_id")),
    )


def first_message(output: Any) -> dict[str, Any] | None:
    return next((obj(choice.get("message")) for choice in objs(obj(output).get("choices"))), None) or None


def usage_with_cost(value: Any) -> Usage | None:
    usage = usage_of(value)
    cost = number(obj(value).get("total_cost"))
    return usage if usage is None or cost is None else msgspec.structs.replace(usage, cost_usd=cost)


def sum_usage(usages: Iterable[Usage | None]) -> Usage | None:
    total: Usage | None = None
    for usage in usages:
        total = usage if total is None else total + usage if usage else total
    return total
