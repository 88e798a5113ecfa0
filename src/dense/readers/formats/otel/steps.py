"""Turns the model calls of one agent's spans into steps, with what each step observed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from dense.readers.chat import AGENT_ROLES, SYSTEM_ROLES, TOOL_ROLES, USER_ROLES, add_part, role_of, tool_call
from dense.readers.content import arguments_of, text_of
from dense.readers.formats.otel.spans import AGENT, JUDGE, LLM, TOOL, TraceSpan, unpacked
from dense.readers.formats.otel.tree import calls_model, calls_model_itself, descendants
from dense.readers.json_value import first_string, is_obj, is_seq, number, obj, objs, seq, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import StepBuilder
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory, Usage

TOOL_REPLIES = TOOL_ROLES | {"tool-response"}
TASK_KEYS = ("task", "input", "query", "question", "prompt", "content")
MAX_AGENT_DEPTH = 16
"""Sub-agents deeper than this are put among the steps of the one above: what is nested deeper, nobody can read."""
STEP_SPAN = re.compile(r"Step \d+")
RUN_SUFFIX = re.compile(r"\.(?:run|invoke|ainvoke|arun|__call__)$")


def agent_name(span: TraceSpan) -> str | None:
    keys = ("gen_ai.agent.name", "agent.name", "graph.node.id")
    return first_string(span.attributes.get(key) for key in keys) or RUN_SUFFIX.sub("", span.name) or None


def task_given_to(agent: TraceSpan) -> str | None:
    """The words with which an agent was set to work."""
    if asked := user_words(agent.given):
        return asked
    value = unpacked(agent.attributes.get("input.value"))
    if isinstance(value, str):
        return value.strip() or None
    given = obj(value)
    if asked := user_words(objs(given.get("messages")) or [obj(item) for item in seq(value)]):
        return asked
    return first_string(given.get(key) for key in TASK_KEYS)


def user_words(messages: list[dict[str, Any]]) -> str | None:
    """The user's words before the first answer."""
    texts: list[str] = []
    for message in messages:
        if role_of(message) in AGENT_ROLES:
            break
        if role_of(message) in USER_ROLES:
            texts.append(text_of(message.get("content")))
    return next((text for text in reversed(texts) if text.strip()), None)


@dataclass
class _Turn:
    """A step that is being built, and what may show what it observed."""

    builder: StepBuilder
    given: int
    """How many messages the model was given."""
    tools: list[TraceSpan] = field(default_factory=list[TraceSpan])
    step: TraceSpan | None = None
    """smolagents' span around the step."""
    next: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What the same agent's next model call was given beyond this turn."""


