"""Checks that could not run: they say nothing about what they check."""

from __future__ import annotations

from dense.evidence.facts.paths import base_name
from dense.evidence.observations.result import ObservedFailure, ObservedResult, TestRun
from dense.knowledge.error_words import SHELL_PREFIXES, STOPPED, UNSTARTED
from dense.knowledge.errors import NO_SUCH_FILE, NO_SUCH_MODULE, OTHER

NOT_LOADED = "_FailedTest"
"""What unittest calls the test that takes the place of a module that it could not import."""


def is_stopped(line: str) -> bool:
    """Whether a line says that somebody stopped the run."""
    return any(word in line.casefold() for word in STOPPED)


def is_run_failure(failure: ObservedFailure, family: str) -> bool:
    """Whether a failure says that the check itself could not run."""
    if failure.family.voids_check:
        return True
    if failure.family is OTHER and is_stopped(failure.line):
        return True
    if failure.family is NO_SUCH_FILE and failure.line.startswith(SHELL_PREFIXES):
        return True
    if UNSTARTED.search(failure.line):
        return True
    if failure.family is not NO_SUCH_MODULE:
        return False
    return failure.subject.split(".")[0] == family or base_name(failure.subject) == family.rpartition(" ")[2]


def ran_no_tests(run: TestRun) -> bool:
    """Whether a runner could not run the tests: pytest counts that as errors, not as failures; unittest names a test of
    its own; make reports the exit code of its command."""
    if run.passed is None:
        return run.runner == "make" and run.line.endswith(("Error 126", "Error 127"))
    if run.runner == "unittest" and run.names and all(NOT_LOADED in name for name in run.names):
        return not run.passed
    return not run.passed and (not run.failed or (run.runner == "pytest" and "failed" not in run.line))


def could_not_run(result: ObservedResult, family: str) -> bool:
    """Whether all that is seen of a check is that it could not run, or had nothing to run."""
    if result.tests:
        return all(map(ran_no_tests, result.tests))
    return any(is_run_failure(failure, family) for failure in result.failures)
