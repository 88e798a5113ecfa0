"""`otel`: exported OpenTelemetry spans of an agent, by the conventions of OpenInference or of OTel GenAI.

Shapes: an object with `spans` whose children nest in `child_spans`; OTLP-JSON (`resourceSpans`), as a document or a
line each; a list or JSONL of single spans, as SDKs (`context`, `parent_id`) and Phoenix (`attributes.llm…` columns)
write them. Attributes are flat names (`llm.input_messages.0.message.role`), nested objects, or JSON strings
(`gen_ai.input.messages`); older GenAI has messages as events.

Decided here:
- A trace is a trajectory. Spans come in the order in which they *ended*, children before parents and traces mixed, so
  a file's spans are held in memory until its end, without what is not used (a model call's input is quadratic in the
  run: of it only messages are kept).
- One span of a model call is one step: its output message. Of model-call spans within each other (two
  instrumentations of one call) the outermost that has an output counts. A model call without an output failed and was
  tried again: no step. Spans of evaluators and guardrails judge the run; they and all below them are left out. A span
  that was exported twice counts once.
- What a step observed: the messages that the next model call of the same agent has beyond its own output; for calls
  that these do not answer, the output of the tool spans between the two. Where the model called no tool in its
  message but tool spans follow (ReAct texts, code agents), these are the step's calls. smolagents has the result of a
  step only as the output of its `Step N` span.
- Agents: an agent span below another agent's (or a tool span with model calls below) is a sub-agent of the step
  before it. An agent that makes no model call itself is only a wrapper: its agents' steps follow each other, as do
  those of agents side by side, with `Step.agent` set.
- The task is what the outermost agent was given, else the last words of the user before the first output.
- Spans' `logs`, `links` and other attributes are never looked at: applications put the data set's answers there.
- Input tokens include cached ones in both conventions, which are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dense.read.chat import AGENT_ROLES, SYSTEM_ROLES, TOOL_ROLES, add_part, describe, tool_call
from dense.read.content import arguments_of, text_of
from dense.read.files import Record
from dense.read.json_text import BadJson, decode
from dense.read.json_value import first_string, is_obj, is_seq, number, obj, objs, seq, string, whole
from dense.read.reader import Place
from dense.read.stream import StepDraft, Stream
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory, Usage

LLM, TOOL, AGENT, JUDGE, OTHER = "llm", "tool", "agent", "judge", ""
KINDS = {"LLM": LLM, "TOOL": TOOL, "AGENT": AGENT, "EVALUATOR": JUDGE, "GUARDRAIL": JUDGE}
OPERATIONS = {
    "chat": LLM,
    "text_completion": LLM,
    "generate_content": LLM,
    "execute_tool": TOOL,
    "invoke_agent": AGENT,
}
SPAN_LISTS = ("spans", "child_spans")
KEPT = ("llm.", "gen_ai.", "openinference.", "tool", "input.value", "output.value", "agent.", "graph.node.")
INDEXED = re.compile(r"(llm\.(?:input|output)_messages|gen_ai\.(?:prompt|completion))\.(\d{1,6})\.(.+)")
STEP_SPAN = re.compile(r"Step \d+")
RUN_SUFFIX = re.compile(r"\.(?:run|invoke|ainvoke|arun|__call__)$")
EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
TOOL_REPLIES = TOOL_ROLES | {"tool-response"}
TASK_KEYS = ("task", "input", "query", "question", "prompt", "content")


@dataclass
class _Span:
    """One span, with what is used of it."""

    id: str
    parent: str | None
    trace: str
    name: str
    kind: str
    start: tuple[int, str]
    source: Source
    attributes: dict[str, Any]
    given: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """A model call's input messages."""
    answer: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Its output messages."""
    failed: bool = False
    error: str = ""
    timestamp: str | None = None
    children: list[_Span] = field(default_factory=list["_Span"])


class Otel:
    name = "otel"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(any(map(_is_agentic, _raw_spans(record))) for record in head)

    def read(self, records: Iterator[Record], place: Place) -> Iterator[Stream]:
        traces: dict[str, dict[str, _Span]] = {}
        for record in records:
            found = False
            for raw, source in _located(record):
                found = True
                span = _span(raw, source)
                if span is None:
                    place.notices.skip(f"a span without an ID: {describe(raw)}", source)
                else:
                    traces.setdefault(span.trace, {})[span.id] = span
            if not found:
                place.notices.skip(f"no span: {describe(record.value)}", record.source)
        for number_, trace in enumerate(list(traces)):
            yield from _stream(trace, traces.pop(trace), number_, place)


# -- from any shape to spans


def _raw_spans(value: Any) -> Iterator[dict[str, Any]]:
    """The spans of a record, those below others included, each before its children."""
    record = obj(value)
    if (resources := record.get("resourceSpans")) is None:
        resources = record.get("resource_spans")
    if resources is not None:
        for resource in objs(resources):
            scopes = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
            for scope in (scope for key in scopes for scope in objs(resource.get(key))):
                yield from objs(scope.get("spans"))
        return
    stack = [record] if _span_id(record) else objs(record.get("spans"))[::-1]
    while stack:
        span = stack.pop()
        yield span
        for key in SPAN_LISTS:
            stack += objs(span.get(key))[::-1]


def _located(record: Record) -> Iterator[tuple[dict[str, Any], Source]]:
    """The spans with their place: the record's own, or the number of the span within a document that holds several."""
    own = record.source
    alone = bool(_span_id(obj(record.value)))
    for index, raw in enumerate(_raw_spans(record.value)):
        if alone and index == 0 and (own.line is not None or own.index is not None):
            yield raw, own
        else:
            yield raw, Source(own.path, line=own.line, index=index if own.index is None else own.index)


