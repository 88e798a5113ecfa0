"""`openhands`: what OpenHands keeps of a conversation. Two generations, each in several wrappings.

V1 (the software-agent SDK): `<conversations>/<id>/events/event-00000-<id>.json`, one file for each event, with
`base_state.json` beside the folder; or the same events as a list in `events.json`. An event tells its `kind`:
MessageEvent, ActionEvent, ObservationEvent, …. V0: a flat list (`trajectories/*.json`, `save_trajectory_path`) of
events that have either `action` and `args`, or `observation` and `content`, and `cause`, the ID of the action that
they answer. Evaluations of both write `output.jsonl`: a row for each instance, with the events in `history`; the
oldest rows have pairs of an action and an observation there.

Decided here:
- One answer of the model is one step: ActionEvents with one `llm_response_id` (V0:
  `tool_call_metadata.model_response.id`) belong together, whether their observations stand between them or after
  them. V0 actions without that are a step each.
- A call has the name and the arguments that the model wrote (`tool_call`), not the action that OpenHands made of
  them.
- What the user or the harness did by itself (setting up a repository, say), state changes, recalled knowledge, hooks
  and condensations are no turns. A late word of the user is an observation, and so is an error of the conversation.
- ACP agents (another program inside OpenHands) repeat a tool call as it goes on: the last word on each call ID
  counts, and calls that ran at the same time share a step.
- The task is the user's first message. In evaluations a prompt stands around it: the instance's own problem statement
  is taken where the message quotes it, else what the well-known tags enclose.
- Of a row only `history`, `instance_id`, `metadata`, `metrics` and `instance.problem_statement` are looked at: the
  rest grades it or tells how it ended (`test_result`, `git_patch`, `report`, `error`, …). `critic_result` of an event
  is a grade too.
- Prompt tokens include cached ones, which are taken out. A price of 0 means that none was known. An exit code of -1
  means that there was none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.chat import describe, tool_call, usage_of
from dense.readers.content import arguments_of, image_marker, text_of
from dense.readers.files import TraceRecord
from dense.readers.json_value import first_string, flag, is_obj, is_seq, number, obj, objs, seq, string, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import StepDraft, Stream
from dense.trajectory import Source, Step, Task, ToolCall, Usage

SOURCES = frozenset({"agent", "user", "environment", "hook"})
V1_TURNS = frozenset(
    """
    MessageEvent ActionEvent ObservationEvent AgentErrorEvent UserRejectObservation ConversationErrorEvent
    ACPToolCallEvent
    """.split()
)
V1_NO_TURNS = frozenset(
    """
    SystemPromptEvent Condensation CondensationRequest CondensationSummaryEvent ConversationStateUpdateEvent PauseEvent
    InterruptEvent TokenEvent LLMCompletionLogEvent StreamingDeltaEvent HookExecutionEvent SecurityAnalysisEvent
    """.split()
)
V0_NO_ACTIONS = frozenset(
    """
    system recall change_agent_state null condensation condensation_request initialize loop_recovery start stop pause
    resume
    """.split()
)
V0_NO_OBSERVATIONS = frozenset("null agent_state_changed recall condense loop_detection".split())
V0_BOOKKEEPING = frozenset(
    """
    thought hidden confirmation_state is_confirmed security_risk impl_source translated_ipython_code blocking is_static
    """.split()
)
EVENT_LISTS = ("history", "events", "trajectory")
FRAMES = ("issue_description", "pr_description", "issue", "problem_statement")
RUNNING = frozenset({None, "pending", "in_progress", "started"})


class OpenHands:
    name = "openhands"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_event(record) or _has_events(record) for record in head)

    def read(self, records: Iterator[TraceRecord], place: TraceLocation) -> Iterator[Stream]:
        # Rows and events do not mix in one file, but damaged records may stand before the first good one.
        first = next(_known(records, place.notices), None)
        if first is None:
            return
        records = chain([first], records)
        if _is_event(first.value):
            yield from _stream(records, place, _Origin(_conversation_id(place), place.source()), _base_state(place))
            return
        yield from _rows(records, place)


def _known(records: Iterator[TraceRecord], notices: Notices) -> Iterator[TraceRecord]:
    for record in records:
        if _is_event(record.value) or _has_events(record.value):
            yield record
        else:
            notices.skip("neither an event nor a row with a history", record.source)


def _is_event(value: Any) -> bool:
    event = obj(value)
    source = event.get("source")
    if not (isinstance(source, str) and source in SOURCES):
        return False
    kind, action, observation = event.get("kind"), event.get("action"), event.get("observation")
    if isinstance(kind, str) and (kind in V1_TURNS or kind in V1_NO_TURNS):
        return True
    # "extras" alone tells nothing: other programs have source and action, but never these pairs.
    return (isinstance(action, str) and is_obj(event.get("args"))) or (
        isinstance(observation, str) and "content" in event and is_obj(event.get("extras"))
    )


def _has_events(value: Any) -> bool:
    return _event_list(value) is not None


def _event_list(value: Any) -> list[Any] | None:
    """The events of a row or of an object around them."""
    row = obj(value)
    for key in EVENT_LISTS:
        events = row.get(key)
        if is_seq(events) and any(_is_event(event) or any(map(_is_event, seq(event))) for event in events[:20]):
            return events
    return None


@dataclass(frozen=True)
class _Origin:
    """What is known of a trajectory from outside of its events."""

    id: str
    source: Source
    name: str | None = None
    model: str | None = None
    usage: Usage | None = None
    statement: str | None = None


def _rows(records: Iterator[TraceRecord], place: TraceLocation) -> Iterator[Stream]:
    seen: set[str] = set()
    for record in fitting_documents(records, _has_events, place.notices, "a row with a history"):
        row, source = obj(record.value), location_of_row(record.source)
        name = string(row.get("instance_id"))
        metadata = obj(row.get("metadata"))
        origin = _Origin(
            unique_id(name or source.part or _conversation_id(place), source, seen),
            source,
            name,
            first_string(obj(metadata.get(key)).get("model") for key in ("llm_config", "llm")),
            _total(obj(row.get("metrics"))),
            string(obj(row.get("instance")).get("problem_statement")),
        )
        yield from _stream(_records_of(_event_list(row) or [], source), place, origin, {})


def _records_of(events: list[Any], source: Source) -> Iterator[TraceRecord]:
    for index, event in enumerate(events):
        here = Source(source.path, line=source.line, index=index, part=source.part)
        # The oldest rows have [action, observation] pairs; both carry the index of their pair.
        for single in event if is_seq(event) else [event]:
            yield TraceRecord(single, here)


def _conversation_id(place: TraceLocation) -> str:
    path = place.path
    if path.is_dir() or path.name == "events.json":
        path = path.parent if path.name in ("events", "events.json") else path
        return path.name or "events"
    return path.stem


def _base_state(place: TraceLocation) -> dict[str, Any]:
    """The conversation's state, which stands beside the folder of its events."""
    folder = place.path if place.path.is_dir() else place.path.parent
    for path in (folder.parent / "base_state.json", folder / "base_state.json"):
        if place.path.is_dir() and path.is_file():
            return obj(_document(path, place))
    return {}


