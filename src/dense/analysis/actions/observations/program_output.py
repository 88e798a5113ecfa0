"""What came back from a shell, an interpreter or a tool: exit code, error lines and test summaries together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from dense.analysis.actions.observations.context import OutputContext
from dense.analysis.actions.observations.error_lines import (
    MAX_FAILURES,
    TRACEBACK_START,
    error_lines,
    own_errors,
    tracebacks,
)
from dense.analysis.actions.observations.error_sources import (
    MAX_LINE_CHARS,
    NO_FAILURE,
    ErrorLine,
    classify,
    failure_of_code,
    failure_of_line,
    is_benign,
)
from dense.analysis.actions.observations.harness import HarnessNotice, clean_output, first_line, new_part
from dense.analysis.actions.observations.result import ObservedFailure, TestRun
from dense.analysis.actions.observations.test_runs import find_test_runs
from dense.knowledge.error_words import NO_PROBLEM_LINE, PROBLEM_LINE
from dense.knowledge.errors import CONNECTION, EXCEPTION, HTTP, NO_SUCH_FILE, OTHER, TIME_OUT, TOOL, ErrorTable
from dense.knowledge.harnesses import FAILURE_MARK
from dense.text.guarded import GuardedPattern
from dense.trajectory import Observation

ANSWERED = re.compile(r"^(?:< )?HTTP/[\d.]{1,4} 2\d\d\b", re.MULTILINE)
"""A server answers as it should."""
PROVOKED = (OTHER, NO_SUCH_FILE)
"""What a program says of bad input."""


class _Reading(Struct, frozen=True):
    """An output while it is read."""

    text: str
    observation: Observation
    notice: HarnessNotice
    context: OutputContext

    @property
    def went_well(self) -> bool:
        """Whether an exit code or the harness says so, of everything that ran."""
        is_fine = self.notice.code == 0 or (self.notice.code is None and self.observation.is_error is False)
        return is_fine and self.context.code_covers_all

    @property
    def prints_code(self) -> bool:
        """Whether the command prints exit codes, and none was recorded."""
        return not self.notice.code and any("$?" in command for command in self.context.commands)

    @property
    def is_timed_out(self) -> bool:
        """Whether the harness says that time ran out: in contents only where they begin."""
        line = self.notice.time_out
        is_output = self.context.kind == "program_output"
        return bool(line) and (is_output or self.observation.text.lstrip().startswith(line))


NO_ERRORS: tuple[tuple[Callable[[_Reading], bool], Callable[[ErrorLine], bool]], ...] = (
    # What may be an error by its words alone is none if everything is said to have gone well.
    (lambda reading: reading.went_well, lambda line: line.is_weak),
    # An agent that prints the exit code gave bad input on purpose.
    (lambda reading: reading.prints_code, lambda line: line.failure.family in PROVOKED),
    # A server that also answers as it should was asked on purpose for what it refuses.
    (
        lambda reading: ANSWERED.search(reading.text) is not None,
        lambda line: line.failure.family is HTTP and line.failure.subject[:1] == "4",
    ),
)
"""In which outputs which error lines are none."""


def read_program_output(
    observation: Observation, notice: HarnessNotice, context: OutputContext
) -> tuple[tuple[ObservedFailure, ...], tuple[TestRun, ...]]:
    """The failures and the test runs in an output."""
    text = clean_output(observation.text.removesuffix(FAILURE_MARK))
    if "@" in text and ("# " in text or "$ " in text):
        text = new_part(text, context.commands)
    reading = _Reading(text, observation, notice, context)
    tests = find_test_runs(text, context.runners) if context.shows_logs or context.kind == "program_output" else ()
    lines = _error_lines(text, context)
    for applies, is_no_error in NO_ERRORS:
        if lines and applies(reading):
            lines = [line for line in lines if not is_no_error(line)]
    failures = [line.failure for line in _besides_tests(lines, tests)]
    if reading.is_timed_out:
        failures.insert(0, failure_of_line(notice.time_out, TIME_OUT))
    if not failures and not any(run.failed for run in tests):
        failures = _unexplained(observation, notice, context)
    return distinct(failures), tests


def _error_lines(text: str, context: OutputContext) -> list[ErrorLine]:
    """The lines that report an error. Of contents only the program's own errors do; and a shell text with `||` gets its
    answer by the failure."""
    if context.kind == "program_output":
        return error_lines(text, context)
    return [] if any("||" in command for command in context.commands) else own_errors(text, context)


def _besides_tests(lines: list[ErrorLine], tests: Sequence[TestRun]) -> list[ErrorLine]:
    """Without errors that are a test run's own."""
    if not tests:
        return lines
    flag = "is_counted_by_tests" if any(run.failed for run in tests) else "is_provoked_by_tests"
    return [line for line in lines if not getattr(line.failure.family, flag)]


