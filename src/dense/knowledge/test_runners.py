"""Test runners: one row each, with all that the package knows of it.

To add one, write a row here and put it into `TEST_RUNNERS`. Summaries are tried in the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from dense.knowledge.program import by_key

MODULE = "python -m "
"""How a call of a module of Python begins."""
ABOUT_TESTS = r"(?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)"
"""What pytest counts."""


SUMMARY_SIGNS = (
    *("pass", "PASS", "fail", "FAIL", "ok", "OK", "test", "Test", "error", "skipped", "deselected", "warning", "rerun"),
    *("spec", "example", "runs, ", "assertions", "?   \t"),
)
"""One of these is in every summary of every runner: an output without any is not searched for summaries."""
SUMMARY_STARTS = r"[A-Z\d=*?\[# \tℹ]|no tests |ok|test "
"""Every summary of every runner begins with one of these: a line that does not is not compared with them."""


class TestRunner(Struct, frozen=True, eq=False, kw_only=True):
    """A program that runs tests: how it is called, and how it reports.

    `total`, `passed`, `failed` and `skipped` are regular expressions for parts of the summary, each with a number as
    its only group; several matches are added up."""

    __test__ = False

    name: str
    calls: tuple[str, ...] = ()
    """How it is called: `pytest`, `go test`, `python -m unittest`, `node --test`."""
    language: str = ""
    config_files: tuple[str, ...] = ()
    """How names of files begin that are only there to configure it."""
    is_counting: bool = False
    """Whether every finished run ends with counts: a run without them broke off, or its output was cut."""

    summary: str = ""
    """A regular expression for the summary of a run, from the beginning of a line; it may span lines."""
    total: str = ""
    """How many tests there are. Without it and `passed`, it is not known how many passed."""
    passed: str = ""
    """How many passed. Without it, those that neither failed nor were skipped."""
    failed: str = ""
    """How many failed or broke off. If the group is a word, the names of failed tests are counted."""
    skipped: str = ""
    """How many of the total were skipped."""
    nothing: str = ""
    """A regular expression for a summary that says that there was no test to run."""
    failed_name: str = ""
    """A regular expression for a line that names a failed test, from its beginning; the name is the only group."""
    names_subtests: bool = False
    """Whether it names and counts a failed test once for each failed subtest."""
    verdict: str = ""
    """A regular expression for a summary that is complete. Without it the names of failed tests are counted."""
    failure_lines: tuple[str, ...] = ()
    """Regular expressions for lines, from their beginning, that no other program prints and that show that a test
    failed, the most telling ones first: they count if a pipe or a quiet mode took the summary away."""
    progress: str = ""
    """A regular expression for a line of progress, from its beginning: the letters of the tests as the first group,
    how far it got in percent as the second. They count if there is no summary; only beside `failure_lines`."""


def _known_by_call(language: str, calls: str) -> Iterator[TestRunner]:
    """Rows for programs of which nothing but the call is known; the calls are separated by commas."""
    for call in calls.split(","):
        call = " ".join(call.split())
        yield TestRunner(name=call.removeprefix(MODULE), calls=(call,), language=language)


# fmt: off
TEST_RUNNERS: tuple[TestRunner, ...] = (
    TestRunner(
        name="pytest", calls=("pytest", "py.test", "python -m pytest"), language="python",
        config_files=("conftest.py", "pytest.ini"), is_counting=True,
        summary=rf"(?:=+ )?(?:\d+ {ABOUT_TESTS}\b.{{0,200}}|no tests (?:ran|collected).{{0,100}}) in [\d.:]+ ?s",
        passed=r"(\d+) passed", failed=r"(\d+) (?:failed|error)",
        failed_name=r"(?:FAILED|ERROR) (?!\()(\S{1,200}(?:\[[^\n\]]{0,80}\])?)(?: - [^\n]*)?(?=\n|$)",
        failure_lines=(
            r"(?:FAILED|ERROR) \S{1,200}\.py(?:::[^\n]{1,300})?(?: - [^\n]*)?(?=\n|$)",
            r"\S{1,200}\.py::\S{1,200} (?:FAILED|ERROR)\b[^\n]*",
            r"={5,} (?:FAILURES|ERRORS) ={5,}(?:\n_{3,} [^\n]{1,160} _{3,}(?=\n|$))?"),
        progress=r"(?:\S{1,200}\.py(?:::\S{1,200})? )?([.sxXFER]{1,200}|PASSED) {1,200}\[ {0,2}(\d{1,3})%\](?=\n|$)"),
    TestRunner(
        name="unittest", calls=("python -m unittest", "python -m green", "python -m testtools.run", "python -m test"),
        language="python", is_counting=True,
        summary=r"Ran \d+ tests? in [^\n]*(?:\n{1,4}(?:OK|FAILED|NO TESTS RAN)\b[^\n]*)?", total=r"Ran (\d+)",
        failed=r"(?:(?<!expected )failures|errors|unexpected successes)=(\d+)", skipped=r"skipped=(\d+)",
        failed_name=r"(?:FAIL|ERROR): (\w[^\n]{0,160})", names_subtests=True, verdict=r"\n(?:OK|FAILED|NO TESTS RAN)",
        failure_lines=(
            r"(?:FAIL|ERROR): \w{1,160} \([\w.]{1,200}\)[^\n]*",
            r"\w{1,160} \([\w.]{1,200}\)[^\n]{0,160} \.\.\. (?:FAIL|ERROR)(?=\n|$)",
            r"FAILED \((?:failures|errors)=\d+[^\n]*")),
    TestRunner(
        name="sympy", language="python", summary=r"=+ tests finished: \d+ passed", passed=r"(\d+) passed",
        failed=r"(\d+) (?:failed|exception)"),
    TestRunner(
        name="doctest", calls=("doctest", "python -m doctest"), language="python",
        summary=r"\*\*\*Test Failed\*\*\* \d", failed=r"(\d+) failures?",
        failed_name=r"File \"[^\"\n]*\", line \d+, in (\S+)"),
    TestRunner(
        name="cargo", calls=("cargo test", "cargo t", "cargo nextest", "cargo-nextest", "cargo miri"), language="rust",
        summary=r"test result: ", passed=r"(\d+) passed", failed=r"(\d+) failed",
        failed_name=r"test (\S{1,160}) \.\.\. FAILED", failure_lines=(r"test \S{1,160} \.\.\. FAILED",)),
    TestRunner(
        name="go", calls=("go test", "gotestsum", "ginkgo"), language="go", summary=r"(?:ok  |FAIL|\?   )\t",
        failed=r"^(FAIL)", nothing=r"\[no test", failed_name=r"[ \t]*--- FAIL: (\S{1,160})",
        failure_lines=(r"[ \t]*--- FAIL: \S{1,160}[^\n]*",)),
    TestRunner(
        name="jest", calls=("jest",), language="javascript", config_files=("jest.config",), is_counting=True,
        summary=r"Tests:[ \t]+[^\n]*total", passed=r"(\d+) passed", failed=r"(\d+) failed",
        failed_name=r"[ \t]*[✕✗×✖] ([^\n]{1,160})", failure_lines=(r"FAIL {1,4}\S{1,200}\.[cm]?[jt]sx?\b[^\n]*",)),
    TestRunner(
        name="vitest", calls=("vitest",), language="javascript", config_files=("vitest.config",), is_counting=True,
        summary=r"[ \t]*Tests  \d", passed=r"(\d+) passed", failed=r"(\d+) failed",
        failed_name=r"[ \t]*[✕✗×✖] ([^\n]{1,160})"),
    TestRunner(
        name="mocha", calls=("mocha",), language="javascript", config_files=(".mocharc",), is_counting=True,
        summary=r"[ \t]+\d+ passing\b[^\n]*(?:\n[ \t]+\d+ (?:pending|failing)\b)*", passed=r"(\d+) passing",
        failed=r"(\d+) failing", failed_name=r"  {1,6}\d+\) ([^\n]{1,160})"),
    TestRunner(
        name="playwright", calls=("playwright test",), language="javascript", config_files=("playwright.config",),
        summary=r"(?:  \d+ failed\n(?:    [^\n]*\n|  \d+ \w[^\n]*\n){1,40})?  \d+ passed(?: \([\d.]+m?s\))?(?=\n|\Z)",
        passed=r"(\d+) passed", failed=r"(\d+) failed", failed_name=r"  {1,6}\d+\) ([^\n]{1,160}?)[ ─]*(?=\n|$)"),
    TestRunner(
        name="bun", calls=("bun test",), language="javascript", summary=r" \d+ pass(?:\n \d+ skip)?\n \d+ fail",
        passed=r"(\d+) pass", failed=r"(\d+) fail", failed_name=r"\(fail\) ([^\n]{1,160}?)(?: \[[\d.]+\w+\])?(?=\n|$)"),
    TestRunner(
        name="deno", calls=("deno test",), language="javascript", summary=r"(?:ok|FAILED) \| \d+ passed",
        passed=r"(\d+) passed", failed=r"(\d+) failed", failed_name=r"(\S[^\n]{0,160}) \.\.\. FAILED"),
    TestRunner(
        name="tap", calls=("tap", "node --test", "tape", "qunit"), language="javascript",
        summary=r"[#ℹ] pass +\d+[^\n]*(?:\n[#ℹ] \w+ +\d+)*", passed=r"[#ℹ] pass +(\d+)", failed=r"[#ℹ] fail +(\d+)",
        failed_name=r"(?:not ok \d+ -? ?|✖ (?!failing tests))([^\n]{1,160})"),
    TestRunner(
        name="ava", calls=("ava",), language="javascript", summary=r"  \d+ tests? (?:passed|failed)(?=\n|\Z)",
        failed=r"(\d+) tests? failed", failed_name=r"  ✘ \[fail\]: ([^\n]{1,160})"),
    TestRunner(
        name="jasmine", calls=("jasmine",), language="javascript", summary=r"\d+ specs?, \d+ failures?",
        total=r"(\d+) specs?,", failed=r"(\d+) failure", skipped=r"(\d+) pending"),
    TestRunner(
        name="ctest", calls=("ctest",), language="c", is_counting=True, summary=r"\d+% tests passed, ",
        total=r"out of (\d+)", failed=r"(\d+) tests failed",
        failed_name=r"[ \t]+\d+ - (\S{1,160}) \((?:Failed|SEGFAULT|Timeout|\*\*\*)"),
    TestRunner(
        name="gtest", language="c", summary=r"\[  PASSED  \] \d+ tests?\.(?:\n\[  (?:SKIPPED|FAILED ) \] [^\n]*)*",
        passed=r"PASSED  \] (\d+)", failed=r"FAILED  \] (\d+)", failed_name=r"\[  FAILED  \] ([A-Za-z_][\w./]{0,160})"),
    TestRunner(
        name="catch2", language="c", summary=r"test cases: +\d|All tests passed \(",
        passed=r"(\d+) (?:passed|test case)", failed=r"(\d+) failed"),
    TestRunner(
        name="rspec", calls=("rspec",), language="ruby", config_files=(".rspec",), is_counting=True,
        summary=r"\d+ examples?, \d+ failures?", total=r"(\d+) example", failed=r"(\d+) (?:failure|error)",
        skipped=r"(\d+) pending", failed_name=r"rspec (\S{1,160}) #"),
    TestRunner(
        name="minitest", calls=("rails test", "rails spec"), language="ruby", summary=r"\d+ runs, \d+ assertions, ",
        total=r"(\d+) runs", failed=r"(\d+) (?:failure|error)", skipped=r"(\d+) skip", failed_name=r"(\w+#\w+) \["),
    TestRunner(
        name="test-unit", language="ruby", summary=r"\d+ tests, \d+ assertions, ", total=r"(\d+) tests",
        failed=r"(\d+) (?:failure|error)", skipped=r"(\d+) (?:pending|omission)",
        failed_name=r"(?:Failure|Error): (\w+\(\w+\))"),
    TestRunner(
        name="bats", calls=("bats",), language="shell", summary=r"\d+ tests?, \d+ failures?", total=r"(\d+) test",
        failed=r"(\d+) failure", skipped=r"(\d+) skipped", failed_name=r" ✗ ([^\n]{1,160})"),
    TestRunner(
        name="phpunit", calls=("phpunit", "pest", "artisan test"), language="php", config_files=("phpunit.xml",),
        is_counting=True, summary=r"Tests: \d+, Assertions: |OK \(\d+ tests?, ", total=r"(?:Tests: |OK \()(\d+)",
        failed=r"(?:Failures|Errors): (\d+)", skipped=r"Skipped: (\d+)", failed_name=r"\d+\) (\w[\w\\]*::\w+)"),
    TestRunner(
        name="junit", language="java",
        summary=r"(?:\[\w{1,9}\] )?Tests run: *\d(?![^\n]*(?: in |Time elapsed))|OK \(\d+ tests?\)",
        total=r"(?:Tests run: *|OK \()(\d+)", failed=r"(?:Failures|Errors): *(\d+)", skipped=r"Skipped: *(\d+)",
        failed_name=r"(?:\[ERROR\] {1,4}|\d+\) )(\w[\w.]{0,120}(?::\d+|\([\w.]+\)))"),
    TestRunner(
        name="prove", calls=("prove",), language="perl", summary=r"Result: (?:PASS|FAIL)", failed=r"Result: (FAIL)",
        failed_name=r"#   Failed test '([^'\n]{1,160})'"),
    TestRunner(
        name="tests", summary=r"No tests? (?:files? )?(?:(?:were )?found|executed|to run)(?:, exiting|[.!]*(?=\n|\Z))",
        nothing=r"No test"),
    TestRunner(name="tox", calls=("tox", "python -m tox"), language="python", is_counting=True),
    TestRunner(name="nox", calls=("nox", "python -m nox"), language="python", is_counting=True),
    *_known_by_call(
        "python",
        """nosetests, nose2, behave, trial, stestr, hatch test, python -m nose, python -m nose2, python -m behave,
        python -m twisted.trial, python -m trial, python -m coverage""",
    ),
    TestRunner(name="karma", calls=("karma",), language="javascript", config_files=("karma.conf.js",)),
    TestRunner(name="cypress", calls=("cypress run",), language="javascript", config_files=("cypress.config",)),
    *_known_by_call("javascript", "cucumber, c8, nyc, ng test, ng e2e"),
    *_known_by_call(
        "",
        """busted, invoke-pester, zig test, dotnet test, dotnet vstest, swift test, flutter test, dart test, mix test,
        lein test, stack test, cabal test, bazel test, buck test, pants test, meson test, forge test, sui test,
        dbt test, foundry test, lake test""",
    ),
)
# fmt: on


class RunnerTable:
    """Test runners, ready to be looked up by how they are called. One that cannot have an effect is refused."""

    def __init__(self, runners: Sequence[TestRunner]) -> None:
        for runner in runners:
            if problem := _lacks(runner):
                raise ValueError(f"test runner {runner.name}: {problem}")
        calls = by_key((call, runner) for runner in runners for call in runner.calls)
        self.runners = tuple(runners)
        self.programs = frozenset(call for call in calls if " " not in call)
        """Programs that do nothing but test."""
        self.modules = frozenset(call.removeprefix(MODULE) for call in calls if call.startswith(MODULE))
        """Modules of Python that test."""
        self.verbs = _by_program(call for call in calls if " -" not in call)
        """Programs that test if their first operand is one of these."""
        self.options = _by_program(call for call in calls if " -" in call and not call.startswith(MODULE))
        """Programs that test if they get one of these options."""
        self.counting = frozenset(runner.name for runner in runners if runner.is_counting)
        """Runners whose finished runs all end with counts."""
        self.config_files = tuple(name for runner in runners for name in runner.config_files)
        """How names of files begin that are only there to configure a runner."""


def _lacks(runner: TestRunner) -> str:
    """Why a row, or a part of it, can never have an effect; empty if all of it can."""
    counts = (runner.total, runner.passed, runner.failed, runner.skipped)
    if not (runner.calls or runner.summary or runner.failure_lines):
        return "nothing shows that it ran: give calls, a summary or failure_lines"
    for call in runner.calls:
        words = call.removeprefix(MODULE).split(" ")
        if "" in words or len(words) > 2 or (len(words) > 1 and call.startswith(MODULE)):
            return f"the call {call!r} is never found: give a program, a program and one word, or {MODULE}module"
        if call.partition(" ")[0] != call.partition(" ")[0].lower():
            return f"the call {call!r} is never found: programs are known by their names in small letters"
    if "" in runner.config_files:
        return "an empty name in config_files begins every name"
    if any((*counts, runner.nothing, runner.verdict)) and not runner.summary:
        return "total, passed, failed, skipped, nothing and verdict are parts of a summary, and it has none"
    if runner.names_subtests and not runner.failed_name:
        return "names_subtests is about the names of failed tests: give failed_name"
    if runner.progress and not runner.failure_lines:
        return "progress is looked for beside failure_lines, and it has none"
    if any(part and re.compile(part).groups != 1 for part in (*counts, runner.failed_name)):
        return "total, passed, failed, skipped and failed_name have one group each: the number, the name"
    if any(re.match(line, "") for line in (*filter(None, (runner.summary, runner.progress)), *runner.failure_lines)):
        return "its summary, its progress or one of its failure_lines matches an empty line, and so every line"
    return ""


def _by_program(calls: Iterable[str]) -> dict[str, frozenset[str]]:
    """What follows each program in its calls."""
    arguments: dict[str, set[str]] = {}
    for program, space, rest in (call.partition(" ") for call in calls):
        if space:
            arguments.setdefault(program, set()).add(rest)
    return {program: frozenset(words) for program, words in arguments.items()}


RUNNERS = RunnerTable(TEST_RUNNERS)