def _span_id(raw: dict[str, Any]) -> str | None:
    keys = ("span_id", "spanId", "spanID", "context.span_id")
    return first_string((*(raw.get(key) for key in keys), obj(raw.get("context")).get("span_id")))


def _is_agentic(raw: dict[str, Any]) -> bool:
    """Whether it is a span by one of the conventions: most spans that people export have nothing to do with agents."""
    return _span_id(raw) is not None and any(
        key.startswith(("openinference.span.kind", "llm.input_messages", "llm.output_messages", "gen_ai."))
        for key in _attributes(raw)
    )


def _span(raw: dict[str, Any], source: Source) -> _Span | None:
    id_ = _span_id(raw)
    if id_ is None:
        return None
    context = obj(raw.get("context"))
    parent = first_string(raw.get(key) for key in ("parent_span_id", "parentSpanId", "parent_id"))
    trace = first_string(
        (*(raw.get(key) for key in ("trace_id", "traceId", "context.trace_id")), context.get("trace_id"))
    )
    attributes = _attributes(raw)
    name = first_string(raw.get(key) for key in ("span_name", "name", "operationName")) or ""
    start = next(
        (raw[key] for key in ("startTimeUnixNano", "start_time", "timestamp", "startTime") if key in raw), None
    )
    span = _Span(id_, parent, trace or "", name, _kind(attributes), _when(start), source, attributes)
    span.timestamp = start if isinstance(start, str) and not start.isdigit() else None
    status = obj(raw.get("status"))
    code = next(
        (c for c in (raw.get("status_code"), status.get("code"), status.get("status_code")) if c is not None), None
    )
    span.failed = code == 2 or (isinstance(code, str) and code.upper().endswith("ERROR"))
    span.error = first_string((raw.get("status_message"), status.get("message"), status.get("description"))) or ""
    _take_messages(span, raw)
    return span


def _when(start: Any) -> tuple[int, str]:
    """A key that sorts the times of one file: numbers by size, ISO texts by themselves."""
    if isinstance(start, str):
        return (int(start), "") if start.isdecimal() and start.isascii() and len(start) < 40 else (0, start)
    return (whole(start) or int(number(start) or 0), "")


def _kind(attributes: dict[str, Any]) -> str:
    kind = attributes.get("openinference.span.kind")
    if isinstance(kind, str):
        return KINDS.get(kind.upper(), OTHER)
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in OPERATIONS:
        return OPERATIONS[operation]
    is_call = any(
        key.startswith(("gen_ai.completion", "gen_ai.output.messages", "llm.output_messages")) for key in attributes
    )
    return LLM if is_call and operation is None else OTHER


