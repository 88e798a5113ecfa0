"""Checks that could not run: they tell nothing about what they check."""

from __future__ import annotations

from dense.evidence.observations.result import ObservedFailure, ObservedResult, TestRun
from dense.knowledge.errors import NO_SUCH_FILE, NO_SUCH_MODULE, OTHER

SHELLS = ("bash:", "sh:", "/bin/bash:", "/bin/sh:", "zsh:", "dash:")
"""How the line begins in which a shell says that there is no such program."""

STOPPED = ("aborted", "interrupted", "cancelled", "canceled")
"""What a line says where somebody stopped the run."""
TAIL = 2_000
"""Characters at the end of an output in which pytest lists what went wrong."""


def is_stopped(line: str) -> bool:
    """Whether a line says that somebody stopped the run."""
    low = line.casefold()
    return any(word in low for word in STOPPED)


def is_no_run(failure: ObservedFailure, family: str) -> bool:
    """Whether a failure says that the check itself could not run: then it tells nothing about what it checks."""
    if failure.family.voids_check:
        return True
    if failure.family is OTHER and is_stopped(failure.line):
        return True
    if failure.family is NO_SUCH_FILE and failure.line.startswith(SHELLS):
        return True
    return failure.family is NO_SUCH_MODULE and failure.subject.split(".")[0] == family


def is_no_test_run(run: TestRun) -> bool:
    """Whether a runner says that it could not run the tests, which tells nothing about them: pytest calls that errors,
    and what a test itself does wrong failures; make says by which code its command ended. Some runners do not count."""
    if run.passed is None:
        return run.runner == "make" and run.line.endswith(("Error 126", "Error 127"))
    return not run.passed and (not run.failed or (run.runner == "pytest" and "failed" not in run.line))


def could_not_run(came: ObservedResult, family: str) -> bool:
    """Whether all that is seen of a check is that it could not run, or had nothing to run."""
    if came.tests:
        return not [run for run in came.tests if not is_no_test_run(run)]
    return bool([failure for failure in came.failures if is_no_run(failure, family)])


def cannot_start(came_back: str) -> bool:
    """Whether pytest, which counts nothing where it is told to be quiet, lists errors at the end and no failure: then
    its tests could not start."""
    tail = came_back[-TAIL:]
    return "\nERROR " in tail and "\nFAILED " not in tail
