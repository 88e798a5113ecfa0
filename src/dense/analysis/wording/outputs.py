"""What came back, in a few words: tests that ran, what failed, a short output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Literal

from msgspec import Struct

from dense.analysis.actions.observations.result import ObservedFailure, TestRun
from dense.analysis.wording.phrases import lines_text, listed
from dense.knowledge.errors import NO_SUCH_COMMAND
from dense.knowledge.programs import is_program
from dense.knowledge.test_outputs import IDLE_LINE, PYTEST_ERROR, SKIPPED
from dense.text.quoting import code_span, last_line

MAX_LINE_CHARS = 130
MAX_CAUSE_CHARS = 110
MAX_HEADED_CHARS, MAX_CAUSED_CHARS = 600, 170
"""How much behind a headline is searched for its cause, and how much of both is shown."""
HEADING = re.compile(r"[A-Z]+:")
MAX_SHOWN_CHARS = 8000
"""How much of an output is read in order to show it."""
MAX_SHOWN_LINES = 4
MAX_LAST_LINE_CHARS = 60
SHORT_LAST_LINE_CHARS = 24
"""A last line up to this length is shown whatever it consists of."""
MAX_IDLE_LINES = 4
NUMBERED = re.compile(r"\s*(\d{1,6})(?=\D)")
VALUE = re.compile(r"(?=.*\w)(?:\S*[\w%]|[\[({].*[\])}])")
"""A line without letters that is one value."""


class OutputText(Struct, frozen=True):
    """A description of what came back, for use behind a colon."""

    text: str
    kind: Literal["nothing", "size", "quote", "report"] = "report"
    """Whether it says only that nothing came back, only how much, is the output itself, or a report about it."""

    @property
    def is_bare(self) -> bool:
        """Whether it says nothing about the contents."""
        return self.kind in ("nothing", "size")


NOTHING = OutputText("nothing", "nothing")


def describe_tests(runs: Sequence[TestRun]) -> OutputText:
    """The last test run that failed, else the last one."""
    run = ([one for one in runs if one.failed] or runs)[-1]
    if run.runner == "make" or (run.passed is None and not run.failed):
        return OutputText(code_span(run.line, MAX_CAUSE_CHARS), "quote")
    if not run.failed:
        passed = run.passed or 0
        if passed and (skipped := SKIPPED.search(run.line)):
            return OutputText(f"{passed} test{'s pass' if passed > 1 else ' passes'}, {skipped[1]} skipped")
        texts = {0: "no tests ran", 1: "the one test passes"}
        return OutputText(texts.get(passed) or f"{_all_of(passed)} tests pass")
    names = f": {listed([code_span(test_name(name), 50) for name in run.names])}" if run.names else ""
    if run.passed == 0:
        return OutputText(
            f"{_all_of(run.failed)} tests fail{names}" if run.failed > 1 else f"the only test fails{names}"
        )
    count = f"{run.failed} of {run.passed + run.failed}" if run.passed is not None else f"{run.failed}"
    return OutputText(f"{count} {'test fails' if count == '1' else 'tests fail'}{names}")


def _all_of(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def describe_unstarted_run(run: TestRun, failures: Sequence[ObservedFailure], output: str) -> str:
    """A test run in which no test could start, with the first line that says why."""
    lines = [failure.line for failure in failures if not failure.family.is_vague]
    lines += [found[0][1:].strip() for found in PYTEST_ERROR.finditer(output)][:1]
    cause = next(filter(None, lines), "")
    count = "1 error" if run.failed == 1 else f"{run.failed} errors"
    return f"no test could start ({count}){f': {code_span(cause, MAX_CAUSE_CHARS)}' if cause.strip() else ''}"


def describe_missing(failure: ObservedFailure) -> str:
    """A program or a package that is missing, by its name."""
    return f"{code_span(failure.subject, 60)} is {missing_text(failure)}"


def missing_text(failure: ObservedFailure) -> str:
    """A file of the project's own is not there; apt may not know a package; a word may be no program at all."""
    if "/" in failure.subject or failure.subject.endswith((".sh", ".py")):
        return "not there"
    if "nable to locate package" in failure.line:
        return "in no package list of apt"
    is_word = failure.family is NO_SUCH_COMMAND and not is_program(failure.subject)
    return "no command here" if is_word else "not installed"


