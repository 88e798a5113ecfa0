"""Exported spans in one form, whichever exporter and convention they come from. `otel` makes steps of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import first_string, is_obj, is_seq, number, obj, objs, seq, string, whole
from dense.trajectory import Source

LLM, TOOL, AGENT, JUDGE, OTHER = "llm", "tool", "agent", "judge", ""
KINDS = {"LLM": LLM, "TOOL": TOOL, "AGENT": AGENT, "EVALUATOR": JUDGE, "GUARDRAIL": JUDGE}
OPERATIONS = {"chat": LLM, "text_completion": LLM, "generate_content": LLM, "execute_tool": TOOL, "invoke_agent": AGENT}
SPAN_LISTS = ("spans", "child_spans")
KEPT = ("llm.", "gen_ai.", "openinference.", "tool", "input.value", "output.value", "agent.", "graph.node.")
INDEXED = re.compile(r"(llm\.(?:input|output)_messages|gen_ai\.(?:prompt|completion))\.(\d{1,6})\.(.+)")
EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


@dataclass
class TraceSpan:
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
    children: list[TraceSpan] = field(default_factory=list["TraceSpan"])


def raw_spans(value: Any) -> Iterator[dict[str, Any]]:
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


def located(record: TraceRecord) -> Iterator[tuple[dict[str, Any], Source]]:
    """The spans with their place: the record's own, or the number of the span within a document that holds several."""
    own = record.source
    alone = bool(_span_id(obj(record.value)))
    for index, raw in enumerate(raw_spans(record.value)):
        if alone and index == 0 and (own.line is not None or own.index is not None):
            yield raw, own
        else:
            yield raw, Source(own.path, line=own.line, index=index if own.index is None else own.index)


def _span_id(raw: dict[str, Any]) -> str | None:
    if id_ := string(raw.get("span_id")) or string(raw.get("spanId")) or string(raw.get("context.span_id")):
        return id_
    return string(obj(raw.get("context")).get("span_id"))


def is_agentic(raw: dict[str, Any]) -> bool:
    """Whether it is a span by one of the conventions: most spans that people export have nothing to do with agents."""
    return _span_id(raw) is not None and any(
        key.startswith(("openinference.span.kind", "llm.input_messages", "llm.output_messages", "gen_ai."))
        for key in _attributes(raw)
    )


def span_of(raw: dict[str, Any], source: Source) -> TraceSpan | None:
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
    span = TraceSpan(
        id=id_,
        parent=parent,
        trace=trace or "",
        name=name,
        kind=_kind(attributes),
        start=_when(start),
        source=source,
        attributes=attributes,
    )
    span.timestamp = start if isinstance(start, str) and not span.start[0] else _iso(span.start[0])
    status = obj(raw.get("status"))
    code = next(
        (c for c in (raw.get("status_code"), status.get("code"), status.get("status_code")) if c is not None), None
    )
    span.failed = code == 2 or (isinstance(code, str) and code.upper().endswith("ERROR"))
    fields = (raw.get("status_message"), status.get("message"), status.get("description"))
    raised = (_body(event).get("exception.message") for event in objs(raw.get("events")) if span.failed)
    span.error = first_string((*fields, *raised)) or ""
    _take_messages(span, raw)
    return span


def _when(start: Any) -> tuple[int, str]:
    """A key that sorts the times of one file: numbers by size, ISO texts by themselves."""
    if isinstance(start, str):
        return (int(start), "") if start.isdecimal() and start.isascii() and len(start) < 40 else (0, start)
    return (whole(start) or int(number(start) or 0), "")


def _iso(nanoseconds: int) -> str | None:
    """The time as people write it, where an exporter counted nanoseconds; the unit of other numbers is unknown."""
    if not 10**17 < nanoseconds < 10**19:
        return None
    seconds, rest = divmod(nanoseconds, 10**9)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest // 1000:06d}Z"


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
    attributes: dict[str, Any] = {}
    for key in ("span_attributes", "attributes"):
        value = raw.get(key)
        if is_seq(value):
            attributes.update(
                (item["key"], _any_value(item.get("value"))) for item in objs(value) if string(item.get("key"))
            )
        else:
            attributes.update(obj(value))
    for key, value in raw.items():
        if key.startswith("attributes."):
            attributes[key.removeprefix("attributes.")] = value
    flat: dict[str, Any] = {}
    for key, value in attributes.items():
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


