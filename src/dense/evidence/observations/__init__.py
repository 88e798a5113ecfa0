"""What came back after an action: exit codes, failures, test runs, named values.

    observe(step, effects)   what the observations of a step show
    values(text)          the named values that a text shows

Both are pure, take whatever a trace holds, and never raise. Precision goes before recall: error words in contents that
an action only showed are no failure. What a user said is not looked at."""

from __future__ import annotations

from dense.evidence.actions import Effects, commands
from dense.evidence.observations.doubts import doubt
from dense.evidence.observations.reading import Reading, each_once, read
from dense.evidence.observations.result import Family, ObservedFailure, ObservedResult, TestRun, Value
from dense.evidence.observations.setting import Setting, setting_after, setting_of_call
from dense.evidence.observations.values import values
from dense.trajectory import Step

__all__ = ["Family", "ObservedFailure", "ObservedResult", "TestRun", "Value", "observe", "values"]

NOTHING = ObservedResult()


def observe(step: Step, effects: Effects, texts: tuple[str, ...] | None = None) -> ObservedResult:
    """What the observations of a step show, given what the step did. `texts` are the shell texts that it ran, where
    somebody has them at hand."""
    if not step.observations:
        return NOTHING
    whole = setting_after(step, effects, commands(step) if texts is None else texts)
    first = step.observations[0]
    if len(step.observations) == 1 and first.origin != "user":
        reading, text = read(first, whole), first.text
        tests = reading.tests if len(reading.tests) < 2 else tuple({run.line: run for run in reading.tests}.values())
        wrong = doubt(text) if effects.tests and not tests and not reading.failures else ""
        return ObservedResult(reading.exit_code, reading.failures, tests, is_blank(text), wrong)
    readings = readings_of(step, whole)
    codes = [reading.exit_code for reading in readings if reading.exit_code is not None]
    failures = each_once([failure for reading in readings for failure in reading.failures])
    tests = tuple({run.line: run for reading in readings for run in reading.tests}.values())
    texts_seen = [observation.text for observation in step.observations if observation.origin == "tool"]
    wrong = doubt("\n".join(texts_seen)) if effects.tests and not tests and not failures else ""
    return ObservedResult(
        exit_code=codes[-1] if codes else None,
        failures=failures,
        tests=tests,
        is_empty=False not in [is_blank(observation.text) for observation in step.observations],
        reported_problem=wrong,
    )


def readings_of(step: Step, whole: Setting) -> list[Reading]:
    """What each observation shows. Where a step made several calls, one that seems to show something is read again by
    what its own call did: parsing shell text twice is worth it only then."""
    readings: list[Reading] = []
    for observation in step.observations:
        if observation.origin == "user":
            continue
        reading = read(observation, whole)
        if len(step.calls) > 1 and len(step.observations) > 1 and not reading.is_clean:
            alone = setting_of_call(step, observation)
            reading = reading if alone is None or alone == whole else read(observation, alone)
        readings.append(reading)
    return readings


def is_blank(text: str) -> bool:
    return not text or text.isspace()
