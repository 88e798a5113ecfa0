"""How each test runner counts: from the line that sums up a run to how many passed and how many did not."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

NUMBER = re.compile(r"\d+")
PASSED = re.compile(r"(\d+) passed")
FAILED = re.compile(r"(\d+) failed")
COUNTED = re.compile(r"(\d+) (passed|failed|error(?=s?\b))")
UNITTEST_END = re.compile(r"\n{1,4}(OK|FAILED|NO TESTS RAN)\b([^\n]*)")
UNITTEST_HEADING = re.compile(r"\n(?:FAIL|ERROR): (\S+ \([^)\n]*\)|[^\n]+)")
"""The name of a test; what stands behind it tells which subtest."""
FAILING = re.compile(r"\n[ \t]{1,20}(\d+) failing\b")
GO_TESTED = re.compile(r"\n(?:ok  \t(?![^\n]*\[no test)|FAIL\t|--- FAIL: )")
TAP_FAILED = re.compile(r"\n(?:#|ℹ) fail +(\d+)")
PLAYWRIGHT_FAILED = re.compile(r"\n  (\d+) failed")
BUN_FAILED = re.compile(r"(?:\n \d+ \w+)?\n (\d+) fail")
TROUBLES = re.compile(r"(\d+) (?:failures?|errors?|failed)\b")
SHARE = re.compile(r"\b(\d+) ?(?:/|of|out of) ?(\d+) (?:tests? |checks? |cases? )?(passed|failed)\b", re.IGNORECASE)
BOTH = re.compile(r"\b\d+ (?:tests? )?(?:passed|failed)[,;|] *\d+ (?:tests? )?(?:passed|failed)\b", re.IGNORECASE)
NAMED = re.compile(r"passed: *(\d+)[^\n]{0,20}?[,;|] *(?:total |tests? )?failed: *(\d+)", re.IGNORECASE)
ALL = re.compile(r"\ball (?:(\d+) )?(?:tests?|checks?) passed\b", re.IGNORECASE)


class Summary(Struct, frozen=True, gc=False):
    """A line that sums up a run, and where it stands."""

    runner: str
    line: str
    text: str
    place: int


class Count(Struct, frozen=True, gc=False):
    """What it says."""

    runner: str
    passed: int | None
    failed: int


def whole(digits: str) -> int:
    """A count; digits without end are no count."""
    return int(digits[:12])


def first_number(line: str) -> int:
    found = NUMBER.search(line)
    return whole(found[0]) if found else 0


def before(line: str, pattern: re.Pattern[str]) -> int:
    """`3 failed`: the number before its word."""
    found = pattern.search(line)
    return whole(found[1]) if found else 0


def after(line: str, word: str) -> int:
    """`Failures: 2`: the number behind its word."""
    place = line.find(word)
    found = NUMBER.search(line, place + len(word), place + len(word) + 12) if place >= 0 else None
    return whole(found[0]) if found else 0


def plain(told: Summary) -> Count | None:
    """`3 failed, 2 passed`, in any order, with errors beside them."""
    first: dict[str, int] = {}
    for number, word in COUNTED.findall(told.line):
        first.setdefault(word, whole(number))
    return Count(told.runner, first.get("passed", 0), first.get("failed", 0) + first.get("error", 0))


def unittest(told: Summary) -> Count | None:
    """`Ran 5 tests in 0.1s`, and the verdict below it; where that was cut off, the headings above it."""
    end = told.text.find("\n", told.place)
    found = UNITTEST_END.match(told.text, end) if end >= 0 else None
    total = first_number(told.line)
    if found is None:
        failed = len(set(_headings(told)))
        return Count("unittest", max(total - failed, 0), failed) if failed else None
    total -= after(found[2], "skipped=")
    if found[1] != "FAILED":
        return Count("unittest", max(total, 0), 0)
    failed = sum(after(found[2], word) for word in ("failures=", "errors=", "unexpected successes="))
    headings = _headings(told)
    failed = max(failed - len(headings) + len(set(headings)), 1)
    if failed > max(total, 1):  # of subtests, not all of which are shown
        return Count("unittest", None, max(len(set(headings)), 1))
    return Count("unittest", max(total - failed, 0), failed)


def _headings(told: Summary) -> list[str]:
    """The tests that a run by unittest reports above its sum: one with subtests once for each that failed."""
    start = max(told.text.rfind("\nRan ", 0, max(told.place - 1, 0)), 0)
    return UNITTEST_HEADING.findall(told.text, start, told.place)


def go(told: Summary) -> Count | None:
    """A package's line. Those without tests count only where no other package has any, and once."""
    if "[no test" in told.line:
        is_first = told.text.find("[no test") >= told.place
        return Count("go", 0, 0) if is_first and not GO_TESTED.search(told.text) else None
    if told.line.startswith("ok"):
        return Count("go", None, 0)
    return Count("go", None, max(told.text.count("--- FAIL: "), 1))


def mocha(told: Summary) -> Count | None:
    """What fails is told behind what passes, which is there even when nothing does."""
    found = FAILING.search(told.text, told.place, told.place + 400)
    return Count("mocha", first_number(told.line), whole(found[1]) if found else 0)