def _take_messages(span: TraceSpan, raw: dict[str, Any]) -> None:
    """Move input and output messages from the attributes to the span, in one dialect."""
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
            request = unpacked(attributes.get("input.value"))
            span.given = objs(obj(request).get("messages")) if is_obj(request) else []
        if not span.answer and string(attributes.get("output.value")):
            span.answer = _raw_answer(attributes["output.value"])
        attributes.pop("input.value", None)
        attributes.pop("output.value", None)


def _listed(attributes: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Messages under numbered names, or as a list; they are taken out of the attributes."""
    trees: dict[int, dict[str, Any]] = {}
    keys = [key for key in attributes if key.startswith(name)]
    if not keys:
        return []
    for key in keys:
        if match := INDEXED.fullmatch(key):
            _plant(trees.setdefault(int(match[2]), {}), match[3].split("."), attributes.pop(key))
    whole_list = attributes.pop(name, None)
    items = [trees[index] for index in sorted(trees)] or [obj(item) for item in _decoded(whole_list)]
    return [_openinference(obj(item.get("message")) or item) for item in items]


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
        blocks = unpacked(content)
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
            texts.append(_media(part))
    content = texts if "parts" in message else message.get("content")
    calls += objs(message.get("tool_calls"))
    fields = {"role": message.get("role"), "content": content, "tool_calls": calls, "replies": replies}
    return {**fields, "tool_call_id": message.get("tool_call_id"), "reasoning": "\n\n".join(filter(None, reasoning))}


def _media(part: dict[str, Any]) -> dict[str, Any]:
    """A part that is a picture or another file, so that its bytes are not taken for text."""
    if part.get("type") not in ("blob", "uri", "file"):
        return part
    if part.get("modality") != "image":
        return {"type": "file"}
    if string(part.get("uri")):
        return {"type": "image_url", "image_url": part["uri"]}
    return {"type": "image", "mime_type": part.get("mime_type"), "data": part.get("content")}


def _take_events(span: TraceSpan, raw: dict[str, Any]) -> None:
    """Messages that older GenAI has as events of the span."""
    for event in objs(raw.get("events")):
        name = event.get("name")
        if not isinstance(name, str):
            continue
        body = _body(event)
        if role := EVENT_ROLES.get(name):
            said = {"role": role, "content": body.get("content"), "tool_call_id": body.get("id")}
            span.given.append({**said, "tool_calls": _decoded(body.get("tool_calls"))})
        elif name == "gen_ai.choice":
            message = obj(unpacked(body.get("message"))) or body
            calls = objs(_decoded(message.get("tool_calls")))
            span.answer.append({"role": "assistant", "content": message.get("content"), "tool_calls": calls})
        elif "gen_ai.output.messages" in body:
            span.given = [_by_parts(message) for message in _decoded(body.get("gen_ai.input.messages"))]
            span.answer = [_by_parts(message) for message in _decoded(body["gen_ai.output.messages"])]
        elif name == "gen_ai.content.prompt":
            span.given += objs(_decoded(body.get("gen_ai.prompt")))
        elif name == "gen_ai.content.completion":
            span.answer += objs(_decoded(body.get("gen_ai.completion")))


def _body(event: dict[str, Any]) -> dict[str, Any]:
    attributes = event.get("attributes")
    body = {p["key"]: _any_value(p.get("value")) for p in objs(attributes) if string(p.get("key"))}
    return {**body, **(obj(attributes) or obj(event.get("event_attributes"))), **obj(event.get("body"))}


def _raw_answer(value: str) -> list[dict[str, Any]]:
    """A model call's output where only the raw one was recorded."""
    answer = unpacked(value)
    if not is_obj(answer):
        return [{"role": "assistant", "content": value}]
    if choices := objs(answer.get("choices")):
        return [obj(choice.get("message")) for choice in choices[:1]]
    return [answer] if "content" in answer or "tool_calls" in answer else [{"role": "assistant", "content": value}]


def _decoded(value: Any) -> list[Any]:
    value = unpacked(value)
    return value if is_seq(value) else [value] if is_obj(value) else []


def unpacked(value: Any) -> Any:
    """What a JSON string holds; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return decode(value.encode())[0]
        except (BadJson, UnicodeEncodeError):
            return value
    return value