def _attributes(raw: dict[str, Any]) -> dict[str, Any]:
    """The attributes by their full names, whichever way they were written, without those that are never used."""
    found: dict[str, Any] = {}
    for key in ("span_attributes", "attributes"):
        value = raw.get(key)
        if is_seq(value):
            found.update(
                (item["key"], _any_value(item.get("value"))) for item in objs(value) if string(item.get("key"))
            )
        else:
            found.update(obj(value))
    for key, value in raw.items():
        if key.startswith("attributes."):
            found[key.removeprefix("attributes.")] = value
    flat: dict[str, Any] = {}
    for key, value in found.items():
        _flatten(key, value, flat, 6)
    return flat


def _flatten(key: str, value: Any, flat: dict[str, Any], depth: int) -> None:
    """Nested objects as dotted names; lists stay as they are."""
    if is_obj(value) and depth and value:
        for inner, item in value.items():
            _flatten(f"{key}.{inner}", item, flat, depth - 1)
    elif key.startswith(KEPT) and value is not None:
        flat[key] = value


def _any_value(value: Any) -> Any:
    """OTLP's typed values as plain ones."""
    typed = obj(value)
    for key in ("stringValue", "boolValue", "doubleValue"):
        if key in typed:
            return typed[key]
    if "intValue" in typed:
        text = typed["intValue"]
        return int(text) if isinstance(text, str) and re.fullmatch(r"-?\d{1,30}", text) else text
    if "arrayValue" in typed:
        return [_any_value(item) for item in seq(obj(typed["arrayValue"]).get("values"))]
    if "kvlistValue" in typed:
        pairs = objs(obj(typed["kvlistValue"]).get("values"))
        return {pair["key"]: _any_value(pair.get("value")) for pair in pairs if string(pair.get("key"))}
    return None


# -- the messages of a model call


def _take_messages(span: _Span, raw: dict[str, Any]) -> None:
    """Move input and output messages from the attributes to the span, in one dialect: role, content, tool_calls, tool_call_id."""
    attributes = span.attributes
    given = _listed(attributes, "llm.input_messages") or _listed(attributes, "gen_ai.prompt")
    answer = _listed(attributes, "llm.output_messages") or _listed(attributes, "gen_ai.completion")
    span.given = given or [_by_parts(message) for message in _decoded(attributes.pop("gen_ai.input.messages", None))]
    span.answer = answer or [_by_parts(message) for message in _decoded(attributes.pop("gen_ai.output.messages", None))]
    if not span.answer:
        _take_events(span, raw)
    if span.kind == LLM:
        # The raw request and response repeat the messages.
        if not span.given:
            request = _json(attributes.get("input.value"))
            span.given = objs(obj(request).get("messages")) if is_obj(request) else []
        if not span.answer and string(attributes.get("output.value")):
            span.answer = _raw_answer(attributes["output.value"])
        attributes.pop("input.value", None)
        attributes.pop("output.value", None)