def ctest(told: Summary) -> Count | None:
    """`67% tests passed, 1 tests failed out of 3`."""
    numbers = [whole(number) for number in NUMBER.findall(told.line)]
    return Count("ctest", max(numbers[2] - numbers[1], 0), numbers[1]) if len(numbers) > 2 else None


def tap(told: Summary) -> Count | None:
    """`# pass 4`, and `# fail 1` below it."""
    found = TAP_FAILED.search(told.text, told.place, told.place + 200)
    return Count("tap", first_number(told.line), whole(found[1]) if found else 0)


def playwright(told: Summary) -> Count | None:
    """What failed is told before what passed."""
    found = PLAYWRIGHT_FAILED.search(told.text, max(told.place - 4000, 0), told.place)
    return Count("playwright", first_number(told.line), whole(found[1]) if found else 0)


def bun(told: Summary) -> Count | None:
    """` 2 pass`, and ` 1 fail` below it."""
    found = BUN_FAILED.match(told.text, told.text.find("\n", told.place))
    return Count("bun", first_number(told.line), whole(found[1])) if found else None


def examples(told: Summary) -> Count | None:
    """`5 examples, 1 failure`, `5 runs, 7 assertions, 0 failures, 1 errors, 0 skips`."""
    found = TROUBLES.findall(told.line)
    if not found:
        return None
    failed = sum(map(whole, found))
    runner = "rspec" if "example" in told.line else "minitest" if "runs" in told.line else "tests"
    return Count(runner, max(first_number(told.line) - failed, 0), failed)


def phpunit(told: Summary) -> Count | None:
    failed = after(told.line, "Failures:") + after(told.line, "Errors:")
    runner = "phpunit" if "ssertion" in told.line else "junit"
    return Count(runner, max(first_number(told.line) - failed, 0), failed)


def junit(told: Summary) -> Count | None:
    """Maven tells each class and then the whole: a line that names its class is left out."""
    if "Time elapsed" in told.line or " in " in told.line:
        return None
    failed = after(told.line, "Failures:") + after(told.line, "Errors:")
    return Count("junit", max(after(told.line, "Tests run:") - failed - after(told.line, "Skipped:"), 0), failed)


def gradle(told: Summary) -> Count | None:
    failed = before(told.line, FAILED)
    return Count("gradle", max(first_number(told.line) - failed, 0), failed)


def dotnet(told: Summary) -> Count | None:
    return Count("dotnet", after(told.line, "Passed:"), after(told.line, "Failed:"))


def xctest(told: Summary) -> Count | None:
    numbers = [whole(number) for number in NUMBER.findall(told.line)]
    return Count("xctest", max(numbers[0] - numbers[1], 0), numbers[1]) if len(numbers) > 1 else None


def gtest(told: Summary) -> Count | None:
    """What passed, and what failed below it."""
    if "PASSED" not in told.line:
        return Count("gtest", None, first_number(told.line))
    is_whole = "\n[  FAILED  ] " not in told.text[told.place : told.place + 400]
    return Count("gtest", first_number(told.line), 0) if is_whole else None


def catch2(told: Summary) -> Count | None:
    if told.line.startswith("All"):
        return Count("catch2", whole((NUMBER.findall(told.line) or ["0"])[-1]), 0)
    return plain(told)


def scalatest(told: Summary) -> Count | None:
    return Count("scalatest", after(told.line, "succeeded"), after(told.line, "failed"))


def prove(told: Summary) -> Count | None:
    return Count("prove", None, int(told.line.startswith("Result: FAIL")))


def none(told: Summary) -> Count | None:
    """That there are no tests, in whatever words."""
    return Count("tests", 0, 0) if told.line else None


def doctest(told: Summary) -> Count | None:
    return Count("doctest", None, first_number(told.line) or 1)


def generic(line: str) -> Count | None:
    """`3 passed, 1 failed`, `3/4 tests passed`, `Passed: 3, Failed: 1`, `All 4 tests passed`."""
    if found := NAMED.search(line):
        return Count("tests", whole(found[1]), whole(found[2]))
    if BOTH.search(line):
        lower = line.lower().replace(" tests ", " ").replace(" test ", " ")
        return Count("tests", before(lower, PASSED), before(lower, FAILED))
    if found := SHARE.search(line):
        some, total = whole(found[1]), whole(found[2])
        if some > total:
            return None
        rest = total - some
        return Count("tests", rest, some) if found[3].lower() == "failed" else Count("tests", some, rest)
    if found := ALL.search(line):
        return Count("tests", whole(found[1]) if found[1] else None, 0)
    return None


COUNTERS: dict[str, Callable[[Summary], Count | None]] = {
    "pytest": plain,
    "tests": plain,
    "unittest": unittest,
    "cargo": plain,
    "go": go,
    "jest": plain,
    "vitest": plain,
    "mocha": mocha,
    "ctest": ctest,
    "tap": tap,
    "examples": examples,
    "phpunit": phpunit,
    "junit": junit,
    "gradle": gradle,
    "dotnet": dotnet,
    "deno": plain,
    "xctest": xctest,
    "gtest": gtest,
    "catch2": catch2,
    "scalatest": scalatest,
    "prove": prove,
    "doctest": doctest,
    "playwright": playwright,
    "bun": bun,
    "none": none,
}
