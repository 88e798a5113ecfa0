"""`tau-bench`: results of tau-bench and tau2-bench, an agent that serves a simulated customer with tools.

tau-bench writes a JSON list with a row for each trial: `task_id`, `trial`, `reward`, `info`, and the chat in
`traj[]`, OpenAI messages. tau2-bench writes an object: `info` (agent and user models), `tasks[]`, `simulations[]{id,
task_id, trial, reward_info, messages[]}`; newer runs lay the simulations as files of their own into a folder, each
such an object.

Decided here:
- The task is what the agent was asked: the customer's first message. The hidden script of the customer
  (`info.task.instruction`, tau2's `tasks`) also holds the expected actions and outputs, which grade; nothing of
  `info`, `tasks`, `reward` or `reward_info` passes, but for tau2's names of agent and model.
- The domain's policy is the system prompt, and no part of the task.
- tau2 opens with a greeting that the harness itself writes for the agent; it is no step. Customers of tau2 may call
  tools of their own; the agent sees neither the calls nor their results (`requestor: user`), so they are left out.
- The agents that write `Thought: … Action: {…}` have their calls in the text and their results in user messages (`API
  output: …`).
- The customer's signals (`###STOP###`) are no words, and are left out.
- What the simulated customer cost is not the agent's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec

from dense.readers.chat import AGENT_ROLES, Chat, role_of
from dense.readers.content import arguments_of, text_of
from dense.readers.files import TraceRecord
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import is_obj, is_seq, number, obj, objs, seq, string
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import Stream
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Usage

API_OUTPUT = "API output: "
SIGNAL = re.compile(r"\s*###[A-Z][A-Z -]{2,30}###\s*")
ACTION = re.compile(r"^Action:\s*\{", re.MULTILINE)


class TauBench:
    name = "tau-bench"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_result, head))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        ids: set[str] = set()
        for record in fitting_documents(records, _is_result, location.notices, "a result of tau-bench"):
            value = obj(record.value)
            if _is_row(value):
                yield from _stream(value, location_of_row(record.source), {}, location, ids)
                continue
            for number_, simulation in enumerate(_simulations(value)):
                source = Source(location.name, record.source.line, part=f"simulation {number_}")
                yield from _stream(simulation, source, obj(value.get("info")), location, ids)


def _is_result(value: Any) -> bool:
    return _is_row(obj(value)) or any(map(_is_simulation, _simulations(value)))


def _is_row(row: dict[str, Any]) -> bool:
    return any(map(role_of, objs(row.get("traj"))[:3])) and "task_id" in row and ("reward" in row or "trial" in row)


def _is_simulation(simulation: dict[str, Any]) -> bool:
    # `reward_info` is only looked for, never into.
    marks = simulation.keys() & {"reward_info", "termination_reason", "trial", "agent_cost"}
    return "task_id" in simulation and bool(marks) and any(map(role_of, objs(simulation.get("messages"))[:3]))


def _simulations(value: Any) -> list[dict[str, Any]]:
    results = obj(value)
    simulations = objs(results.get("simulations"))
    return simulations if simulations or not _is_simulation(results) else [results]


def _stream(
    row: dict[str, Any], source: Source, info: dict[str, Any], location: TraceLocation, ids: set[str]
) -> Iterator[Stream]:
    chat = Chat(notices=location.notices)
    records = _messages(row, source)
    steps = (_without_signals(_with_text_calls(step)) for step in chat.steps(records))
    first = next(steps, None)
    if first is None:
        location.notices.skip("no action of the agent in it", source)
        return
    task = next(filter(str.strip, chat.prompts), None)
    name = _name(row.get("task_id"))
    stream = Stream(
        format="tau-bench",
        id=unique_id(_id(row, name), source, ids),
        source=source,
        notices=location.notices,
        agent=string(obj(info.get("agent_info")).get("implementation")),
        model=string(obj(info.get("agent_info")).get("llm")),
        task=Task(task, f"task {name}" if name is not None else None) if task else None,
    )

    def rest() -> Iterator[Step]:
        total: Usage | None = None
        for step in chain([first], steps):
            total = total + step.usage if total and step.usage else total or step.usage
            yield step
        if cost := number(row.get("agent_cost")):
            total = (total or Usage()) + Usage(cost_usd=cost)
        stream.usage = total

    stream.steps = rest()
    yield stream


def _name(task_id: Any) -> str | None:
    return str(task_id) if isinstance(task_id, str | int) and not isinstance(task_id, bool) else None


def _id(row: dict[str, Any], name: str | None) -> str:
    trial = _name(row.get("trial"))
    return string(row.get("id")) or f"task-{name}" + (f"-trial-{trial}" if trial is not None else "")


def _messages(row: dict[str, Any], source: Source) -> Iterator[TraceRecord]:
    """The chat between agent and customer, as the agent saw it."""
    is_second = not is_seq(row.get("traj"))
    messages = seq(row.get("messages" if is_second else "traj"))
    for index, message in enumerate(messages):
        here = Source(source.path, line=source.line, index=index, part=source.part)
        if not is_second or not is_obj(message):
            yield TraceRecord(message, here)
        elif not (_is_greeting(messages, index) or message.get("requestor") == "user"):
            for single in _singles(message):
                yield TraceRecord(single, here)


def _is_greeting(messages: list[Any], index: int) -> bool:
    """Whether it is the agent's word before anyone has asked for anything."""
    before = (role_of(obj(message)) for message in messages[:index])
    return role_of(obj(messages[index])) in AGENT_ROLES and all(role == "system" for role in before)


def _singles(message: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """tau2 wraps the results of several calls; and it has the call's ID as the result's own."""
    if role_of(message) == "user":
        # The customer's own calls are not for the agent's eyes.
        if text_of(message.get("content")):
            yield {"role": "user", "content": message.get("content")}
        return
    inner = objs(message.get("tool_messages")) if role_of(message) == "tool" else []
    for single in inner or [message]:
        if single.get("requestor") == "user":
            continue
        if role_of(single) == "tool" and "tool_call_id" not in single:
            yield {**single, "tool_call_id": single.get("id"), "is_error": single.get("error"), "error": None}
        else:
            yield single


def _without_signals(step: Step) -> Step:
    """The same step, without the signals of the simulated customer."""
    if not any(observation.origin == "user" and "###" in observation.text for observation in step.observations):
        return step
    said = [
        msgspec.structs.replace(observation, text=SIGNAL.sub(" ", observation.text).strip())
        if observation.origin == "user"
        else observation
        for observation in step.observations
    ]
    return msgspec.structs.replace(step, observations=tuple([observation for observation in said if observation.text]))


def _with_text_calls(step: Step) -> Step:
    """The same step, with calls and results that are written in plain text as calls and results."""
    text = step.message.rstrip()
    start = ACTION.search(text) if not step.calls and text.endswith("}") else None
    if start is None:
        return step
    try:
        written, _ = decode(text[start.end() - 1 :].encode())
    except BadJson:
        return step
    name = string(obj(written).get("name"))
    if name is None or name == "respond":
        return step
    observations = tuple(
        Observation(text=observation.text.removeprefix(API_OUTPUT))
        if observation.text.startswith(API_OUTPUT)
        else observation
        for observation in step.observations
    )
    call = ToolCall(name, arguments_of(obj(written).get("arguments")))
    return msgspec.structs.replace(step, calls=(call,), observations=observations)
