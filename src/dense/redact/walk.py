"""The texts of a trajectory that an agent, a tool or a person wrote, in a fixed order, and their rewrite.

Everything else that a trace names is a label: IDs, names of agents and models, places, times. Each text of a trajectory
is one or the other (`tests/redact/test_walk.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from msgspec.structs import replace

from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory

Rewrite = Callable[[str], str]


def rewrite_trajectory(trajectory: Trajectory, rewrite: Rewrite) -> Trajectory:
    """The trajectory with each text rewritten, sub-agents included. Labels and numbers stay."""
    task = _task(trajectory.task, rewrite) if trajectory.task else None
    steps = tuple([_step(step, rewrite) for step in trajectory.steps])
    notices = tuple([_notice(notice, rewrite) for notice in trajectory.notices])
    if task is not None and task.last_request is not None:
        task = replace(task, last_request=rewrite(task.last_request))
    if task is not None and task.earlier:
        task = replace(task, earlier=tuple([replace(turn, text=rewrite(turn.text)) for turn in task.earlier]))
    return replace(trajectory, task=task, steps=steps, notices=notices)


def rewrite_labels(trajectory: Trajectory, rewrite: Rewrite) -> Trajectory:
    """The trajectory with each label rewritten, sub-agents included; equal labels must stay equal. Names of tasks and
    tools are texts and labels."""

    def optional(text: str | None) -> str | None:
        return None if text is None else rewrite(text)

    def new_source(source: Source) -> Source:
        return replace(source, path=rewrite(source.path), part=optional(source.part))

    def new_call(call: ToolCall) -> ToolCall:
        return replace(call, name=rewrite(call.name), id=optional(call.id), continues=optional(call.continues))

    def new_observation(observation: Observation) -> Observation:
        return replace(observation, call_id=optional(observation.call_id), timestamp=optional(observation.timestamp))

    def new_step(step: Step) -> Step:
        return replace(
            step,
            source=new_source(step.source),
            calls=tuple(map(new_call, step.calls)),
            observations=tuple(map(new_observation, step.observations)),
            agent=optional(step.agent),
            model=optional(step.model),
            timestamp=optional(step.timestamp),
            subagents=tuple(map(new_run, step.subagents)),
        )

    def new_run(run: Trajectory) -> Trajectory:
        return replace(
            run,
            format=rewrite(run.format),
            id=rewrite(run.id),
            source=new_source(run.source),
            agent=optional(run.agent),
            agent_version=optional(run.agent_version),
            model=optional(run.model),
            task=replace(run.task, name=optional(run.task.name)) if run.task is not None else None,
            steps=tuple(map(new_step, run.steps)),
            notices=tuple([replace(notice, source=new_source(notice.source)) for notice in run.notices]),
        )

    return new_run(trajectory)


def labels_of(trajectory: Trajectory) -> list[str]:
    """The different labels of a trajectory, in the order in which they first occur."""
    labels: dict[str | None, None] = {}
    waiting = [trajectory]
    while waiting:
        run = waiting.pop()
        names = (run.format, run.id, run.agent, run.agent_version, run.model, run.source.path, run.source.part)
        labels.update(dict.fromkeys(names))
        labels[run.task.name if run.task is not None else None] = None
        for step in run.steps:
            labels.update(dict.fromkeys((step.source.path, step.source.part, step.agent, step.model, step.timestamp)))
            for call in step.calls:
                labels[call.name] = labels[call.id] = labels[call.continues] = None
            for observation in step.observations:
                labels[observation.call_id] = labels[observation.timestamp] = None
            waiting += step.subagents
        for notice in run.notices:
            labels[notice.source.path] = labels[notice.source.part] = None
    return [label for label in labels if label is not None]


MAX_NESTING = 60
"""What lies deeper in an argument is nobody's message, and whoever goes through it would end at Python's own limit."""
TOO_DEEP = "[nested too deeply]"


def without_depth(trajectory: Trajectory) -> Trajectory:
    """The trajectory with a mark in place of each argument that is nested too deeply, sub-agents included."""

    def shallow_step(step: Step) -> Step:
        calls = tuple([replace(call, arguments=_shallow(call.arguments)) for call in step.calls])
        return replace(step, calls=calls, subagents=tuple(map(without_depth, step.subagents)))

    is_deep = any(
        step.subagents or any(_is_deep(value) for call in step.calls for value in call.arguments.values())
        for step in trajectory.steps
    )
    return replace(trajectory, steps=tuple(map(shallow_step, trajectory.steps))) if is_deep else trajectory


def _shallow(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: TOO_DEEP if _is_deep(value) else value for name, value in arguments.items()}


def _is_deep(value: Any) -> bool:
    waiting: list[tuple[Any, int]] = [(value, 0)] if isinstance(value, dict | list) else []
    while waiting:
        inner, depth = waiting.pop()
        if depth > MAX_NESTING:
            return True
        items = cast("dict[str, Any]", inner).values() if isinstance(inner, dict) else cast("list[Any]", inner)
        waiting += [(item, depth + 1) for item in items if isinstance(item, dict | list)]
    return False


def texts_of(trajectory: Trajectory) -> list[str]:
    """The texts in the order in which `rewrite_trajectory` rewrites them."""
    texts: list[str] = []
    _collect(trajectory, texts)
    return texts


def _collect(trajectory: Trajectory, texts: list[str]) -> None:
    if trajectory.task:
        texts.append(trajectory.task.instruction)
        if trajectory.task.name:
            texts.append(trajectory.task.name)
    for step in trajectory.steps:
        texts += (step.reasoning, step.message)
        for call in step.calls:
            texts += (call.name, *call.arguments)
            for value in call.arguments.values():
                if isinstance(value, str):
                    texts.append(value)
                else:
                    _collect_value(value, texts)
        for observation in step.observations:
            texts.append(observation.text)
        for subagent in step.subagents:
            _collect(subagent, texts)
    texts += [notice.text for notice in trajectory.notices]
    if trajectory.task and trajectory.task.last_request is not None:
        texts.append(trajectory.task.last_request)
    texts += [turn.text for turn in trajectory.task.earlier] if trajectory.task else ()


def _collect_value(value: Any, texts: list[str]) -> None:
    waiting: list[Any] = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            texts.append(inner)
        elif isinstance(inner, dict):
            items = cast("dict[str, Any]", inner)
            texts += items
            waiting += reversed(items.values())
        elif isinstance(inner, list | tuple):
            waiting += reversed(cast("list[Any]", inner))


def _task(task: Task, rewrite: Rewrite) -> Task:
    return replace(task, instruction=rewrite(task.instruction), name=rewrite(task.name) if task.name else task.name)


def _step(step: Step, rewrite: Rewrite) -> Step:
    return replace(
        step,
        reasoning=rewrite(step.reasoning),
        message=rewrite(step.message),
        calls=tuple([_call(call, rewrite) for call in step.calls]),
        observations=tuple([_observation(observation, rewrite) for observation in step.observations]),
        subagents=tuple([rewrite_trajectory(subagent, rewrite) for subagent in step.subagents]),
    )


def _call(call: ToolCall, rewrite: Rewrite) -> ToolCall:
    return replace(call, name=rewrite(call.name), arguments=_value(call.arguments, rewrite))


def _observation(observation: Observation, rewrite: Rewrite) -> Observation:
    return replace(observation, text=rewrite(observation.text))


def _notice(notice: Notice, rewrite: Rewrite) -> Notice:
    return replace(notice, text=rewrite(notice.text))


def _value(value: Any, rewrite: Rewrite) -> Any:
    """A JSON value with all strings rewritten, keys too. Not by recursion: a hostile trace nests deeply."""
    root = [value]
    waiting: list[tuple[Any, Any]] = [(root, 0)]
    while waiting:
        holder, key = waiting.pop()
        inner = holder[key]
        if isinstance(inner, str):
            holder[key] = rewrite(inner)
        elif isinstance(inner, dict):
            holder[key] = copy = _with_keys(cast("dict[str, Any]", inner), rewrite)
            waiting.extend((copy, key) for key in reversed(copy))
        elif isinstance(inner, list | tuple):
            holder[key] = copy = list(cast("list[Any]", inner))
            waiting.extend((copy, index) for index in reversed(range(len(copy))))
    return root[0]


def _with_keys(value: dict[str, Any], rewrite: Rewrite) -> dict[str, Any]:
    copy: dict[str, Any] = {}
    for key, inner in value.items():
        new = rewrite(key)
        while new in copy:  # a trace may have our own mark as a key; no value may be lost
            new += "'"
        copy[new] = inner
    return copy