def _listed(attributes: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Messages under numbered names, or as a list; they are taken out of the attributes."""
    trees: dict[int, dict[str, Any]] = {}
    for key in [key for key in attributes if key.startswith(name)]:
        if match := INDEXED.fullmatch(key):
            _plant(trees.setdefault(int(match[2]), {}), match[3].split("."), attributes.pop(key))
    whole_list = attributes.pop(name, None)
    found = [trees[index] for index in sorted(trees)] or [obj(item) for item in _decoded(whole_list)]
    return [_openinference(obj(item.get("message")) or item) for item in found]


def _plant(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for name in path[:-1]:
        inner = tree.get(name)
        if not is_obj(inner):
            inner = tree[name] = {}
        tree = inner
    tree[path[-1]] = value


def _numbered(value: Any) -> list[dict[str, Any]]:
    """The items of a list, or of an object whose keys are numbers."""
    if is_obj(value):
        return [obj(value[key]) for key in sorted((key for key in value if key.isdecimal()), key=lambda k: (len(k), k))]
    return objs(value)


def _openinference(message: dict[str, Any]) -> dict[str, Any]:
    """A message of OpenInference (or of OpenLLMetry, which numbers its names as well)."""
    calls: list[dict[str, Any]] = []
    for item in _numbered(message.get("tool_calls")):
        call = obj(item.get("tool_call")) or item
        inner = obj(call.get("function")) or call
        calls.append({"id": call.get("id"), "name": inner.get("name"), "arguments": inner.get("arguments")})
    if name := string(message.get("function_call_name")):
        calls.append({"name": name, "arguments": message.get("function_call_arguments_json")})
    content: Any = message.get("content")
    if parts := _numbered(message.get("contents")):
        content = [_part(obj(part.get("message_content")) or part) for part in parts]
    elif isinstance(content, str) and content.startswith("[{"):
        blocks = _json(content)
        # OpenLLMetry has content blocks as a JSON string; a text that only looks like JSON has no types.
        if is_seq(blocks) and all(string(obj(block).get("type")) for block in blocks):
            content = blocks
    return {
        "role": message.get("role"),
        "content": content,
        "tool_calls": calls,
        "tool_call_id": message.get("tool_call_id"),
        "reasoning": first_string((message.get("reasoning_content"), message.get("reasoning"))),
    }


def _part(part: dict[str, Any]) -> dict[str, Any]:
    image = obj(part.get("image"))
    if part.get("type") == "image" and (url := obj(image.get("image")).get("url") or image.get("url")):
        return {"type": "image_url", "image_url": url}
    return part


def _by_parts(message: Any) -> dict[str, Any]:
    """A message of OTel GenAI: all that it says is in `parts`."""
    message = obj(message)
    texts: list[Any] = []
    calls: list[dict[str, Any]] = []
    reasoning: list[str] = []
    replies: list[dict[str, Any]] = []
    for part in objs(message.get("parts")):
        kind = part.get("type")
        if kind == "tool_call":
            calls.append(part)
        elif kind == "tool_call_response":
            result = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), None)
            replies.append({"tool_call_id": part.get("id"), "content": result})
        elif kind in ("reasoning", "thinking"):
            reasoning.append(text_of(part.get("content")))
        else:
            texts.append(part)
    content = texts if "parts" in message else message.get("content")
    calls += objs(message.get("tool_calls"))
    told = {"role": message.get("role"), "content": content, "tool_calls": calls, "replies": replies}
    return {**told, "tool_call_id": message.get("tool_call_id"), "reasoning": "\n\n".join(filter(None, reasoning))}


def _take_events(span: _Span, raw: dict[str, Any]) -> None:
    """Messages that older GenAI has as events of the span."""
    for event in objs(raw.get("events")):
        name = event.get("name")
        if not isinstance(name, str):
            continue
        body: dict[str, Any] = {}
        attributes = event.get("attributes")
        pairs = attributes if is_seq(attributes) else []
        body.update((p["key"], _any_value(p.get("value"))) for p in objs(pairs) if string(p.get("key")))
        body.update(obj(attributes) or obj(event.get("event_attributes")))
        body.update(obj(event.get("body")))
        if role := EVENT_ROLES.get(name):
            said = {"role": role, "content": body.get("content"), "tool_call_id": body.get("id")}
            span.given.append({**said, "tool_calls": _decoded(body.get("tool_calls"))})
        elif name == "gen_ai.choice":
            message = obj(_json(body.get("message"))) or body
            calls = objs(_decoded(message.get("tool_calls")))
            span.answer.append({"role": "assistant", "content": message.get("content"), "tool_calls": calls})
        elif "gen_ai.output.messages" in body:
            span.given = [_by_parts(message) for message in _decoded(body.get("gen_ai.input.messages"))]
            span.answer = [_by_parts(message) for message in _decoded(body["gen_ai.output.messages"])]
        elif name == "gen_ai.content.prompt":
            span.given += objs(_decoded(body.get("gen_ai.prompt")))
        elif name == "gen_ai.content.completion":
            span.answer += objs(_decoded(body.get("gen_ai.completion")))


def _raw_answer(value: str) -> list[dict[str, Any]]:
    """A model call's output where only the raw one was recorded."""
    answer = _json(value)
    if not is_obj(answer):
        return [{"role": "assistant", "content": value}]
    if choices := objs(answer.get("choices")):
        return [obj(choice.get("message")) for choice in choices[:1]]
    return [answer] if "content" in answer or "tool_calls" in answer else [{"role": "assistant", "content": value}]


def _decoded(value: Any) -> list[Any]:
    value = _json(value)
    return value if is_seq(value) else [value] if is_obj(value) else []


def _json(value: Any) -> Any:
    """What a JSON string holds; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return decode(value.encode())[0]
        except (BadJson, UnicodeEncodeError):
            return value
    return value


# -- from spans to steps


def _stream(trace: str, spans: dict[str, _Span], number_: int, place: Place) -> Iterator[Stream]:
    roots = _tree(spans)
    source = Source(place.name, part=f"trace {trace}" if trace else f"trace {number_}")
    scope = _Scope(place)
    for root in roots:
        scope.visit(root)
    steps = scope.finish()
    if not steps:
        if any(span.kind == LLM for span in spans.values()):
            place.notices.skip("no model call with an output in the trace", source)
        return
    agents = [span for span in spans.values() if span.kind == AGENT]
    top = min((span for span in agents if not _below(span, spans, AGENT)), key=lambda span: span.start, default=None)
    instruction = (_given_to(top) if top else None) or scope.asked
    yield Stream(
        "otel",
        trace or f"trace-{number_}",
        source,
        place.notices,
        iter(steps),
        agent=_agent_name(top) if top else None,
        model=scope.model,
        task=Task(instruction) if instruction else None,
    )


def _tree(spans: dict[str, _Span]) -> list[_Span]:
    """The roots, with children in the order in which they began. A span whose parents form a ring is a root too."""
    roots: list[_Span] = []
    for span in sorted(spans.values(), key=lambda span: span.start):
        parent = spans.get(span.parent or "")
        if parent is None or _in_ring(span, spans):
            roots.append(span)
        else:
            parent.children.append(span)
    return roots


def _in_ring(span: _Span, spans: dict[str, _Span]) -> bool:
    seen: set[str] = set()
    at: _Span | None = span
    while at is not None:
        if at.id in seen:
            return at.id == span.id
        seen.add(at.id)
        at = spans.get(at.parent or "")
    return False


def _below(span: _Span, spans: dict[str, _Span], kind: str) -> bool:
    """Whether one of the spans above is of that kind."""
    seen = {span.id}
    at = spans.get(span.parent or "")
    while at is not None and at.id not in seen:
        if at.kind == kind:
            return True
        seen.add(at.id)
        at = spans.get(at.parent or "")
    return False


def _agent_name(span: _Span) -> str | None:
    keys = ("gen_ai.agent.name", "agent.name", "graph.node.id")
    return first_string(span.attributes.get(key) for key in keys) or RUN_SUFFIX.sub("", span.name) or None


def _given_to(agent: _Span) -> str | None:
    """The words with which an agent was set to work."""
    if asked := _asked(agent.given):
        return asked
    value = _json(agent.attributes.get("input.value"))
    if isinstance(value, str):
        return value.strip() or None
    given = obj(value)
    if asked := _asked(objs(given.get("messages")) or [obj(item) for item in seq(value)]):
        return asked
    return first_string(given.get(key) for key in TASK_KEYS)


def _asked(messages: list[dict[str, Any]]) -> str | None:
    """The user's words before the first answer."""
    texts: list[str] = []
    for message in messages:
        if message.get("role") in AGENT_ROLES:
            break
        if message.get("role") in ("user", "human"):
            texts.append(text_of(message.get("content")))
    return next((text for text in reversed(texts) if text.strip()), None)


def _calls_model(span: _Span) -> bool:
    return any(inner.kind == LLM for inner in _descendants(span))


def _calls_model_itself(agent: _Span) -> bool:
    """Whether model calls belong to the agent and not to an agent or a tool below it."""
    stack = list(agent.children)
    while stack:
        span = stack.pop()
        if span.kind == LLM:
            return True
        if span.kind not in (AGENT, TOOL, JUDGE):
            stack += span.children
    return False


def _descendants(span: _Span) -> Iterator[_Span]:
    stack = list(span.children)
    while stack:
        inner = stack.pop()
        if inner.kind != JUDGE:
            yield inner
            stack += inner.children


@dataclass
class _Turn:
    """A step that is being built, and what may tell what it observed."""

    draft: StepDraft
    given: int
    """How many messages the model was given."""
    tools: list[_Span] = field(default_factory=list[_Span])
    outcome: str | None = None
    """The output of smolagents' step span."""
    next: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What the same agent's next model call was given beyond this turn."""


@dataclass
class _Scope:
    """The model calls of one agent, or of agents one after the other."""

    place: Place
    model: str | None = None
    asked: str | None = None
    turns: list[_Turn] = field(default_factory=list[_Turn])
    who: list[str | None] = field(default_factory=lambda: [None])
    inside: int = 0
    """How many agents are being visited whose steps stand in this scope."""

    def visit(self, root: _Span) -> None:
        """Go through a span and all below it, in time. A stack instead of recursion: nesting may be as deep as a file likes."""
        stack: list[tuple[_Span, bool]] = [(root, False)]
        while stack:
            span, left = stack.pop()
            if left:
                self._leave(span)
            elif self._enter(span):
                stack.append((span, True))
                stack += [(child, False) for child in reversed(span.children)]

    def _enter(self, span: _Span) -> bool:
        """Whether what is below the span belongs to this scope."""
        if span.kind == JUDGE:
            return False
        if span.kind == LLM:
            answered = next(
                (inner for inner in (span, *_descendants(span)) if inner.kind == LLM and inner.answer), None
            )
            if answered is not None:
                self._answer(answered)
            return False
        if span.kind == TOOL:
            if self.turns:
                self.turns[-1].tools.append(span)
            if _calls_model(span) and self.turns:
                self._delegate(span)
                return False
        if span.kind == AGENT:
            if self.inside and self.turns:
                self._delegate(span)
                return False
            self.inside += _calls_model_itself(span)
            self.who.append(_agent_name(span))
        return True

    def _leave(self, span: _Span) -> None:
        if span.kind == AGENT:
            self.inside -= _calls_model_itself(span)
            self.who.pop()
        elif STEP_SPAN.fullmatch(span.name) and self.turns and any(child.kind == LLM for child in span.children):
            self.turns[-1].outcome = string(span.attributes.get("output.value"))

    def _delegate(self, span: _Span) -> None:
        scope = _Scope(self.place, who=[_agent_name(span)])
        scope.inside = 1
        for child in span.children:
            scope.visit(child)
        steps = scope.finish()
        if not steps:
            return
        task = _given_to(span) or scope.asked
        source = Source(span.source.path, line=span.source.line, index=span.source.index)
        name = span.attributes.get("tool.name") if span.kind == TOOL else None
        total: Usage | None = None
        for step in steps:
            total = total + step.usage if total and step.usage else total or step.usage
        self.turns[-1].draft.subagents.append(
            Trajectory(
                "otel",
                span.id,
                source,
                string(name) or _agent_name(span),
                model=scope.model,
                task=Task(task) if task else None,
                steps=steps,
                usage=total,
            )
        )

    def _answer(self, span: _Span) -> None:
        draft = StepDraft(span.source, agent=self.who[-1], timestamp=span.timestamp, usage=_usage(span.attributes))
        keys = ("gen_ai.response.model", "llm.model_name", "gen_ai.request.model")
        model = first_string(span.attributes.get(key) for key in keys)
        self.model = self.model or model
        draft.model = model if model != self.model else None
        for message in span.answer:
            draft.reasoning.append(text_of(message.get("reasoning") or message.get("reasoning_content")))
            content = message.get("content")
            for part in content if is_seq(content) else [content]:
                if is_obj(part):
                    add_part(draft, part)
                else:
                    draft.message.append(text_of(part))
            known = {call.id for call in draft.calls} - {None}
            draft.calls += [c for c in map(tool_call, objs(message.get("tool_calls"))) if c.id not in known]
        if self.turns:
            before = self.turns[-1]
            before.next = _beyond(span.given, before.given)
        else:
            self.asked = _asked(span.given)
        self.turns.append(_Turn(draft, len(span.given)))

    def finish(self) -> tuple[Step, ...]:
        several = len({turn.draft.agent for turn in self.turns}) > 1
        for turn in self.turns:
            if not several:
                turn.draft.agent = None
            _observe(turn)
        return tuple(turn.draft.build() for turn in self.turns)


def _beyond(given: list[dict[str, Any]], before: int) -> list[dict[str, Any]]:
    """The messages that came after the answer to the first `before` ones; none if this is another conversation."""
    if len(given) <= before or given[before].get("role") not in AGENT_ROLES:
        return []
    new = given[before:]
    while new and new[0].get("role") in AGENT_ROLES:
        new = new[1:]
    return new


def _observe(turn: _Turn) -> None:
    """Tell the step what it observed, from the best record there is."""
    draft = turn.draft
    if not draft.calls:
        draft.calls += [_call_of(span) for span in turn.tools]
    if turn.outcome is not None:
        draft.observe(turn.outcome)
        return
    answered = _observe_messages(turn.next, draft)
    open_calls = [call for call in draft.calls if call.id not in answered or call.id is None]
    if any(seen.origin == "tool" and seen.call_id is None for seen in draft.observations):
        return
    results = [result for span in turn.tools if (result := _result_of(span, open_calls, answered))]
    draft.observations[:0] = results


def _observe_messages(messages: list[dict[str, Any]], draft: StepDraft) -> set[str | None]:
    answered: set[str | None] = set()
    for message in messages:
        for reply in objs(message.get("replies")):
            call_id = string(reply.get("tool_call_id"))
            answered.add(call_id)
            draft.observe(text_of(reply.get("content")), call_id)
        text, role = text_of(message.get("content")), message.get("role")
        if role in TOOL_REPLIES and not message.get("replies"):
            call_id = string(message.get("tool_call_id"))
            answered.add(call_id)
            draft.observe(text, call_id)
        elif text and role not in AGENT_ROLES:
            draft.observe(text, origin="system" if role in SYSTEM_ROLES else "user")
    return answered


def _call_of(span: _Span) -> ToolCall:
    attributes = span.attributes
    name = first_string(attributes.get(key) for key in ("tool.name", "gen_ai.tool.name", "tool_call.function.name"))
    return ToolCall(name or span.name or "?", arguments_of(_arguments(attributes)), _call_id(attributes) or span.id)


def _arguments(attributes: dict[str, Any]) -> Any:
    keys = ("gen_ai.tool.call.arguments", "tool_call.function.arguments", "input.value")
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def _call_id(attributes: dict[str, Any]) -> str | None:
    return first_string(attributes.get(key) for key in ("gen_ai.tool.call.id", "tool_call.id", "tool.id"))


def _result_of(span: _Span, open_calls: list[ToolCall], answered: set[str | None]) -> Observation | None:
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
    text = text_of(_json(output)) if not isinstance(output, str) else output
    return Observation(text or span.error, call.id, is_error=True if span.failed else None)


def _usage(attributes: dict[str, Any]) -> Usage | None:
    def count(*keys: str) -> int | None:
        return next((n for key in keys if (n := _whole(attributes.get(key))) is not None), None)

    prompt = count("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    output = count("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    read = count("llm.token_count.prompt_details.cache_read", "gen_ai.usage.cache_read.input_tokens")
    write = count("llm.token_count.prompt_details.cache_write", "gen_ai.usage.cache_creation.input_tokens")
    cost = number(attributes.get("llm.cost.total"))
    fresh = None if prompt is None else max(prompt - (read or 0) - (write or 0), 0)
    found = Usage(fresh, read, write, output, cost)
    return found if found != Usage() else None


def _whole(value: Any) -> int | None:
    """Exporters write numbers as texts, too."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e18 else whole(value)
