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

from collections.abc import Iterator, Sequence
from typing import Any

from dense.readers.files import TraceRecord
from dense.readers.formats.otel.spans import AGENT, LLM, TraceSpan, is_agentic, located, raw_spans, span_of
from dense.readers.formats.otel.steps import AgentScope, agent_name, task_given_to
from dense.readers.formats.otel.tree import is_below, span_tree
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source, Task


class Otel:
    name = "otel"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(any(map(is_agentic, raw_spans(record))) for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        traces: dict[str, dict[str, TraceSpan]] = {}
        for record in records:
            is_any = False
            for raw, source in located(record):
                is_any = True
                span = span_of(raw, source)
                if span is None:
                    location.notices.skip("a span without an ID", source)
                else:
                    traces.setdefault(span.trace, {})[span.id] = span
            if not is_any:
                location.notices.skip("no span in it", record.source)
        for number_, trace in enumerate(list(traces)):
            yield from _stream(trace, traces.pop(trace), number_, location)


def _stream(trace: str, spans: dict[str, TraceSpan], number_: int, location: TraceLocation) -> Iterator[Stream]:
    roots = span_tree(spans)
    source = Source(location.name, part=f"trace {trace}" if trace else f"trace {number_}")
    scope = AgentScope(location=location)
    for root in roots:
        scope.visit(root)
    steps = scope.finish()
    if not steps:
        if any(span.kind == LLM for span in spans.values()):
            location.notices.skip("no model call with an output in the trace", source)
        return
    agents = [span for span in spans.values() if span.kind == AGENT]
    top = min((span for span in agents if not is_below(span, spans, AGENT)), key=lambda span: span.start, default=None)
    instruction = (task_given_to(top) if top else None) or scope.asked
    yield Stream(
        format="otel",
        id=trace or f"trace-{number_}",
        source=source,
        notices=location.notices,
        steps=iter(steps),
        agent=agent_name(top) if top else None,
        model=scope.model,
        task=Task(instruction) if instruction else None,
    )
