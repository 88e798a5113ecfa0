"""`openhands`: what OpenHands keeps of a conversation. Two generations, each in several wrappings.

V1 (the software-agent SDK): `<conversations>/<id>/events/event-00000-<id>.json`, one file for each event, with
`base_state.json` beside the folder; or the same events as a list in `events.json`. An event has a `kind`:
MessageEvent, ActionEvent, ObservationEvent, …. V0: a flat list (`trajectories/*.json`, `save_trajectory_path`) of
events that have either `action` and `args`, or `observation` and `content`, and `cause`, the ID of the action that
they answer. Evaluations of both write `output.jsonl`: a row for each instance, with the events in `history`; the
oldest rows have pairs of an action and an observation there.

Decided here:
- One answer of the model is one step: ActionEvents with one `llm_response_id` (V0:
  `tool_call_metadata.model_response.id`) belong together, whether their observations are between them or after
  them. V0 actions without that are a step each.
- A call has the name and the arguments that the model wrote (`tool_call`), not the action that OpenHands made of
  them.
- What the user or the harness did by itself (setting up a repository, say), state changes, recalled knowledge, hooks
  and condensations are no turns. A late word of the user is an observation, and so is an error of the conversation.
- ACP agents (another program inside OpenHands) repeat a tool call as it goes on: the last word on each call ID
  counts, and calls that ran at the same time share a step.
- The task is the user's first message. In evaluations a prompt surrounds it: the instance's own problem statement
  is taken where the message quotes it, else what the well-known tags enclose.
- Of a row only `history`, `instance_id`, `metadata`, `metrics` and `instance.problem_statement` are looked at: the
  rest grades it or says how it ended (`test_result`, `git_patch`, `report`, `error`, …). `critic_result` of an event
  is a grade too.
- Prompt tokens include cached ones, which are taken out. A price of 0 means that none was known. An exit code of -1
  means that there was none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.files import TraceRecord
from dense.readers.formats.openhands.events import event_list, has_events, is_event
from dense.readers.formats.openhands.steps import EventSteps
from dense.readers.formats.openhands.tokens import total_usage
from dense.readers.json_value import first_string, is_seq, obj, string
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import Stream
from dense.trajectory import Source, Step, Task, Usage

FRAMES = ("issue_description", "pr_description", "issue", "problem_statement")


class OpenHands:
    name = "openhands"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(is_event(record) or has_events(record) for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        # Rows and events do not mix in one file, but damaged records may come before the first good one.
        first = next(_known(records, location.notices), None)
        if first is None:
            return
        records = chain([first], records)
        if is_event(first.value):
            yield from _stream(
                records,
                location,
                _Origin(id=_conversation_id(location), source=location.source()),
                _base_state(location),
            )
            return
        yield from _rows(records, location)


def _known(records: Iterator[TraceRecord], notices: Notices) -> Iterator[TraceRecord]:
    for record in records:
        if is_event(record.value) or has_events(record.value):
            yield record
        else:
            notices.skip("neither an event nor a row with a history", record.source)


@dataclass(frozen=True)
class _Origin:
    """What is known of a trajectory from outside of its events."""

    id: str
    source: Source
    name: str | None = None
    model: str | None = None
    usage: Usage | None = None
    statement: str | None = None


def _rows(records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
    ids: set[str] = set()
    for record in fitting_documents(records, has_events, location.notices, "a row with a history"):
        row, source = obj(record.value), location_of_row(record.source)
        name = string(row.get("instance_id"))
        metadata = obj(row.get("metadata"))
        origin = _Origin(
            id=unique_id(name or source.part or _conversation_id(location), source, ids),
            source=source,
            name=name,
            model=first_string(obj(metadata.get(key)).get("model") for key in ("llm_config", "llm")),
            usage=total_usage(obj(row.get("metrics"))),
            statement=string(obj(row.get("instance")).get("problem_statement")),
        )
        yield from _stream(_records_of(event_list(row) or [], source), location, origin, {})


def _records_of(events: list[Any], source: Source) -> Iterator[TraceRecord]:
    for index, event in enumerate(events):
        here = Source(source.path, line=source.line, index=index, part=source.part)
        # The oldest rows have [action, observation] pairs; both carry the index of their pair.
        for single in event if is_seq(event) else [event]:
            yield TraceRecord(single, here)


def _conversation_id(location: TraceLocation) -> str:
    path = location.path
    if path.is_dir() or path.name == "events.json":
        path = path.parent if path.name in ("events", "events.json") else path
        return path.name or "events"
    return path.stem


def _base_state(location: TraceLocation) -> dict[str, Any]:
    """The conversation's state, which is beside the folder of its events."""
    folder = location.path if location.path.is_dir() else location.path.parent
    for path in (folder.parent / "base_state.json", folder / "base_state.json"):
        if location.path.is_dir() and path.is_file():
            return obj(_document(path, location))
    return {}


def _document(path: Path, location: TraceLocation) -> Any:
    try:
        return location.beside(path).document().value
    except (NoTrajectory, OSError) as error:
        location.notices.note(f"{path.name} beside the events cannot be read ({error})", location.source())
        return None


def _stream(
    records: Iterable[TraceRecord], location: TraceLocation, origin: _Origin, state: dict[str, Any]
) -> Iterator[Stream]:
    run = EventSteps(notices=location.notices)
    run.take_state(state)
    steps = run.steps(records)
    first = next(steps, None)
    if first is None:
        location.notices.skip("no action of an agent among the events", origin.source)
        return
    instruction = _instruction("\n\n".join(run.prompts), origin.statement)
    stream = Stream(
        format="openhands",
        id=origin.id,
        source=origin.source,
        notices=location.notices,
        agent="openhands",
        agent_version=run.version,
        model=run.model or origin.model,
        task=Task(instruction, origin.name) if instruction else None,
    )

    def rest() -> Iterator[Step]:
        yield from chain([first], steps)
        stream.usage = origin.usage or run.total

    stream.steps = rest()
    yield stream


def _instruction(text: str, statement: str | None) -> str | None:
    if statement and statement.strip() and statement.strip() in text:
        return statement.strip()
    for tag in FRAMES:
        start, end = text.find(f"<{tag}>"), text.rfind(f"</{tag}>")
        if 0 <= start < end and (inner := text[start + len(tag) + 2 : end].strip()):
            return inner
    return text if text.strip() else None
