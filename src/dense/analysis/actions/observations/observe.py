"""What the observations of a step show, given what the step did."""

from __future__ import annotations

from msgspec import Struct

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.observations.context import OutputContext, context_of_call, context_of_step
from dense.analysis.actions.observations.harness import harness_notice, running_session
from dense.analysis.actions.observations.program_output import (
    distinct,
    read_program_output,
    reported_problem,
    tool_failures,
)
from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult, TestRun
from dense.analysis.actions.step_effects import commands
from dense.knowledge.errors import ERRORS, ErrorTable
from dense.knowledge.test_runners import RUNNERS, RunnerTable
from dense.trajectory import Observation, Step


class _Reading(Struct, frozen=True, gc=False):
    """What one observation shows."""

    exit_code: int | None
    failures: tuple[ObservedFailure, ...]
    tests: tuple[TestRun, ...]


def observe(
    step: Step,
    effects: Effects,
    texts: tuple[str, ...] | None = None,
    errors: ErrorTable = ERRORS,
    runners: RunnerTable = RUNNERS,
) -> ObservedResult:
    """What the observations of a step show, given what the step did.

    `texts` are the shell texts that it ran, if the caller has them already."""
    if not step.observations:
        return ObservedResult()
    context = context_of_step(step, effects, commands(step) if texts is None else texts, errors, runners)
    readings = [_read(step, observation, context) for observation in step.observations if observation.origin != "user"]
    codes = [reading.exit_code for reading in readings if reading.exit_code is not None]
    failures = distinct([failure for reading in readings for failure in reading.failures])
    tests = tuple({run.line: run for reading in readings for run in reading.tests}.values())
    problem = ""
    if effects.tests and not tests and not failures:
        problem = reported_problem(
            "\n".join(observation.text for observation in step.observations if observation.origin != "user")
        )
    all_texts = [observation.text for observation in step.observations]
    is_empty, is_running = not any(map(str.strip, all_texts)), any(map(running_session, all_texts))
    return ObservedResult(
        exit_code=codes[-1] if codes else None,
        failures=failures,
        tests=tests,
        is_empty=is_empty,
        reported_problem=problem,
        is_running=is_running,
    )


def _read(step: Step, observation: Observation, context: OutputContext) -> _Reading:
    """What one observation shows. If a step made several calls, one that seems to show something is read again by what
    its own call did: parsing shell text twice is worth it only then."""
    reading = _read_as(observation, context)
    if len(step.calls) > 1 and len(step.observations) > 1 and (reading.failures or reading.tests):
        alone = context_of_call(step, observation, context)
        reading = reading if alone == context else _read_as(observation, alone)
    return reading


def _read_as(observation: Observation, context: OutputContext) -> _Reading:
    notice = harness_notice(observation.text, observation.exit_code)
    if context.kind == "tool_answer":
        return _Reading(notice.code, tuple(tool_failures(observation, notice, context)), ())
    return _Reading(notice.code, *read_program_output(observation, notice, context))
