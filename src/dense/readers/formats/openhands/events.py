"""Which records are OpenHands events, and where a row keeps them."""

from __future__ import annotations

from typing import Any

from dense.readers.json_value import is_obj, is_seq, obj, seq

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

EVENT_LISTS = ("history", "events", "trajectory")


def is_event(value: Any) -> bool:
    event = obj(value)
    source = event.get("source")
    if not (isinstance(source, str) and source in SOURCES):
        return False
    kind, action, observation = event.get("kind"), event.get("action"), event.get("observation")
    if isinstance(kind, str) and (kind in V1_TURNS or kind in V1_NO_TURNS):
        return True
    # "extras" alone shows nothing: other programs have source and action, but never these pairs.
    return (isinstance(action, str) and is_obj(event.get("args"))) or (
        isinstance(observation, str) and "content" in event and is_obj(event.get("extras"))
    )


def has_events(value: Any) -> bool:
    return event_list(value) is not None


def event_list(value: Any) -> list[Any] | None:
    """The events of a row or of an object around them."""
    row = obj(value)
    for key in EVENT_LISTS:
        events = row.get(key)
        if is_seq(events) and any(is_event(event) or any(map(is_event, seq(event))) for event in events[:20]):
            return events
    return None
