"""Chat messages in OpenAI's dialect: `{"id", "instance_id", "model", "messages": […]}`, a document for each trajectory.

Messages have role, content, tool calls and nothing else than what the dialect knows, with `reasoning_content` as most
programs write it. Times, tokens, exit codes and sub-agents have no place in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dense.trajectory import Observation, Step, Trajectory


def chat_document(trajectory: Trajectory) -> dict[str, Any]:
    """The trajectory as chat messages."""
    name = trajectory.task.name if trajectory.task is not None else None
    named = {"id": trajectory.id, "instance_id": name, "model": trajectory.model}
    head: dict[str, Any] = {key: value for key, value in named.items() if value}
    return head | {"messages": list(_messages(trajectory))}


def _messages(trajectory: Trajectory) -> Iterator[dict[str, Any]]:
    if trajectory.task is not None:
        yield {"role": "user", "content": trajectory.task.instruction}
    for number, step in enumerate(trajectory.steps):
        ids = [call.id or f"call_{number}_{index}" for index, call in enumerate(step.calls)]
        yield _action(step, ids)
        yield from (_answer(observation, ids) for observation in step.observations)


def _action(step: Step, ids: list[str]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.message}
    if step.agent:
        message["name"] = step.agent
    if step.reasoning:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": call.name, "arguments": _json(call.arguments)}}
            for id, call in zip(ids, step.calls, strict=True)
        ]
    return message


def _answer(observation: Observation, ids: list[str]) -> dict[str, Any]:
    """A result needs a call: one that answers the whole step goes to its last one, and is a user's message if there is
    none, as in scaffolds without tool calls."""
    call_id = observation.call_id or (ids[-1] if ids else None)
    if observation.origin != "tool" or call_id is None:
        return {"role": "user" if observation.origin == "tool" else observation.origin, "content": observation.text}
    return {"role": "tool", "tool_call_id": call_id, "content": observation.text}


def _json(arguments: dict[str, Any]) -> str:
    return msgspec.json.encode(arguments).decode()
