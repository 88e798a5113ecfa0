"""What test runners say at the end of a run: which runner, how many passed and failed, and which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.observations.counts import COUNTERS, Count, Summary, generic
from dense.evidence.observations.pieces import pieces, roughly
from dense.evidence.observations.result import TestRun
from dense.text.search import fast_search

MOST = 40
"""Lines that speak of what passed that are looked at in one text."""
MOST_CANDIDATES = 400
"""Lines that may sum up a run that are looked at in one text."""
MOST_NAMES = 5
LONGEST = 400

KINDS = r"(?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)"
SUMMARY = re.compile(
    r"\n(?:(?=[=RntoFTO\d#ℹAP*\[?N])(?:"
    r"==* (?:\d|no tests|tests finished)|Ran \d|no tests |test result: |test cases: |ok  \t|\?   \t|No tests? "
    r"|ok \| |FAIL\t|FAILED \| "
    r"|Tests|OK \("
    r"|\d\d*%? (?:tests|passed|failed|error|skipped|deselected|xfailed|xpassed|warning|rerun|examples|runs|scenarios)"
    r"|[#ℹ] pass |Result: (?:PASS|FAIL)|All tests passed|Passed!  ?- |Failed!  ?- |\*\*\*Test |\[\w{1,9}\] Tests"
    r"|\[  (?:PASSED|FAILED)  \] \d)|[ \t][ \t]*+(?:Tests  \d|\d\d* pass|Executed \d))[^\n]*"
)
"""How lines begin that may sum up a run, behind a look at the first letter, since few lines have one of these. Without
groups: they would keep Python from skipping alternatives by their first letter."""
ROUGHLY = roughly(SUMMARY.pattern.removeprefix(r"\n"))
"""The same for `pieces`, without the line feed."""
RUNNERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (runner, re.compile(pattern))
    for runner, pattern in (
        ("pytest", rf"(?:=+ )?(?:\d+ {KINDS}\b.{{0,200}}|no tests (?:ran|collected).{{0,100}}) in [\d.:]+ ?s"),
        ("tests", r"=+ tests finished: \d+ passed"),
        ("unittest", r"Ran \d+ tests? in "),
        ("cargo", r"test result: "),
        ("go", r"(?:ok  |FAIL|\?   )\t"),
        ("phpunit", r"Tests: \d+, Assertions: |OK \(\d+ tests?"),
        ("scalatest", r"(?:\[info\] )?Tests: succeeded \d"),
        ("jest", r"Tests:[ \t]+.*total"),
        ("junit", r"(?:\[\w{1,9}\] )?Tests run: *\d"),
        ("vitest", r"[ \t]*Tests  \d"),
        ("mocha", r"[ \t]+\d+ passing\b"),
        ("playwright", r"  \d+ passed(?: \([\d.]+m?s\))?$"),
        ("bun", r" \d+ pass$"),
        ("ctest", r"\d+% tests passed, "),
        ("tap", r"[#ℹ] pass +\d"),
        ("gradle", r"\d+ tests completed"),
        ("examples", r"\d+ (?:examples|runs|tests|scenarios), "),
        ("dotnet", r"(?:Passed|Failed)!  ?- Failed: "),
        ("deno", r"(?:ok|FAILED) \| \d+ passed"),
        ("xctest", r"[ \t]*Executed \d+ tests?, with "),
        ("gtest", r"\[  (?:PASSED|FAILED)  \] \d+ tests?"),
        ("catch2", r"test cases: +\d|All tests passed \("),
        ("prove", r"Result: (?:PASS|FAIL)"),
        ("none", r"No tests? (?:files? )?(?:(?:were )?found|executed|to run|is available in)(?:, exiting|[.!]*$)"),
        ("doctest", r"\*\*\*Test Failed\*\*\* \d+"),
    )
)
FAILED_NAMES = re.compile(
    r"\n(?=[FE \t✕✗×✖n\[]|--- |test |rspec )(?:"  # few lines begin like this
    r"(?:FAILED|ERROR) (?!\()(\S{1,200}(?:\[[^\n\]]{0,80}\])?)(?: - [^\n]*)?(?=\n|$)"
    r"|(?:FAIL|ERROR): (\w[^\n]{0,160})"
    r"|[ \t]*--- FAIL: (\S{1,160})"
    r"|test (\S{1,160}) \.\.\. FAILED"
    r"|[ \t]*[✕✗×✖] ([^\n]{1,160})"
    r"|not ok \d+ -? ?([^\n]{1,160})"
    r"|[ \t]+\d+ - (\S{1,160}) \((?:Failed|SEGFAULT|Timeout|\*\*\*)"
    r"|rspec (\S{1,160}) #"
    r"|\[  FAILED  \] ([A-Za-z_][\w./]{0,160})"
    r"|\[ERROR\] {1,4}(\w[\w.]{0,120}:\d+)"
    r"|  {1,6}\d+\) ([^\n]{1,160})"
    r"|  Failed (\S{1,160}) \[)"
)
NAMES_ROUGHLY = (
    r"\n(?:FAILED |ERROR |FAIL: |ERROR: |[ \t]*--- FAIL: |test [^ \n]+ \.\.\. FAILED|[ \t]*[?×]|not ok |[ \t]+[\d?]+ - "
    r"|rspec |\[  FAILED  \] |\[ERROR\] |  +[\d?]+\) |  Failed )"
)
"""How they begin, for `pieces`."""
TEST_ID = re.compile(r"\w+ \([\w.]+\)(?= [(\[])")
"""A test by unittest, behind which stands which of its subtests it is."""
MADE = re.compile(r"\nmake(?:\[\d+\])?: \*\*\* \[(?:[^\]\n:]{1,200}:\d+: )?([^\]\n]{1,200})\] Error \d+[^\n]*")
TESTING = re.compile(r"test|check|verify|spec\b|lint", re.IGNORECASE)


def runs(text: str, spans: Sequence[tuple[int, int]]) -> tuple[TestRun, ...]:
    """Every test run that a text, which begins with a line feed, reports; the same line only once, since screens and
    harnesses show things twice. `spans`: where lines stand that may sum up."""
    told = (summaries(text, spans) if spans else None) or generic_summaries(text)
    if not told:
        return made(text, spans)
    names = failed_names(text) if sum([count.failed for count in told.values()]) else ()
    return tuple(
        [
            TestRun(count.runner, count.passed, count.failed, line[:300], names if count.failed else ())
            for line, count in told.items()
        ]
    )


def summaries(text: str, spans: Sequence[tuple[int, int]]) -> dict[str, Count]:
    """The lines by which a runner is known."""
    told: dict[str, Count] = {}
    lines = [found for start, end in spans for found in SUMMARY.finditer(text, start, end)]
    for found in lines[:MOST_CANDIDATES]:
        line = found[0][1:LONGEST]
        for runner, pattern in RUNNERS:
            if pattern.match(line):
                count = COUNTERS[runner](Summary(runner, line.strip(), text, found.start() + 1))
                if count is not None:
                    told[line.strip()] = count
                break
    return told


def generic_summaries(text: str) -> dict[str, Count]:
    """The lines that count what passed in a way by which no runner is known."""
    told: dict[str, Count] = {}
    for word in ("assed", "PASSED"):
        place = text.find(word)
        for _ in range(MOST):
            if place < 0:
                break
            begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
            end = len(text) if end < 0 else end
            line = text[begin:end].strip() if end - begin <= LONGEST else ""
            count = generic(line)
            if count is not None:
                told[line] = count
            place = text.find(word, end)
    return told


def made(text: str, spans: Sequence[tuple[int, int]]) -> tuple[TestRun, ...]:
    """`make: *** [test] Error 1`, where no runner said more. That is a complaint, too: it stands in the same spans."""
    for start, end in spans:
        for found in MADE.finditer(text, start, end):
            if TESTING.search(found[1]):
                return (TestRun("make", None, 1, found[0].strip()[:300], (found[1],)),)
    return ()


def failed_names(text: str) -> tuple[str, ...]:
    """The tests that failed, by name, each once."""
    names: dict[str, None] = {}
    spans = pieces(text, fast_search(NAMES_ROUGHLY))
    for found in [found for start, end in spans for found in FAILED_NAMES.finditer(text, start, end)]:
        name = next((group for group in found.groups() if group), "").strip()
        if name and (test := TEST_ID.match(name)):
            name = test[0]
        if name:
            names.setdefault(name[:160])
        if len(names) == MOST_NAMES:
            break
    return tuple(names)