@dataclass
class AgentScope:
    """The model calls of one agent, or of agents one after the other."""

    location: TraceLocation
    model: str | None = None
    asked: str | None = None
    turns: list[_Turn] = field(default_factory=list[_Turn])
    who: list[str | None] = field(default_factory=lambda: [None])
    inside: int = 0
    """How many agents are being visited whose steps are in this scope."""
    depth: int = 0

    def visit(self, root: TraceSpan) -> None:
        """Go through a span and all below it, in time. Not by recursion: nesting may be as deep as a file likes."""
        stack: list[tuple[TraceSpan, bool]] = [(root, False)]
        while stack:
            span, left = stack.pop()
            if left:
                self._leave(span)
            elif self._enter(span):
                stack.append((span, True))
                stack += [(child, False) for child in reversed(span.children)]

    def _enter(self, span: TraceSpan) -> bool:
        """Whether what is below the span belongs to this scope."""
        if span.kind == JUDGE:
            return False
        if span.kind == LLM:
            answered = next((inner for inner in (span, *descendants(span)) if inner.kind == LLM and inner.answer), None)
            if answered is not None:
                self._answer(answered)
            return False
        if span.kind == TOOL:
            if self.turns:
                self.turns[-1].tools.append(span)
            if self.turns and self.depth < MAX_AGENT_DEPTH and calls_model(span):
                self._delegate(span)
                return False
        if span.kind == AGENT:
            if self.inside and self.turns and self.depth < MAX_AGENT_DEPTH:
                self._delegate(span)
                return False
            self.inside += calls_model_itself(span)
            self.who.append(agent_name(span))
        return True

    def _leave(self, span: TraceSpan) -> None:
        if span.kind == AGENT:
            self.inside -= calls_model_itself(span)
            self.who.pop()
        elif STEP_SPAN.fullmatch(span.name) and self.turns and any(child.kind == LLM for child in span.children):
            self.turns[-1].step = span

    def _delegate(self, span: TraceSpan) -> None:
        scope = AgentScope(location=self.location, who=[agent_name(span)], inside=1, depth=self.depth + 1)
        for child in span.children:
            scope.visit(child)
        steps = scope.finish()
        if not steps:
            return
        source = Source(span.source.path, line=span.source.line, index=span.source.index)
        own = span.attributes.get("tool.name") or span.attributes.get("gen_ai.tool.name") if span.kind == TOOL else None
        name = string(own) or agent_name(span)
        # The call that started the agent has the task without the prompt that the framework makes of it.
        started = next((call for call in self.turns[-1].builder.calls if call.name == name), ToolCall(""))
        task = first_string(started.arguments.get(key) for key in TASK_KEYS) or task_given_to(span) or scope.asked
        total: Usage | None = None
        for step in steps:
            total = total + step.usage if total and step.usage else total or step.usage
        self.turns[-1].builder.subagents.append(
            Trajectory(
                format="otel",
                id=span.id,
                source=source,
                agent=name,
                model=scope.model,
                task=Task(task) if task else None,
                steps=steps,
                usage=total,
            )
        )

    def _answer(self, span: TraceSpan) -> None:
        builder = StepBuilder(
            source=span.source, agent=self.who[-1], timestamp=span.timestamp, usage=_usage(span.attributes)
        )
        keys = ("gen_ai.response.model", "llm.model_name", "gen_ai.request.model")
        model = first_string(span.attributes.get(key) for key in keys)
        self.model = self.model or model
        builder.model = model if model != self.model else None
        for message in span.answer:
            builder.reasoning.append(text_of(message.get("reasoning") or message.get("reasoning_content")))
            content = message.get("content")
            for part in content if is_seq(content) else [content]:
                if is_obj(part):
                    add_part(builder, part)
                else:
                    builder.message.append(text_of(part))
            known = {call.id for call in builder.calls} - {None}
            builder.calls += [c for c in map(tool_call, objs(message.get("tool_calls"))) if c.id not in known]
        if self.turns:
            before = self.turns[-1]
            before.next = _beyond(span.given, before.given)
        else:
            self.asked = user_words(span.given)
        self.turns.append(_Turn(builder, len(span.given)))

    def finish(self) -> tuple[Step, ...]:
        several = len({turn.builder.agent for turn in self.turns}) > 1
        for turn in self.turns:
            if not several:
                turn.builder.agent = None
            _observe(turn)
        return tuple(turn.builder.build() for turn in self.turns)


def _beyond(given: list[dict[str, Any]], before: int) -> list[dict[str, Any]]:
    """The messages that came after the answer to the first `before` ones; none if this is another conversation."""
    if len(given) <= before or role_of(given[before]) not in AGENT_ROLES:
        return []
    new = given[before:]
    while new and role_of(new[0]) in AGENT_ROLES:
        new = new[1:]
    return new


def _observe(turn: _Turn) -> None:
    """Give the step what it observed, from the best record there is."""
    builder = turn.builder
    written = bool(builder.calls)
    if not written:
        builder.calls += [_call_of(span) for span in turn.tools]
    if turn.step is not None:
        _observe_step(turn.step, builder, turn.tools if written else [])
        return
    answered = _observe_messages(turn.next, builder)
    if not any(observation.origin == "tool" and observation.call_id is None for observation in builder.observations):
        builder.observations[:0] = _results(turn.tools, builder.calls, answered)


