"""Turns the events of one OpenHands conversation, of either generation, into steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dense.readers.chat import describe, tool_call, usage_of
from dense.readers.content import arguments_of, image_marker, text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.openhands.events import V1_NO_TURNS
from dense.readers.formats.openhands.tokens import token_usage, total_usage
from dense.readers.json_value import first_string, flag, is_obj, obj, objs, seq, string, whole
from dense.readers.notices import Notices
from dense.readers.stream import StepBuilder
from dense.trajectory import Source, Step, ToolCall, Usage

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

RUNNING = frozenset({None, "pending", "in_progress", "started"})


@dataclass
class EventSteps:
    """Goes through the events of one conversation, of either generation."""

    notices: Notices
    prompts: list[str] = field(default_factory=list[str])
    model: str | None = None
    version: str | None = None
    total: Usage | None = None
    usages: dict[str, Usage] = field(default_factory=dict[str, Usage])
    builder: StepBuilder | None = None
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
        if self.builder:
            yield self.builder.build()

    def take_state(self, state: dict[str, Any]) -> None:
        """What V1 keeps beside the events: the model, and what each of its answers cost."""
        self.model = self.model or string(obj(obj(state.get("agent")).get("llm")).get("model"))
        usages = obj(obj(state.get("stats")).get("usage_to_metrics"))
        total: Usage | None = None
        for metrics in map(obj, usages.values()):
            if usage := total_usage(metrics):
                total = usage if total is None else total + usage
            for tokens in objs(metrics.get("token_usages")):
                if (response := string(tokens.get("response_id"))) and (usage := token_usage(tokens)):
                    self.usages[response] = usage
        self.total = total or self.total

    # -- steps

    def _act(
        self, event: dict[str, Any], source: Source, response: str | None
    ) -> tuple[StepBuilder, Step | None, bool]:
        """The step that an action belongs to, the one that it completes, and whether it opened its step."""
        if self.builder is not None and response is not None and response == self.response:
            return self.builder, None, False
        done = self.builder.build() if self.builder else None
        self.builder = StepBuilder(source=source, timestamp=string(event.get("timestamp")))
        self.response = response
        self.acp.clear()
        self.answers.clear()
        if response is not None:
            self.builder.usage = self.usages.get(response)
        return self.builder, done, True

    def _observe(self, text: str, source: Source, call_id: str | None = None, **more: Any) -> None:
        if self.builder is None:
            if more.get("origin") != "system":
                self.notices.skip("observation before any action", source)
        else:
            self.builder.observe(text, call_id, **more)

    def _user_message(self, text: str) -> None:
        """A word of the user."""
        if not text:
            return
        if self.builder is None:
            self.prompts.append(text)
        else:
            self.builder.observe(text, origin="user")

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
        builder, done, is_new = self._act(event, source, string(event.get("llm_response_id")))
        thought = text_of(event.get("thought"))
        if thought and thought not in builder.message:
            builder.message.append(thought)
        if is_new:
            builder.reasoning += _v1_reasoning(event)
        written = obj(event.get("tool_call"))
        call = tool_call(written)
        action = obj(event.get("action"))
        if not any(key in (obj(written.get("function")) or written) for key in ("arguments", "input", "args")):
            call = ToolCall(call.name, {key: value for key, value in action.items() if key != "kind"}, call.id)
        name = (
            first_string((event.get("tool_name"), call.name if call.name != "?" else None, action.get("kind"))) or "?"
        )
        builder.calls.append(ToolCall(name, call.arguments, string(event.get("tool_call_id")) or call.id))
        return done

    def _v1_message(self, event: dict[str, Any], source: Source) -> Step | None:
        message = obj(event.get("llm_message"))
        text = text_of(message.get("content"))
        if event.get("source") != "agent":
            if event.get("source") == "user":
                self._user_message(text)
            else:
                self._observe(text, source, origin="system")
            return None
        builder, done, is_new = self._act(event, source, string(event.get("llm_response_id")))
        builder.message.append(text)
        if is_new:
            builder.reasoning += _v1_reasoning(message)
        return done

    def _v1_observation(self, event: dict[str, Any], source: Source, call_id: str | None) -> None:
        recorded = event.get("observation")
        observation = obj(recorded)
        text = next((t for key in ("content", "output", "message") if (t := text_of(observation.get(key)))), "")
        if isinstance(recorded, str):
            text = recorded
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
        builder, done = self.builder, None
        if builder is None or (call_id not in self.acp and all(self.acp.values())):
            builder, done, _ = self._act(event, source, None)
        status = event.get("status")
        ended = isinstance(status, str) and status not in RUNNING
        raw = event.get("raw_input")
        call = ToolCall(string(event.get("title")) or string(event.get("tool_kind")) or "?", arguments_of(raw), call_id)
        if call_id in self.acp:
            builder.calls[:] = [call if old.id == call_id else old for old in builder.calls]
            builder.observations[:] = [old for old in builder.observations if old.call_id != call_id]
        else:
            builder.calls.append(call)
        self.acp[call_id] = ended
        output = text_of(event.get("raw_output")) or text_of(event.get("content"))
        if ended or output:
            builder.observe(output, call_id, is_error=flag(event.get("is_error")))
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
            self._user_message("\n".join(filter(None, (text_of(args.get("content")), *images))))
            return None
        if event.get("source") != "agent" or action in V0_NO_ACTIONS:
            if (own := whole(event.get("id"))) is not None and action != "message":
                self.foreign.add(own)
            return None
        metadata = obj(event.get("tool_call_metadata"))
        response = obj(metadata.get("model_response"))
        self.total = total_usage(obj(event.get("llm_metrics"))) or self.total
        builder, done, is_new = self._act(event, source, string(response.get("id")))
        said = obj(obj((seq(response.get("choices")) or [None])[0]).get("message"))
        if is_new:
            self._v0_open(builder, response, said, action, args)
        if action != "message":
            builder.calls.append(_v0_call(action, args, metadata, said))
            if (own := whole(event.get("id"))) is not None:
                self.answers[own] = builder.calls[-1].id
        return done

    def _v0_open(
        self, builder: StepBuilder, response: dict[str, Any], said: dict[str, Any], action: str, args: dict[str, Any]
    ) -> None:
        model = string(response.get("model"))
        self.model = self.model or model
        builder.model = model if model != self.model else None
        builder.usage = usage_of(response.get("usage"))
        builder.reasoning.append(text_of(said.get("reasoning_content")))
        # `think` has its argument under the name that all others have what was said beside the call under.
        own = args.get("content") if action == "message" else None if action == "think" else args.get("thought")
        builder.message.append(text_of(said.get("content")) or text_of(own))

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
