"""What came back, in a few words: tests that ran, what failed, an output that is short."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dense.evidence.observations.result import ObservedFailure, TestRun
from dense.narrate.quoting import HEAD, lines_told, listed
from dense.text.quoting import last_line, ticked


def tests_told(runs: Sequence[TestRun]) -> str:
    """The last run that failed, else the last one."""
    run = ([one for one in runs if one.failed] or runs)[-1]
    if run.passed is None and not run.failed:
        return ticked(run.line, 80)
    if run.runner == "make":
        return ticked(run.line, 120)
    if not run.failed:
        passed = run.passed or 0
        if passed and "skipped" in run.line and (skipped := SKIPPED.search(run.line)):
            return f"{passed} test{'s pass' if passed > 1 else ' passes'}, {skipped[1]} skipped"
        return "no tests ran" if not passed else "the one test passes" if passed == 1 else f"{whole(passed)} tests pass"
    names = f": {listed([ticked(test_name(name), 50) for name in run.names])}" if run.names else ""
    count = f"{run.failed} of {run.passed + run.failed}" if run.passed is not None else f"{run.failed}"
    if run.passed == 0:
        count = whole(run.failed) if run.failed > 1 else "the only"
    return f"{count} {'test fails' if count in ('1', 'the only') else 'tests fail'}{names}"


SKIPPED = re.compile(r"\b([1-9]\d*) skipped\b")


def whole(count: int) -> str:
    """So many are all that there are."""
    return "both" if count == 2 else f"all {count}"


def no_run_told(run: TestRun, failures: Sequence[ObservedFailure], came_back: str) -> str:
    """A runner that could not run its tests, and the first line that says why."""
    why = next((failure.line for failure in failures if not failure.family.is_vague), "") or first_marked(came_back)
    count = "1 error" if run.failed == 1 else f"{run.failed} errors"
    return f"no test could start ({count}){f': {ticked(why, 110)}' if why.strip() else ''}"


def first_marked(came_back: str) -> str:
    """The first line that pytest marks as an error; empty for none."""
    marked = (line[1:] for line in lines_of(came_back) if line.startswith("E  ") and len(line) > MARKED)
    return next((line.strip() for line in marked if not line.endswith("%]")), "")  # not how far it has come


MARKED = 8
"""A line that pytest marks as an error is longer than this, if it says anything."""


def absent_told(failure: ObservedFailure) -> str:
    """A program or a package that is not there, by its name."""
    return f"{ticked(failure.subject, 60)} is {lack(failure)}"


def lack(failure: ObservedFailure) -> str:
    """A file of the project's own is not there; anything else is not installed."""
    is_own = "/" in failure.subject or failure.subject.endswith((".sh", ".py"))
    return "not there" if is_own else "not installed"


def test_name(name: str) -> str:
    """Without its file, and without the class that some runners put behind it in brackets."""
    return (name.rpartition("::")[2] or name).partition(" (")[0]


FEW_LINES = 4
"""So many lines are told each by itself."""
MANY_LINES = re.compile(rf"(?:\s*+\S[^\n]*+){{{FEW_LINES + 1}}}")
"""More of them, blank ones not counted."""


def main_failure(failures: Sequence[ObservedFailure]) -> ObservedFailure:
    """The failure that tells most: the first of a known family."""
    for failure in failures:
        if not failure.family.is_vague:
            return failure
    return failures[0]


def exit_told(code: int | None, came_back: str) -> str:
    """A failure that is only an exit code, by that and the last line of the output."""
    last = last_line(came_back)
    told = f"exit code {code}" if code else "it failed"
    return f"{told}: {ticked(last, 110)}" if last else told


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text one by one: mostly the first few are enough."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def shown(text: str, limit: int, *, has_run: bool) -> str:
    """An output by itself where it is short, else by its size; of a run the last line, where that says something."""
    if MANY_LINES.match(text, 0, 4 * HEAD) is None:
        lines = [line for line in text[: 4 * HEAD].split("\n") if line.strip()]
        if not lines:
            return "nothing"
        if len(lines) == 1:
            # Of structured text the first few keys tell nothing.
            is_cut = len(lines[0]) > limit - 20 and lines[0].lstrip().startswith(("{", "["))
            return "1 line" if is_cut else ticked(lines[0], limit - 20)
        if len(text) <= 4 * HEAD and sum(map(len, lines)) <= limit - 40:
            return ", ".join([ticked(line, 80) for line in lines])
    last = _telling_end(text) if has_run else ""
    return f"at the end {ticked(last, SHORT_LINE)}" if last else lines_told(text.count("\n") + 1)


IDLE = re.compile(
    r"Waiting for the debugger|Debugger attached|npm notice|Done in |\(Open file:|bash-"
    r"|(?:real|user|sys)\s+(?:\d+m)?[\d.,]+s?$|\(\d+ more lines (?:above|below)\)"
)
"""Lines that come last and tell nothing: how long it took, what an editor does not show."""
IDLE_STARTS = frozenset("WDn(brus")
DIFF_STARTS = ("diff ", "--- ")
MOST_IDLE = 4
NUMBERED = re.compile(r"\s*(\d{1,6})(?=\D)")
SHORT_LINE = 60
SHORTEST_PROSE = 24


def _telling_end(text: str) -> str:
    """The last line of an output that says something by itself; empty where it does not. The end of a listing with
    numbered lines or of a diff is a line like any other there."""
    end = text[-HEAD:].rstrip()
    line = end[end.rfind("\n") + 1 :]
    if line[:1] in IDLE_STARTS:
        for _ in range(MOST_IDLE):
            if IDLE.match(line) is None:
                break
            end = end[: len(end) - len(line)].rstrip()
            line = end[end.rfind("\n") + 1 :]
        if IDLE.match(line):
            return ""
    last = line.strip()
    if not is_telling_line(last) or text.startswith(DIFF_STARTS):
        return ""
    return "" if last[0].isdigit() and _is_listing(end) else last


def _is_listing(text: str) -> bool:
    """Whether the last two lines are numbered one after the other."""
    before, _, last = text.rstrip().rpartition("\n")
    number, previous = NUMBERED.match(last), NUMBERED.match(before[before.rfind("\n") + 1 :])
    return number is not None and previous is not None and int(number[1]) == int(previous[1]) + 1


VALUE = re.compile(r"\S*[\w%]|[\[({].*[\])}]")
"""What a line without letters is where it is one value."""


def is_telling_line(line: str) -> bool:
    """Whether the last line of a longer output says something by itself: it is short, and a value or mostly words."""
    if len(line) > SHORT_LINE:
        return False
    count = letters(line)
    if not count:
        return VALUE.fullmatch(line) is not None and any(map(str.isalnum, line))
    return len(line) <= SHORTEST_PROSE or 2 * count >= len(line) - line.count(" ")


def letters(line: str) -> int:
    """How many letters a line has."""
    return len(line.encode().translate(None, NO_LETTERS)) if line.isascii() else sum(map(str.isalpha, line))


NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
