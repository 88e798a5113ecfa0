"""Small attempts, made for tests: commands with what came back, and last words."""

from __future__ import annotations

from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

type Action = str | tuple[str, str] | tuple[str, str, int]
"""A last word; a command with its output; the same with its exit code."""


def attempt(task: str | None, *actions: Action, end: str | None = None) -> Trajectory:
    """A trajectory of shell commands. `end`: what the harness says after the last action."""
    steps = [_step(number, action) for number, action in enumerate(actions, 1)]
    if end is not None:
        last = steps[-1]
        said = (*last.observations, Observation(end, origin="system"))
        steps[-1] = Step(last.source, last.message, "", last.calls, said)
    instruction = Task(task) if task is not None else None
    return Trajectory("made", "made", Source("made"), task=instruction, steps=tuple(steps))


def analysed(task: str | None, *actions: Action, end: str | None = None) -> Analysis:
    return Analysis(attempt(task, *actions, end=end), EffectsCache())


def dialog(*turns: tuple[str, str]) -> Trajectory:
    """What an agent says and what a user answers."""
    steps = [Step(Source("made"), said, observations=(Observation(heard, origin="user"),)) for said, heard in turns]
    return Trajectory("made", "made", Source("made"), task=Task("Help the user."), steps=tuple(steps))


def _step(number: int, action: Action) -> Step:
    if isinstance(action, str):
        return Step(Source("made"), action)
    command, output, *code = action
    call = ToolCall("bash", {"command": command}, f"c{number}")
    seen = Observation(output, f"c{number}", exit_code=code[0] if code else 0)
    return Step(Source("made"), "", "", (call,), (seen,))