def test_name(name: str) -> str:
    """A test's name without its file, and without the class that some runners add in brackets."""
    return (name.rpartition("::")[2] or name).partition(" (")[0]


def main_failure(failures: Sequence[ObservedFailure]) -> ObservedFailure:
    """The failure that says most: the first that is not vague."""
    return next((failure for failure in failures if not failure.family.is_vague), failures[0])


def quote_failure(failure: ObservedFailure, output: str) -> str:
    """The line that shows a failure; if it is a headline, as its colon or a heading behind it shows, with its cause."""
    start = output.find(failure.line) + len(failure.line)
    rest = output[start : start + MAX_HEADED_CHARS].split("\n")[1:] if failure.line in output else []
    below = [line.strip().removesuffix("</tool_use_error>") for line in rest if any(map(str.isalnum, line))]
    is_headed = bool(below) and HEADING.fullmatch(below[0]) is not None
    cause = below[is_headed:][:1] if is_headed or failure.line.endswith(":") else []
    return code_span(" ".join([failure.line, *cause]), MAX_CAUSED_CHARS if cause else MAX_LINE_CHARS)


def describe_exit(code: int | None, output: str) -> str:
    """A failure that is only an exit code, with the last line of the output."""
    text, last = f"exit code {code}" if code else "it failed", last_line(output)
    return f"{text}: {code_span(last, MAX_CAUSE_CHARS)}" if last else text


def quote_output(text: str, limit: int, *, has_run: bool) -> OutputText:
    """A short output itself, a longer one by its size; of a program that ran the last line, if that says something."""
    lines = list(islice(filter(str.strip, text[:MAX_SHOWN_CHARS].split("\n")), MAX_SHOWN_LINES + 1))
    if not lines:
        return NOTHING
    if len(lines) == 1:
        # The first keys of a structured text say nothing.
        is_cut = len(lines[0]) > limit - 20 and lines[0].lstrip().startswith(("{", "["))
        return OutputText("1 line", "size") if is_cut else OutputText(code_span(lines[0], limit - 20), "quote")
    is_short = len(lines) <= MAX_SHOWN_LINES and len(text) <= MAX_SHOWN_CHARS
    if is_short and sum(map(len, lines)) <= limit - 40:
        return OutputText(", ".join([code_span(line, 80) for line in lines]), "quote")
    if has_run and (last := _telling_last_line(text)):
        return OutputText(f"at the end {code_span(last, MAX_LAST_LINE_CHARS)}")
    return OutputText(lines_text(text.count("\n") + 1), "size")


def _telling_last_line(text: str) -> str:
    """The last line of an output, if it says something by itself: not the end of a diff or of a numbered listing."""
    if text.startswith(("diff ", "--- ")):
        return ""
    lines = list(filter(str.strip, text[-2000:].split("\n")))
    for _ in range(MAX_IDLE_LINES):
        if lines and IDLE_LINE.match(lines[-1]):
            lines.pop()
    last = lines[-1].strip() if lines else ""
    if IDLE_LINE.match(last) or not _is_telling(last) or (last[0].isdigit() and _is_numbered(lines)):
        return ""
    return last


def _is_numbered(lines: Sequence[str]) -> bool:
    """Whether the last two lines are numbered one after the other."""
    numbers = [int(found[1]) for line in lines[-2:] if (found := NUMBERED.match(line))]
    return len(numbers) == 2 and numbers[1] == numbers[0] + 1


def _is_telling(line: str) -> bool:
    """Whether a line says something by itself: it is short, and a value or mostly letters."""
    if not line or len(line) > MAX_LAST_LINE_CHARS:
        return False
    letters = sum(map(str.isalpha, line))
    if not letters:
        return VALUE.fullmatch(line) is not None
    return len(line) <= SHORT_LAST_LINE_CHARS or 2 * letters >= len(line) - line.count(" ")
