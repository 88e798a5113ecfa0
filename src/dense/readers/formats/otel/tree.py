"""The tree that spans form by their parents, and questions about a span's place in it."""

from __future__ import annotations

from collections.abc import Iterator

from dense.readers.formats.otel.spans import AGENT, JUDGE, LLM, TOOL, TraceSpan


def span_tree(spans: dict[str, TraceSpan]) -> list[TraceSpan]:
    """The roots, with children in the order in which they began. Where parents form a ring, it is cut at one span."""
    roots: list[TraceSpan] = []
    sound: set[str] = set()
    for span in sorted(spans.values(), key=lambda span: span.start):
        parent = spans.get(span.parent or "")
        if parent is None or _closes_ring(span, spans, sound):
            roots.append(span)
        else:
            parent.children.append(span)
    return roots


def _closes_ring(span: TraceSpan, spans: dict[str, TraceSpan], sound: set[str]) -> bool:
    """Whether the way up from the span comes back to it. `sound` are spans whose way up is known to end."""
    path: list[str] = []
    on_path: set[str] = set()
    at: TraceSpan | None = span
    while at is not None and at.id not in sound and at.id not in on_path:
        path.append(at.id)
        on_path.add(at.id)
        at = spans.get(at.parent or "")
    # In a ring, the first span to ask becomes a root, which ends the way up of all the others.
    closed = at is not None and at.id == span.id and at.id not in sound
    if at is None or at.id in sound or closed:
        sound.update(path)
    return closed


def is_below(span: TraceSpan, spans: dict[str, TraceSpan], kind: str) -> bool:
    """Whether one of the spans above is of that kind."""
    ids = {span.id}
    at = spans.get(span.parent or "")
    while at is not None and at.id not in ids:
        if at.kind == kind:
            return True
        ids.add(at.id)
        at = spans.get(at.parent or "")
    return False


def calls_model(span: TraceSpan) -> bool:
    return any(inner.kind == LLM for inner in descendants(span))


def calls_model_itself(agent: TraceSpan) -> bool:
    """Whether model calls belong to the agent and not to an agent or a tool below it."""
    stack = list(agent.children)
    while stack:
        span = stack.pop()
        if span.kind == LLM:
            return True
        if span.kind not in (AGENT, TOOL, JUDGE):
            stack += span.children
    return False


def descendants(span: TraceSpan) -> Iterator[TraceSpan]:
    stack = list(span.children)
    while stack:
        inner = stack.pop()
        if inner.kind != JUDGE:
            yield inner
            stack += inner.children
