"""Test runs that an output reports: which runner, how many tests passed and failed, and which.

How each runner reports is in `dense.knowledge.test_runners`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from dense.analysis.actions.observations.result import TestRun
from dense.knowledge.test_outputs import (
    ALL_PASSED,
    BOTH_COUNTS,
    MAKE_ERROR,
    PASSED_WORDS,
    SHARE,
    SIGNS_OF_RUN,
    SUBTEST,
    TEST_TARGET,
)
from dense.knowledge.test_runners import SUMMARY_SIGNS, SUMMARY_STARTS, RunnerTable, TestRunner
from dense.text.search import contains_any, lines_with

MAX_SUMMARIES = 400
MAX_GENERIC_LINES = 40
MAX_NAMES = 5
MAX_CANDIDATES = 400
"""Lines with names of failed tests that are looked at."""
MAX_NAME_CHARS = 160
MAX_LINE_CHARS = 300
MAX_GENERIC_CHARS = 400
"""A line that is longer counts nothing."""

BROKEN_LETTERS = "FE"
"""Letters of tests that failed or broke off, in lines of progress."""
GENERIC = "tests"
"""The runner of a run by a runner that is not known."""


def find_test_runs(text: str, runners: RunnerTable) -> tuple[TestRun, ...]:
    """Every test run that a text, which begins with a line feed, reports, each once: screens show things twice."""
    runs = _known_runs(text, runners)
    if not any(run.passed != 0 or run.failed for run in runs):
        runs = list(_runs_without_summary(text, runners)) or runs or list(_generic_runs(text))
    if not runs:
        return tuple(islice(_make_runs(text), 1))
    failed = {run.runner for run in runs if run.failed}
    reporting = [runner for runner in runners.runners if runner.name in failed or GENERIC in failed] if failed else []
    names = _failed_names(text, reporting)
    return tuple(
        TestRun(run.runner, run.passed, run.failed, run.line, names if run.failed else ())
        for run in dict.fromkeys(runs)
    )


@cache
def _any_summary(runners: RunnerTable) -> re.Pattern[str]:
    """A pattern for the summaries of all runners."""
    summaries = "|".join(runner.summary for runner in runners.runners if runner.summary)
    return re.compile(rf"\n(?={SUMMARY_STARTS})(?:{summaries})[^\n]*")


def _known_runs(text: str, runners: RunnerTable) -> list[TestRun]:
    """Runs by runners that are known by their summaries. That there was nothing to run counts once, and only if the
    same runner ran nothing else."""
    if not contains_any(text, SUMMARY_SIGNS):
        return []
    runs: list[TestRun] = []
    end = 0
    for match in islice(_any_summary(runners).finditer(text), MAX_SUMMARIES):
        summary = match[0][1:]
        runner = next(
            candidate for candidate in runners.runners if candidate.summary and re.match(candidate.summary, summary)
        )
        run = _counted(runner, summary, text[end : match.start()])
        if run is not None:
            runs.append(run)
        end = match.end()
    ran = [run for run in runs if run.passed != 0 or run.failed]
    idle = [run for run in runs if run.runner not in {candidate.runner for candidate in ran}]
    return [*ran, *idle[:1]]


def _counted(runner: TestRunner, summary: str, above: str) -> TestRun | None:
    """What a summary counts; `above` is the text between it and the summary before. None if too much was cut."""
    line = _telling_line(runner, summary)
    if _found(runner.nothing, summary):
        return TestRun(runner.name, 0, 0, line)
    marks = _found(runner.failed, summary)
    names = [_test_name(name) for name in _found(rf"\n{runner.failed_name}", above)] if runner.failed_name else []
    distinct = len(set(names))
    failed = _sum(marks)
    if runner.verdict and not _found(runner.verdict, summary):
        failed = distinct
        if not failed:
            return None
    elif marks and not failed and not marks[0].isdigit():
        failed = max(distinct, 1)
    elif failed and runner.names_subtests:
        failed = max(failed - len(names) + distinct, 1)
    passed = _sum(_found(runner.passed, summary)) if runner.passed else None
    if runner.total:
        total = _sum(_found(runner.total, summary)) - _sum(_found(runner.skipped, summary))
        if failed > max(total, 1):  # subtests, not all of which are shown
            return TestRun(runner.name, None, max(distinct, 1), line)
        passed = max(total - failed, 0)
    return TestRun(runner.name, passed, failed, line)


@cache
def _traces_of_run(runner: TestRunner) -> re.Pattern[str]:
    """A pattern for what a runner prints before its summary: one group for each kind of line."""
    lines = [f"({line})" for line in runner.failure_lines]
    return re.compile(rf"\n(?:{'|'.join(lines)}{f'|{runner.progress}' if runner.progress else ''})")


def _runs_without_summary(text: str, runners: RunnerTable) -> Iterator[TestRun]:
    """Runs whose summary a pipe or a quiet mode took away: what they printed before it shows failures, or that
    everything ran."""
    if not contains_any(text, SIGNS_OF_RUN):
        return
    for runner in runners.runners:
        if runner.failure_lines and (run := _run_without_summary(runner, text)):
            yield run


def _run_without_summary(runner: TestRunner, text: str) -> TestRun | None:
    kinds = len(runner.failure_lines)
    failures: dict[int, str] = {}
    """The first line of each kind that shows a failure."""
    names: set[str] = set()
    letters, percent, last = "", 0, ""
    for match in islice(_traces_of_run(runner).finditer(text), MAX_CANDIDATES):
        kind = match.lastindex or 0
        if kind > kinds:
            letters += "." if match[kinds + 1] == "PASSED" else match[kinds + 1]
            percent, last = int(match[kinds + 2]), match[0]
        elif kind:
            failures.setdefault(kind, match[0].rpartition("\n")[2].strip())
            names.update(_test_name(name) for name in _found(rf"^\n{runner.failed_name}", match[0]))
    broken = sum(letters.count(letter) for letter in BROKEN_LETTERS)
    if failures or broken:
        line = failures[min(failures)] if failures else last.strip()
        is_error = "F" not in letters and not any("FAIL" in value for value in failures.values())
        passed = (letters.count(".") if percent == 100 else 0) or (0 if is_error else None)
        return TestRun(runner.name, passed, max(len(names), broken, 1), line[:MAX_LINE_CHARS])
    if percent == 100:
        return TestRun(runner.name, letters.count("."), 0, " ".join(last.split())[:MAX_LINE_CHARS])
    return None


def _found(pattern: str, text: str) -> list[str]:
    """What the group of a pattern matches in a text; nothing without a pattern."""
    return re.findall(pattern, text) if pattern else []


def _sum(numbers: Iterable[str]) -> int:
    """Counts added up; digits without end are cut, words are none."""
    return sum(int(number[:12]) for number in numbers if number.isdigit())


def _telling_line(runner: TestRunner, summary: str) -> str:
    """The line of a summary that counts failures, else its first one."""
    lines = [line.strip() for line in summary.split("\n")]
    telling = (line for line in lines if _sum(_found(runner.failed, line)))
    return next(telling, lines[0])[:MAX_LINE_CHARS]


def _generic_runs(text: str) -> Iterator[TestRun]:
    """Runs that are counted in a way by which no runner is known: `3 passed, 1 failed`, `3/4 tests passed`, `All 4
    tests passed`."""
    for line in map(str.strip, lines_with(text, PASSED_WORDS)[:MAX_GENERIC_LINES]):
        counts = _generic_counts(line) if len(line) <= MAX_GENERIC_CHARS else None
        if counts is not None:
            yield TestRun(GENERIC, *counts, line[:MAX_LINE_CHARS])


def _generic_counts(line: str) -> tuple[int | None, int] | None:
    """How many tests passed, if that is known, and how many failed."""
    if match := BOTH_COUNTS.search(line):
        first, second = _sum([match[1]]), _sum([match[3]])
        return (first, second) if match[2].lower() == "passed" else (second, first)
    if match := SHARE.search(line):
        some, rest = _sum([match[1]]), max(_sum([match[2]]) - _sum([match[1]]), 0)
        return (some, rest) if match[3].lower() == "passed" else (rest, some)
    match = ALL_PASSED.search(line)
    return (_sum([match[1]]) if match[1] else None, 0) if match else None


def _make_runs(text: str) -> Iterator[TestRun]:
    """`make: *** [test] Error 1`, if no runner said more."""
    for match in MAKE_ERROR.finditer(text):
        if TEST_TARGET.search(match[1]):
            yield TestRun("make", None, 1, match[0].strip()[:MAX_LINE_CHARS], (match[1],))


def _failed_names(text: str, runners: Sequence[TestRunner]) -> tuple[str, ...]:
    """The names of tests that failed, each once, a few."""
    patterns = [runner.failed_name for runner in runners if runner.failed_name]
    failed_names = re.finditer(rf"\n(?:{'|'.join(patterns)})", text) if patterns else ()
    names = (_test_name(next(filter(None, match.groups()), "")) for match in failed_names)
    return tuple(islice(dict.fromkeys(filter(None, islice(names, MAX_CANDIDATES))), MAX_NAMES))


def _test_name(name: str) -> str:
    """The name of a test without what says which subtest it is."""
    match = SUBTEST.match(name.strip())
    return (match[1] if match else name.strip())[:MAX_NAME_CHARS]