def _document(path: Path, place: TraceLocation) -> Any:
    try:
        return place.beside(path).document().value
    except (NoTrajectory, OSError) as error:
        place.notices.note(f"{path.name} beside the events cannot be read ({error})", place.source())
        return None


def _stream(
    records: Iterable[TraceRecord], place: TraceLocation, origin: _Origin, state: dict[str, Any]
) -> Iterator[Stream]:
    run = _Run(place.notices)
    run.take_state(state)
    steps = run.steps(records)
    first = next(steps, None)
    if first is None:
        place.notices.skip("no action of an agent among the events", origin.source)
        return
    instruction = _instruction("\n\n".join(run.prompts), origin.statement)
    stream = Stream(
        "openhands",
        origin.id,
        origin.source,
        place.notices,
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


@dataclass
class _Run:
    """Goes through the events of one conversation, of either generation."""

    notices: Notices
    prompts: list[str] = field(default_factory=list[str])
    model: str | None = None
    version: str | None = None
    total: Usage | None = None
    usages: dict[str, Usage] = field(default_factory=dict[str, Usage])
    draft: StepDraft | None = None
    response: str | None = None
    """The answer of the model that the open step comes from."""
    acp: dict[str, bool] = field(default_factory=dict[str, bool])
    """ACP calls of the open step, and whether they have ended."""
    answers: dict[int, str | None] = field(default_factory=dict[int, "str | None"])
    """V0: the call of each action of the open step, by the ID of its event."""
    foreign: set[int] = field(default_factory=set[int])
    """V0: events whose observations are not the agent's."""

    def steps(self, records: Iterable[TraceRecord]) -> Iterator[Step]:
        for record in records:
            done = None
            if not is_obj(record.value):
                self.notices.skip(f"not an event: {describe(record.value)}", record.source)
            elif "kind" in record.value:
                done = self._v1(record.value, record.source)
            else:
                done = self._v0(record.value, record.source)
            if done:
                yield done
        if self.draft:
            yield self.draft.build()

    def take_state(self, state: dict[str, Any]) -> None:
        """What V1 keeps beside the events: the model, and what each of its answers cost."""
        self.model = self.model or string(obj(obj(state.get("agent")).get("llm")).get("model"))
        usages = obj(obj(state.get("stats")).get("usage_to_metrics"))
        total: Usage | None = None
        for metrics in map(obj, usages.values()):
            if usage := _total(metrics):
                total = usage if total is None else total + usage
            for tokens in objs(metrics.get("token_usages")):
                if (response := string(tokens.get("response_id"))) and (usage := _tokens(tokens)):
                    self.usages[response] = usage
        self.total = total or self.total

    # -- steps

    def _act(self, event: dict[str, Any], source: Source, response: str | None) -> tuple[StepDraft, Step | None, bool]:
        """The step that an action belongs to, the one that it completes, and whether it opened its step."""
        if self.draft is not None and response is not None and response == self.response:
            return self.draft, None, False
        done = self.draft.build() if self.draft else None
        self.draft = StepDraft(source, timestamp=string(event.get("timestamp")))
        self.response = response
        self.acp.clear()
        self.answers.clear()
        if response is not None:
            self.draft.usage = self.usages.get(response)
        return self.draft, done, True

    def _observe(self, text: str, source: Source, call_id: str | None = None, **more: Any) -> None:
        if self.draft is None:
            if more.get("origin") != "system":
                self.notices.skip("observation before any action", source)
        else:
            self.draft.observe(text, call_id, **more)

    def _told(self, text: str) -> None:
        """A word of the user."""
        if not text:
            return
        if self.draft is None:
            self.prompts.append(text)
        else:
            self.draft.observe(text, origin="user")

    # -- V1

    def _v1(self, event: dict[str, Any], source: Source) -> Step | None:
        kind = event.get("kind")
        if kind == "ActionEvent":
            return self._v1_action(event, source)
        if kind == "MessageEvent":
            return self._v1_message(event, source)
        if kind == "ACPToolCallEvent":
            return self._v1_acp(event, source)
        call_id = string(event.get("tool_call_id"))
        if kind == "ObservationEvent":
            self._v1_observation(event, source, call_id)
        elif kind == "AgentErrorEvent":
            self._observe(text_of(event.get("error")), source, call_id, is_error=True)
        elif kind == "UserRejectObservation":
            is_hook = event.get("rejection_source") == "hook"
            text = text_of(event.get("rejection_reason"))
            self._observe(text, source, call_id, origin="system" if is_hook else "user", is_error=True)
        elif kind == "ConversationErrorEvent":
            text = ": ".join(filter(None, (text_of(event.get("code")), text_of(event.get("detail")))))
            self._observe(text, source, origin="system", is_error=True)
        elif kind == "ConversationStateUpdateEvent":
            value = event.get("value")
            self.take_state(obj(value) if event.get("key") == "full_state" else {str(event.get("key")): value})
        elif not (isinstance(kind, str) and kind in V1_NO_TURNS):
            self.notices.skip(f"event of unknown kind {describe(kind)}", source)
        return None

    def _v1_action(self, event: dict[str, Any], source: Source) -> Step | None:
        draft, done, is_new = self._act(event, source, string(event.get("llm_response_id")))
        thought = text_of(event.get("thought"))
        if thought and thought not in draft.message:
            draft.message.append(thought)
        if is_new:
            draft.reasoning += _v1_reasoning(event)
        written = obj(event.get("tool_call"))
        call = tool_call(written)
        action = obj(event.get("action"))
        if not any(key in (obj(written.get("function")) or written) for key in ("arguments", "input", "args")):
            call = ToolCall(call.name, {key: value for key, value in action.items() if key != "kind"}, call.id)
        name = (
            first_string((event.get("tool_name"), call.name if call.name != "?" else None, action.get("kind"))) or "?"
        )
        draft.calls.append(ToolCall(name, call.arguments, string(event.get("tool_call_id")) or call.id))
        return done

    def _v1_message(self, event: dict[str, Any], source: Source) -> Step | None:
        message = obj(event.get("llm_message"))
        text = text_of(message.get("content"))
        if event.get("source") != "agent":
            if event.get("source") == "user":
                self._told(text)
            else:
                self._observe(text, source, origin="system")
            return None
        draft, done, is_new = self._act(event, source, string(event.get("llm_response_id")))
        draft.message.append(text)
        if is_new:
            draft.reasoning += _v1_reasoning(message)
        return done

    def _v1_observation(self, event: dict[str, Any], source: Source, call_id: str | None) -> None:
        seen = event.get("observation")
        observation = obj(seen)
        text = next((t for key in ("content", "output", "message") if (t := text_of(observation.get(key)))), "")
        if isinstance(seen, str):
            text = seen
        added = text_of(event.get("extended_content"))
        self._observe(
            "\n".join(filter(None, (text, added))),
            source,
            call_id,
            is_error=flag(observation.get("is_error"), observation.get("error")),
            exit_code=_exit_code(observation),
        )

    def _v1_acp(self, event: dict[str, Any], source: Source) -> Step | None:
        call_id = string(event.get("tool_call_id"))
        if call_id is None:
            self.notices.skip("an ACP tool call without an ID", source)
            return None
        draft, done = self.draft, None
        if draft is None or (call_id not in self.acp and all(self.acp.values())):
            draft, done, _ = self._act(event, source, None)
        status = event.get("status")
        ended = isinstance(status, str) and status not in RUNNING
        raw = event.get("raw_input")
        call = ToolCall(string(event.get("title")) or string(event.get("tool_kind")) or "?", arguments_of(raw), call_id)
        if call_id in self.acp:
            draft.calls[:] = [call if old.id == call_id else old for old in draft.calls]
            draft.observations[:] = [old for old in draft.observations if old.call_id != call_id]
        else:
            draft.calls.append(call)
        self.acp[call_id] = ended
        output = text_of(event.get("raw_output")) or text_of(event.get("content"))
        if ended or output:
            draft.observe(output, call_id, is_error=flag(event.get("is_error")))
        return done

    # -- V0

    def _v0(self, event: dict[str, Any], source: Source) -> Step | None:
        action, observation = event.get("action"), event.get("observation")
        if isinstance(action, str) and action:
            return self._v0_action(action, event, source)
        if isinstance(observation, str) and observation:
            self._v0_observation(observation, event, source)
        else:
            self.notices.skip("neither an action nor an observation", source)
        return None

    def _v0_action(self, action: str, event: dict[str, Any], source: Source) -> Step | None:
        args = obj(event.get("args"))
        if action == "system":
            self.version = self.version or string(args.get("openhands_version"))
        if action == "message" and event.get("source") == "user":
            images = [image_marker({"image_url": url}) for url in seq(args.get("image_urls")) if isinstance(url, str)]
            self._told("\n".join(filter(None, (text_of(args.get("content")), *images))))
            return None
        if event.get("source") != "agent" or action in V0_NO_ACTIONS:
            if (own := whole(event.get("id"))) is not None and action != "message":
                self.foreign.add(own)
            return None
        metadata = obj(event.get("tool_call_metadata"))
        response = obj(metadata.get("model_response"))
        self.total = _total(obj(event.get("llm_metrics"))) or self.total
        draft, done, is_new = self._act(event, source, string(response.get("id")))
        said = obj(obj((seq(response.get("choices")) or [None])[0]).get("message"))
        if is_new:
            self._v0_open(draft, response, said, action, args)
        if action != "message":
            draft.calls.append(_v0_call(action, args, metadata, said))
            if (own := whole(event.get("id"))) is not None:
                self.answers[own] = draft.calls[-1].id
        return done

    def _v0_open(
        self, draft: StepDraft, response: dict[str, Any], said: dict[str, Any], action: str, args: dict[str, Any]
    ) -> None:
        model = string(response.get("model"))
        self.model = self.model or model
        draft.model = model if model != self.model else None
        draft.usage = usage_of(response.get("usage"))
        draft.reasoning.append(text_of(said.get("reasoning_content")))
        # `think` has its argument under the name that all others have what was said beside the call under.
        own = args.get("content") if action == "message" else None if action == "think" else args.get("thought")
        draft.message.append(text_of(said.get("content")) or text_of(own))

    def _v0_observation(self, observation: str, event: dict[str, Any], source: Source) -> None:
        if observation in V0_NO_OBSERVATIONS or whole(event.get("cause")) in self.foreign:
            return
        extras = obj(event.get("extras"))
        cause = whole(event.get("cause"))
        call_id = string(obj(event.get("tool_call_metadata")).get("tool_call_id"))
        if call_id is None and cause is not None:
            call_id = self.answers.get(cause)
        is_error = True if observation == "error" else flag(extras.get("error"))
        answers = call_id is not None or cause is not None
        origin = "user" if observation == "user_rejected" else "tool" if answers else "system"
        exit_code = _exit_code(extras)
        self._observe(
            text_of(event.get("content")), source, call_id, origin=origin, is_error=is_error, exit_code=exit_code
        )


def _v1_reasoning(message: dict[str, Any]) -> list[str]:
    if text := text_of(message.get("reasoning_content")):
        return [text]
    if texts := [text_of(block.get("thinking")) for block in objs(message.get("thinking_blocks"))]:
        return texts
    item = obj(message.get("responses_reasoning_item"))
    return [text_of(item.get("content")) or text_of(item.get("summary"))]


def _v0_call(action: str, args: dict[str, Any], metadata: dict[str, Any], said: dict[str, Any]) -> ToolCall:
    call_id = string(metadata.get("tool_call_id"))
    written = next((call for call in map(tool_call, objs(said.get("tool_calls"))) if call.id == call_id), None)
    if written is not None and call_id is not None:
        return written
    arguments = {key: value for key, value in args.items() if action == "think" or key not in V0_BOOKKEEPING}
    return ToolCall(string(metadata.get("function_name")) or action, arguments, call_id)


def _exit_code(observation: dict[str, Any]) -> int | None:
    code = whole(observation.get("exit_code"))
    if code is None:
        code = whole(obj(observation.get("metadata")).get("exit_code"))
    return None if code == -1 else code


def _total(metrics: dict[str, Any]) -> Usage | None:
    """The totals of one `metrics` object."""
    usage = _tokens(obj(metrics.get("accumulated_token_usage"))) or Usage()
    cost = number(metrics.get("accumulated_cost")) or None
    usage = Usage(usage.input, usage.cache_read, usage.cache_write, usage.output, cost)
    return usage if usage != Usage() else None


def _tokens(tokens: dict[str, Any]) -> Usage | None:
    prompt, output = whole(tokens.get("prompt_tokens")), whole(tokens.get("completion_tokens"))
    read, write = whole(tokens.get("cache_read_tokens")), whole(tokens.get("cache_write_tokens"))
    if not (prompt or output):
        return None
    return Usage(None if prompt is None else max(prompt - (read or 0) - (write or 0), 0), read, write, output)
