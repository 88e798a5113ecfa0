"""Error lines by who prints them (shells, programs, compilers, loggers, exceptions), and what exit codes mean."""

from __future__ import annotations

import re

from msgspec import Struct

from dense.analysis.actions.observations.context import OutputContext
from dense.analysis.actions.observations.result import ObservedFailure
from dense.knowledge.error_words import (
    BENIGN_ENDINGS,
    BENIGN_WORDS,
    ERROR_WORDS,
    EXCEPTION_ENDINGS,
    MEASUREMENT,
    ROUND_COUNT,
    SEVERITIES,
)
from dense.knowledge.errors import ASSERTION, BUILD, ERRORS, EXCEPTION, EXIT, KILLED, OTHER, ErrorFamily, ErrorTable
from dense.knowledge.programs import programs_that
from dense.text.search import contains_any

MAX_LINE_CHARS = 300
"""Characters of a line that a failure keeps."""

SHELLS = programs_that("shell") | {"-bash", "-sh", "-zsh", "busybox"}
ZSH_IN_HARNESS = "(eval)"
COMPLAINERS = programs_that("complains")
"""Programs that begin a line with their own name only to report an error."""
WALKERS = programs_that("walks")
"""Programs that walk over trees: that they may not look everywhere is no failure."""
EXCEPTION_NAME = re.compile(r"(?:\w{1,80}[./\\]){0,12}\w{1,80}$")
COMPILER_ERROR = re.compile(r"\d[\d:,.() -]{0,40}+(?:fatal |syntax )?(?:[Ee]rror|ERROR)\b")
COMPILER_PLACE = re.compile(r"[^\s()]{1,200}\(\d+(?:,\d+)?\)$")
SIGNALLED = re.compile(
    r"line \d+: +\d+ (Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point)"
)
CURL_CODE = re.compile(r" \((\d{1,2})\) ")


class ErrorLine(Struct, frozen=True, gc=False):
    """A failure, where its line begins, and how far the line can be trusted."""

    place: int
    failure: ObservedFailure
    is_weak: bool = False
    """Whether an exit code of 0 overrules it."""


def failure_of_line(line: str, family: ErrorFamily) -> ObservedFailure:
    """The failure that a line of a known family reports."""
    line = line.strip()[:MAX_LINE_CHARS].rstrip()
    return ObservedFailure(family, line, family.subject_of(line))


def classify(line: str, errors: ErrorTable = ERRORS, fallback: ErrorFamily = OTHER) -> ObservedFailure:
    """The failure that a line reports; its words show the family, if any."""
    line = line.strip()[:MAX_LINE_CHARS]
    return failure_of_line(line, errors.by_words(line) or fallback)


def is_benign(line: str) -> bool:
    """Whether a line only warns, counts, or reports what was expected."""
    lower = line.lower()
    if contains_any(lower, BENIGN_WORDS):
        return not ROUND_COUNT.search(lower)
    return lower.rstrip(" .").endswith(BENIGN_ENDINGS)


def is_measurement(text: str) -> bool:
    """Whether a number or nothing follows `error:`, as in `Error: 0.003`, `error: None`."""
    return MEASUREMENT.match(text) is not None


def named_error(start: int, name: str, rest: str, context: OutputContext) -> ErrorLine | None:
    """What a line reports that begins with a name and a colon, if it is an error."""
    who = name.rpartition("/")[2].lower()
    who = who.partition("[")[0] if who.endswith("]") else who  # `make[2]`
    line = f"{name}:{rest}"
    if name.startswith("error["):
        return ErrorLine(start, failure_of_line(line, BUILD), is_weak=True)
    if who in SEVERITIES:
        return _of_severity(start, name, rest, context.errors)
    if who == ZSH_IN_HARNESS:
        return None if is_benign(rest) else ErrorLine(start, classify(line, context.errors))
    if rest[0] not in " \t" and not rest[0].isdigit():
        return None
    if who in SHELLS or who.endswith(".sh"):
        return _of_shell(start, line, rest, context.errors)
    if rest[0] == " " and name.endswith(EXCEPTION_ENDINGS) and EXCEPTION_NAME.match(name):
        if is_measurement(rest) or is_benign(name):
            return None
        # Weak, because a program that goes on may have printed it.
        return ErrorLine(start, classify(line, context.errors, EXCEPTION), is_weak=True)
    if COMPILER_ERROR.match(rest) or (rest.startswith(" error ") and COMPILER_PLACE.match(name)):
        failure = ObservedFailure(BUILD, line.strip()[:MAX_LINE_CHARS], name.partition("(")[0][:200])
        return ErrorLine(start, failure, is_weak=True)
    return _of_program(start, line, rest, who, context)


def _of_severity(start: int, name: str, rest: str, errors: ErrorTable) -> ErrorLine | None:
    """`error: text`, `FATAL: text`, `ERROR:root:text`; other words than these only with a capital."""
    if (rest[0] != " " and name != "ERROR") or not rest.strip() or is_measurement(rest) or is_benign(rest):
        return None
    line = f"{name}:{rest}"
    if name == "panic":
        return ErrorLine(start, failure_of_line(line, EXCEPTION))
    if name.upper() in ("FAIL", "FAILED"):
        return ErrorLine(start, failure_of_line(line, ASSERTION), is_weak=True)
    return ErrorLine(start, classify(line, errors), is_weak=name != "fatal")


def _of_shell(start: int, line: str, rest: str, errors: ErrorTable) -> ErrorLine | None:
    """`bash: line 3: x: command not found`, in any language."""
    if SIGNALLED.search(line):
        return ErrorLine(start, failure_of_line(line, KILLED))
    if is_benign(line) or "Terminated" in rest or rest[0] != " " or len(rest) > 400 or ": `" in rest:
        return None  # behind a back-quote bash repeats the line that it did not understand
    if ": " not in rest and not errors.by_words(line):
        return None
    return ErrorLine(start, classify(line, errors))


def _of_program(start: int, line: str, rest: str, who: str, context: OutputContext) -> ErrorLine | None:
    """`cat: x: No such file or directory`; in other languages too, if the program is known to have run."""
    is_known = who in COMPLAINERS and who in context.programs
    if not is_known and not contains_any(rest, ERROR_WORDS):
        return None
    if is_benign(line) or (who in WALKERS and "ermission denied" in rest) or (who == "make" and "***" not in rest):
        return None
    errors = context.errors
    code = CURL_CODE.match(rest) if who == "curl" else None
    family = (errors.by_curl_code(int(code[1])) if code else None) or errors.by_words(line)
    if is_known:
        return ErrorLine(start, failure_of_line(line, family or (BUILD if who == "make" else OTHER)))
    if rest[0] == " " and family and family.system_message and errors.system_message.search(rest):
        return ErrorLine(start, failure_of_line(line, family))
    if rest.startswith((" error: ", " fatal: ", " fatal error: ")):
        return ErrorLine(start, failure_of_line(line, family or OTHER), is_weak=True)
    return None


# Exit codes

NO_FAILURE = frozenset((0, 141, -13, -1))
"""Codes that show no failure: a closed pipe; and -1, by which harnesses say that a command is still running."""


def failure_of_code(code: int, errors: ErrorTable = ERRORS) -> ObservedFailure:
    """A failure of which nothing but the exit code is known."""
    return ObservedFailure(errors.by_exit_code(code) or EXIT, f"exit code {code}", str(code))