def _observe_step(step: TraceSpan, builder: StepBuilder, tools: list[TraceSpan]) -> None:
    """What smolagents recorded: outputs of the tools that the model named, and the step's own output or failure."""
    builder.observations += _results(tools, builder.calls, set())
    answered = {observation.call_id for observation in builder.observations}
    waiting = [call.id for call in builder.calls if call.id not in answered]
    output = string(step.attributes.get("output.value"))
    if waiting or not tools:
        call_id = waiting[0] if len(waiting) == 1 and len(builder.calls) == 1 else None
        if output is not None:
            builder.observe(output, call_id)
        elif step.failed:
            builder.observe(step.error, call_id, is_error=True)


def _results(tools: list[TraceSpan], calls: list[ToolCall], answered: set[str | None]) -> list[Observation]:
    """The outputs of tool spans, each for the call that it answers."""
    waiting = [call for call in calls if call.id not in answered or call.id is None]
    return [result for span in tools if (result := _result_of(span, waiting, answered))]


def _observe_messages(messages: list[dict[str, Any]], builder: StepBuilder) -> set[str | None]:
    answered: set[str | None] = set()
    for message in messages:
        for reply in objs(message.get("replies")):
            call_id = string(reply.get("tool_call_id"))
            answered.add(call_id)
            builder.observe(text_of(reply.get("content")), call_id)
        text, role = text_of(message.get("content")), role_of(message)
        if role in TOOL_REPLIES and not message.get("replies"):
            call_id = string(message.get("tool_call_id"))
            answered.add(call_id)
            builder.observe(text, call_id)
        elif text and role not in AGENT_ROLES:
            builder.observe(text, origin="system" if role in SYSTEM_ROLES else "user")
    return answered


def _call_of(span: TraceSpan) -> ToolCall:
    attributes = span.attributes
    name = first_string(attributes.get(key) for key in ("tool.name", "gen_ai.tool.name", "tool_call.function.name"))
    arguments = arguments_of(_arguments(attributes))
    if is_obj(arguments.get("kwargs")) and is_seq(arguments.get("args")):
        # smolagents records how the tool's function was called, its own switches included.
        positional = {"args": arguments["args"]} if arguments["args"] else {}
        arguments = {**positional, **arguments["kwargs"]}
    return ToolCall(name or span.name or "?", arguments, _call_id(attributes) or span.id)


def _arguments(attributes: dict[str, Any]) -> Any:
    keys = ("gen_ai.tool.call.arguments", "tool_call.function.arguments", "input.value")
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def _call_id(attributes: dict[str, Any]) -> str | None:
    return first_string(attributes.get(key) for key in ("gen_ai.tool.call.id", "tool_call.id", "tool.id"))


def _result_of(span: TraceSpan, open_calls: list[ToolCall], answered: set[str | None]) -> Observation | None:
    """A tool span's output as the answer to its call: by ID, else the first open call of that name."""
    attributes = span.attributes
    output = next(
        (attributes[k] for k in ("gen_ai.tool.call.result", "output.value") if attributes.get(k) is not None), None
    )
    if output is None and not span.failed:
        return None
    own = _call_of(span)
    ids = (_call_id(attributes), span.id)
    if any(id_ in answered for id_ in ids if id_):
        return None
    call = next((c for c in open_calls if c.id in ids), None) or next(
        (c for c in open_calls if c.name == own.name), None
    )
    if call is None:
        return None
    open_calls.remove(call)
    text = text_of(unpacked(output)) if not isinstance(output, str) else output
    return Observation(text=text or span.error, call_id=call.id, is_error=True if span.failed else None)


def _usage(attributes: dict[str, Any]) -> Usage | None:
    def count(*keys: str) -> int | None:
        return next((n for key in keys if (n := _whole(attributes.get(key))) is not None), None)

    prompt = count("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    output = count("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    read = count("llm.token_count.prompt_details.cache_read", "gen_ai.usage.cache_read.input_tokens")
    write = count("llm.token_count.prompt_details.cache_write", "gen_ai.usage.cache_creation.input_tokens")
    cost = number(attributes.get("llm.cost.total"))
    fresh = None if prompt is None else max(prompt - (read or 0) - (write or 0), 0)
    usage = Usage(fresh, read, write, output, cost)
    return usage if usage != Usage() else None


def _whole(value: Any) -> int | None:
    """Exporters write numbers as texts, too."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e18 else whole(value)