def _unexplained(observation: Observation, notice: HarnessNotice, context: OutputContext) -> list[ObservedFailure]:
    """A failure that only the exit code or the harness shows."""
    if notice.refusal:
        return [failure_of_line(notice.refusal, TOOL)]
    if notice.code is not None:
        is_fine = notice.code in NO_FAILURE or (notice.code == 1 and context.is_answer)
        return [] if is_fine else [failure_of_code(notice.code, context.errors)]
    if not (observation.is_error or notice.is_error) or context.is_answer:
        return []
    return [classify(first_line(observation.text[: 2 * MAX_LINE_CHARS]) or "error", context.errors)]


def distinct(failures: list[ObservedFailure]) -> tuple[ObservedFailure, ...]:
    """A few, in order, each once: the first ones, and the last one, which often is what it comes down to."""
    if len(failures) < 2:
        return tuple(failures)
    unique = list(dict.fromkeys(failures))
    return tuple(unique[: MAX_FAILURES - 1] + unique[MAX_FAILURES - 1 :][-1:])


# Checks that print that something is wrong although they end with success


MAX_CHARS = 20_000
"""Characters of an output that are looked at, the last ones."""
MAX_CANDIDATES = 40
PROBLEM = GuardedPattern(PROBLEM_LINE)
NO_PROBLEM = GuardedPattern(NO_PROBLEM_LINE)
"""Lines that say the opposite, or both."""


def reported_problem(text: str) -> str:
    """The first line in which a check prints that something is wrong; empty if there is none."""
    text = text[-MAX_CHARS:]
    for match in islice(PROBLEM.finditer(text), MAX_CANDIDATES):
        line = match[0].strip()
        if not NO_PROBLEM.search(line) and not is_benign(line):
            return line[:300]
    return ""


# Answers of tools

MAX_ERROR_CHARS = 1_000
"""An answer that is an error as a whole is no longer than this."""
ENDING_CHARS = 2_000
"""A traceback at the end of a text begins its last line at most this far from the end."""
ERROR_OPENINGS = ("Error", "error", "ERROR", "Exception", "MCP error", "❌", "Traceback (most")
"""How an answer begins that is an error."""
POSSIBLE_OPENINGS = ("Failed", "Invalid", "Cannot ", "Unable to ", "Could not ")
"""How an answer begins that is an error if the rest of its line shows a family."""
NO_PAGE = "chrome-error://"
"""The address that a browser shows if it could not reach the one that it was given."""


def tool_failures(observation: Observation, notice: HarnessNotice, context: OutputContext) -> Iterator[ObservedFailure]:
    """What went wrong according to a tool, or to the harness."""
    text = observation.text.strip()
    errors = context.errors
    if notice.refusal:
        yield failure_of_line(notice.refusal.replace("<tool_use_error>", "").replace("</tool_use_error>", ""), TOOL)
    elif observation.is_error or notice.is_error:
        yield classify(first_line(text[: 2 * MAX_LINE_CHARS]) or "error", errors, TOOL)
    elif notice.code is not None and notice.code not in NO_FAILURE:
        yield _last_traceback(text, errors) or failure_of_code(notice.code, errors)
    elif NO_PAGE in text[:400]:
        yield failure_of_line(first_line(text[: 2 * MAX_LINE_CHARS]), CONNECTION)
    elif observation.origin == "tool" and (line := _error_line(text, errors)):
        yield classify(line, errors, TOOL)
    elif not context.is_called and (failure := _last_traceback(text, errors)):
        yield failure


def _last_traceback(text: str, errors: ErrorTable) -> ObservedFailure | None:
    """The traceback that a text ends with."""
    if TRACEBACK_START not in text:
        return None
    text = clean_output(text)
    last_lines = list(tracebacks(text).items())
    if not last_lines or len(text) - last_lines[-1][0] > ENDING_CHARS:
        return None
    return classify(last_lines[-1][1], errors, EXCEPTION)


def _error_line(text: str, errors: ErrorTable) -> str:
    """The line that makes an answer an error; empty if it is none."""
    if len(text) > MAX_ERROR_CHARS:
        return ""
    line = first_line(text)
    if text.startswith(ERROR_OPENINGS):
        return line if len(line) > 8 else " ".join(text.split())
    return line if text.startswith(POSSIBLE_OPENINGS) and errors.by_words(line) else ""
