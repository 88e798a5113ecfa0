"""Small attempts, made for tests: commands with their output, and last messages."""

from __future__ import annotations

from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.detectors.registry import Finding
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording.findings import describe_finding
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

type Action = str | tuple[str, str] | tuple[str, str, int]
"""A last message; a command with its output; the same with its exit code."""


def attempt(task: str | None, *actions: Action, end: str | None = None) -> Trajectory:
    """A trajectory of shell commands. `end`: what the harness says after the last action."""
    steps = [_step(number, action) for number, action in enumerate(actions, 1)]
    if end is not None:
        last = steps[-1]
        said = (*last.observations, Observation(end, origin="system"))
        steps[-1] = Step(last.source, last.message, "", last.calls, said)
    return trajectory(task, *steps)


def trajectory(task: str | None, *steps: Step) -> Trajectory:
    instruction = Task(task) if task is not None else None
    return Trajectory("made", "made", Source("made"), task=instruction, steps=steps)


def assess(whole: Trajectory) -> TraceAssessment:
    return TraceAssessment(whole)


def analysed(task: str | None, *actions: Action, end: str | None = None) -> TraceAssessment:
    return assess(attempt(task, *actions, end=end))


def evidence_of(task: str | None, *actions: Action, end: str | None = None) -> TraceEvidence:
    return analysed(task, *actions, end=end).evidence


def found(assessment: TraceAssessment, *codes: str) -> list[Finding]:
    """The findings with one of these codes."""
    return [one for one in assessment.findings if one.code in codes]


def the(assessment: TraceAssessment, *codes: str) -> Finding:
    """The only finding with one of these codes."""
    (only,) = found(assessment, *codes)
    return only


def described(assessment: TraceAssessment, *codes: str) -> str:
    """The words for the only finding with one of these codes."""
    return describe_finding(the(assessment, *codes), assessment.evidence)


def state(whole: Trajectory) -> str:
    """The state that the feedback reports for a whole attempt."""
    verdict = distill_sync(whole, RulesAnalyst()).reconciled.root.verdict
    assert verdict is not None
    return verdict.state


def dialog(*turns: tuple[str, str]) -> Trajectory:
    """What an agent says and what a user answers."""
    steps = [Step(Source("made"), said, observations=(Observation(heard, origin="user"),)) for said, heard in turns]
    return trajectory("Help the user.", *steps)


def _step(number: int, action: Action) -> Step:
    if isinstance(action, str):
        return Step(Source("made"), action)
    command, output, *code = action
    call = ToolCall("bash", {"command": command}, f"c{number}")
    seen = Observation(output, f"c{number}", exit_code=code[0] if code else 0)
    return Step(Source("made"), "", "", (call,), (seen,))
