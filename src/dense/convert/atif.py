"""ATIF, the format of Harbor's trajectories: schema 1.7, valid by Harbor's own models.

The task is the first step, of the user; each of our steps is a step of the agent with its results, followed by a step
for each thing that a user or the harness said next. Sub-agents are embedded. What ATIF has no field for is in `extra`:
`extra.dense` of the document marks it as ours, so that our reader takes everything as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from dense.trajectory import Observation, Step, ToolCall, Trajectory, Usage

SCHEMA_VERSION = "ATIF-v1.7"
"""The first with embedded sub-agents and with `extra` everywhere: readers of later versions take it, too."""
UNKNOWN = "unknown"
"""ATIF wants a name and a version of the agent."""


def atif_document(trajectory: Trajectory) -> dict[str, Any]:
    """The trajectory as an ATIF document."""
    embedded: list[dict[str, Any]] = []
    steps = [_numbered(number, step) for number, step in enumerate(_steps(trajectory, embedded), 1)]
    return _filled(
        schema_version=SCHEMA_VERSION,
        session_id=trajectory.id,
        agent=_filled(
            name=trajectory.agent or UNKNOWN,
            version=trajectory.agent_version or UNKNOWN,
            model_name=trajectory.model,
        ),
        steps=steps,
        notes="\n".join(f"{notice.source}: {notice.kind}: {notice.text}" for notice in trajectory.notices) or None,
        final_metrics=_total(trajectory.usage, len(steps)),
        extra={"dense": _own_fields(trajectory)},
        subagent_trajectories=embedded or None,
    )


def _own_fields(trajectory: Trajectory) -> dict[str, Any]:
    """What ATIF has no field for. The instruction itself is the first step."""
    task = trajectory.task
    return _filled(
        format=trajectory.format,
        task=None
        if task is None
        else _filled(
            name=task.name,
            origin=task.origin,
            last_request=task.last_request,
            earlier=msgspec.to_builtins(task.earlier) or None,
        ),
    )


def _filled(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _numbered(number: int, step: dict[str, Any]) -> dict[str, Any]:
    return {"step_id": number, **step}


def _steps(trajectory: Trajectory, embedded: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if trajectory.task is not None:
        yield {"source": "user", "message": trajectory.task.instruction}
    for number, step in enumerate(trajectory.steps):
        yield _agent_step(step, number, embedded)
        yield from (_word(observation) for observation in step.observations if observation.origin != "tool")


def _agent_step(step: Step, number: int, embedded: list[dict[str, Any]]) -> dict[str, Any]:
    calls = [_call(call, f"call_{number}_{index}") for index, call in enumerate(step.calls)]
    known = {call.id for call in step.calls}
    results = [_result(observation, known) for observation in step.observations if observation.origin == "tool"]
    if step.subagents:
        results.append({"subagent_trajectory_ref": [_embed(inner, embedded) for inner in step.subagents]})
    time, extra = _time(step.timestamp)
    return _filled(
        source="agent",
        timestamp=time,
        model_name=step.model,
        message=step.message,
        reasoning_content=step.reasoning or None,
        tool_calls=calls or None,
        observation={"results": results} if results else None,
        metrics=_metrics(step.usage),
        extra=_filled(agent=step.agent, **extra) or None,
    )


def _call(call: ToolCall, default: str) -> dict[str, Any]:
    extra = None if call.id else {"id": None}  # ATIF wants an ID: ours says that there was none
    return _filled(tool_call_id=call.id or default, function_name=call.name, arguments=call.arguments, extra=extra)


def _result(observation: Observation, known: set[str | None]) -> dict[str, Any]:
    """A result refers to calls of its own step only; one that answers an earlier step's call names it in `extra`."""
    is_own = observation.call_id in known
    extra = _filled(
        call_id=None if is_own else observation.call_id,
        is_error=observation.is_error,
        exit_code=observation.exit_code,
        timestamp=observation.timestamp,
    )
    return _filled(
        source_call_id=observation.call_id if is_own else None, content=observation.text, extra=extra or None
    )


def _word(observation: Observation) -> dict[str, Any]:
    """What a user or the harness said after an action."""
    time, extra = _time(observation.timestamp)
    extra |= _filled(call_id=observation.call_id, is_error=observation.is_error, exit_code=observation.exit_code)
    return _filled(source=observation.origin, timestamp=time, message=observation.text, extra=extra or None)


def _time(recorded: str | None) -> tuple[str | None, dict[str, Any]]:
    """A time as ATIF takes it, or what goes to `extra` because it is not ISO 8601."""
    if recorded is None:
        return None, {}
    try:
        datetime.fromisoformat(recorded.replace("Z", "+00:00"))
    except ValueError:
        return None, {"timestamp": recorded}
    return recorded, {}


def _embed(inner: Trajectory, embedded: list[dict[str, Any]]) -> dict[str, Any]:
    """Put a sub-agent among the embedded ones and refer to it."""
    taken = {document["trajectory_id"] for document in embedded}
    name = inner.id if inner.id and inner.id not in taken else f"{inner.id}#{len(embedded)}"
    embedded.append(atif_document(inner) | {"trajectory_id": name})
    return {"trajectory_id": name}


def _metrics(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None or usage == Usage():
        return None
    return _filled(
        prompt_tokens=_prompt_tokens(usage),
        completion_tokens=usage.output,
        cached_tokens=usage.cache_read,
        cost_usd=usage.cost_usd,
        extra=None if usage.cache_write is None else {"cache_creation_input_tokens": usage.cache_write},
    )


def _total(usage: Usage | None, steps: int) -> dict[str, Any]:
    known = usage or Usage()
    written = known.cache_write
    return _filled(
        total_prompt_tokens=_prompt_tokens(known),
        total_completion_tokens=known.output,
        total_cached_tokens=known.cache_read,
        total_cost_usd=known.cost_usd,
        total_steps=steps,
        extra=None if written is None else {"total_cache_creation_input_tokens": written},
    )


def _prompt_tokens(usage: Usage) -> int | None:
    """ATIF counts the cache inside the prompt."""
    return None if usage.input is None else usage.input + (usage.cache_read or 0) + (usage.cache_write or 0)
