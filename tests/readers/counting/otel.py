"""Steps of exported spans: model calls with an output, not below another one or a judge, by trace.

The reader keeps the steps of sub-agents within their parents', so spans below a second agent or a tool do not count.
"""

import json
import pathlib
from typing import Any


def count(path: pathlib.Path) -> list[int]:
    text = path.read_text()
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    spans: dict[str, Any] = {}
    for value in values:
        for span in _spans(value):
            spans[_id(span)] = span
    counts: dict[str, int] = {}
    for span in spans.values():
        above = list(_above(span, spans))
        kinds = [_kind(s) for s in above]
        is_sub = kinds.count("AGENT") > 1 or "TOOL" in kinds
        is_step = _kind(span) == "LLM" and _has_output(span) and not {"LLM", "EVALUATOR", "GUARDRAIL"} & set(kinds)
        trace = span.get("trace_id") or span.get("traceId") or span["context"]["trace_id"]
        counts[trace] = counts.get(trace, 0) + (is_step and not is_sub)
    return [n for n in counts.values() if n]


def _spans(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [span for item in value for span in _spans(item)]
    if not isinstance(value, dict):
        return []
    found = [value] if _id(value) else []
    for key in ("spans", "child_spans", "resourceSpans", "scopeSpans"):
        found += _spans(value.get(key))
    return found


def _id(span: Any) -> Any:
    return span.get("span_id") or span.get("spanId") or (span.get("context") or {}).get("span_id")


def _attributes(span: Any) -> Any:
    attributes = span.get("span_attributes") or span.get("attributes") or {}
    if isinstance(attributes, list):
        return {item["key"]: next(iter(item["value"].values()), None) for item in attributes}
    return attributes


def _kind(span: Any) -> str:
    attributes = _attributes(span)
    operation = attributes.get("gen_ai.operation.name")
    names = {"chat": "LLM", "generate_content": "LLM", "execute_tool": "TOOL", "invoke_agent": "AGENT"}
    return attributes.get("openinference.span.kind") or names.get(operation, "")


def _has_output(span: Any) -> bool:
    keys = ("llm.output_messages", "gen_ai.output.messages", "gen_ai.completion", "output.value")
    return any(key.startswith(keys) for key in _attributes(span)) or any(
        event.get("name") == "gen_ai.choice" for event in span.get("events") or []
    )


def _above(span: Any, spans: dict[str, Any]) -> list[Any]:
    found = []
    while span := spans.get(span.get("parent_span_id") or span.get("parentSpanId") or span.get("parent_id") or ""):
        found.append(span)
    return found
