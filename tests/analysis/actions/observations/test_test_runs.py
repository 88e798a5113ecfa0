"""What test runners say at the end of a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dense.analysis.actions.observations.result import ObservedResult

type Look = Callable[..., ObservedResult]

PYTEST = """=================================== FAILURES ===================================
E   assert 1 == 2
test_x.py:3: AssertionError
=========================== short test summary info ============================
FAILED test_x.py::test_b - assert 1 == 2
ERROR test_x.py::test_c - OSError: x
===================== 1 failed, 1 passed, 1 error in 2.53s ====================="""
COLLECTION = """=========================== short test summary info ============================
ERROR test_y.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 3.73s"""
UNITTEST = """FAIL: test_error_b (__main__.T.test_error_b)
----------------------------------------------------------------------
AssertionError: None

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, errors=1)"""
DJANGO = """Found 5 test(s).
System check identified no issues (0 silenced).
.....
----------------------------------------------------------------------
Ran 5 tests in 0.312s

OK (skipped=1)
Destroying test database for alias 'default'..."""
GO = (
    "--- FAIL: TestAdd (0.00s)\n    a_test.go:5: got 3\nFAIL\n"
    "FAIL\texample.com/a\t0.003s\nok  \texample.com/b\t0.002s\nFAIL"
)
CARGO = """test a ... ok
test b ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.16s"""
JEST = """  ✕ adds (3 ms)
Test Suites: 1 failed, 1 total
Tests:       1 failed, 2 passed, 3 total"""
MOCHA = "  2 passing (10ms)\n  1 failing\n\n  1) adds:\n     AssertionError"
CTEST = "50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - bad (Failed)"
NODE = "not ok 2 - bad\n1..2\n# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0"
MAVEN = """[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in a.ATest
[ERROR]   ATest.adds:12 expected:<3> but was:<4>
[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1"""
GTEST = "[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Add.Works"

RUNS: list[tuple[str, str, int | None, int, tuple[str, ...]]] = [
    (PYTEST, "pytest", 1, 2, ("test_x.py::test_b", "test_x.py::test_c")),
    (COLLECTION, "pytest", 0, 1, ("test_y.py",)),
    ("2 passed in 0.01s", "pytest", 2, 0, ()),
    ("===== 5 passed, 1 skipped, 3 warnings in 61.02s (0:01:01) =====", "pytest", 5, 0, ()),
    ("no tests ran in 0.01s", "pytest", 0, 0, ()),
    ("3 deselected in 1.55s", "pytest", 0, 0, ()),
    ("=== 12 passed in 3.10 seconds ===", "pytest", 12, 0, ()),
    (UNITTEST, "unittest", 1, 2, ("test_error_b (__main__.T.test_error_b)",)),
    (DJANGO, "unittest", 4, 0, ()),
    ("Ran 1 test in 0.0s\n\nOK", "unittest", 1, 0, ()),
    (GO, "go", None, 1, ("TestAdd",)),
    (CARGO, "cargo", 1, 1, ("b",)),
    ("test result: ok. 3 passed; 0 failed; 0 ignored", "cargo", 3, 0, ()),
    (JEST, "jest", 2, 1, ("adds (3 ms)",)),
    ("      Tests  1 failed | 2 passed (3)\n   Start at  10:00", "vitest", 2, 1, ()),
    ("Tests:  3 passed, 3 total", "jest", 3, 0, ()),
    (MOCHA, "mocha", 2, 1, ("adds:",)),
    ("  4 passing (1s)", "mocha", 4, 0, ()),
    (CTEST, "ctest", 1, 1, ("bad",)),
    ("100% tests passed, 0 tests failed out of 7", "ctest", 7, 0, ()),
    (NODE, "tap", 1, 1, ("bad",)),
    ("ℹ tests 2\nℹ pass 2\nℹ fail 0", "tap", 2, 0, ()),
    ("5 examples, 1 failure\n\nrspec ./spec/a_spec.rb:3 # A adds", "rspec", 4, 1, ("./spec/a_spec.rb:3",)),
    ("5 runs, 7 assertions, 1 failures, 1 errors, 0 skips", "minitest", 3, 2, ()),
    ("Tests: 5, Assertions: 7, Failures: 1.", "phpunit", 4, 1, ()),
    ("OK (5 tests, 7 assertions)", "phpunit", 5, 0, ()),
    ("OK (3 tests)", "junit", 3, 0, ()),
    (MAVEN, "junit", 2, 2, ("ATest.adds:12",)),
    ("FAILED | 2 passed | 1 failed (12ms)", "deno", 2, 1, ()),
    (GTEST, "gtest", 2, 1, ("Add.Works",)),
    ("test cases: 3 | 2 passed | 1 failed", "catch2", 2, 1, ()),
    ("Failed 1/2 subtests\nResult: FAIL", "prove", None, 1, ()),
    ("***Test Failed*** 2 failures.", "doctest", None, 2, ()),
    ("  1 failed\n    [chromium] › a.spec.ts\n  2 passed (3.1s)", "playwright", 2, 1, ()),
    (" 2 pass\n 1 fail\n 5 expect() calls", "bun", 2, 1, ()),
    ("Results: 3 passed, 1 failed", "tests", 3, 1, ()),
    ("1 FAILED, 3 PASSED", "tests", 3, 1, ()),
    ("3/4 tests passed", "tests", 3, 1, ()),
    ("2 out of 2 checks passed", "tests", 2, 0, ()),
    ("All 7 tests passed!", "tests", 7, 0, ()),
    ("== tests finished: 147 passed, 1 failed, in 4.91 seconds ===", "sympy", 147, 1, ()),
    ("pytest_cov is fine\nmake: *** [Makefile:2: test] Error 1", "make", None, 1, ("test",)),
]


@pytest.mark.parametrize(("text", "runner", "passed", "failed", "names"), RUNS)
def test_a_run_is_counted(
    after: Look, text: str, runner: str, passed: int | None, failed: int, names: tuple[str, ...]
) -> None:
    result = after("make test", f"output\n{text}\n")
    found = result.tests[0]
    assert (found.runner, found.passed, found.failed, found.names) == (runner, passed, failed, names)
    assert result.has_failed == bool(failed)


def test_several_runs_each_count(after: Look) -> None:
    tests = after("pytest a; pytest b", "1 failed in 0.1s\n....\n4 passed in 0.2s\n").tests
    assert [(run.passed, run.failed) for run in tests] == [(0, 1), (4, 0)]


def test_what_is_shown_twice_counts_once(after: Look) -> None:
    assert len(after("pytest", "2 passed in 0.01s\n\n[stdout]\n2 passed in 0.01s\n").tests) == 1


def test_failures_that_a_passing_run_provoked_are_none(after: Look) -> None:
    text = "ERROR:root:provoked\nValueError: provoked\n2 passed in 0.1s"
    assert not after("pytest -s", text).has_failed


def test_another_failure_beside_a_passing_run_is_reported(after: Look) -> None:
    assert after("pytest; foo", "2 passed in 0.1s\nbash: foo: command not found").has_failed


def test_a_log_of_a_run_that_is_read_back_counts(after: Look) -> None:
    assert after("tail -3 /tmp/pytest.log", "== 1 failed, 2 passed in 0.1s ==").tests[0].failed == 1
    assert not after("cat README.md", "== 1 failed, 2 passed in 0.1s ==").tests


def test_pytest_without_tests_fails_by_its_exit_code(after: Look) -> None:
    result = after("pytest -q -k x", "no tests ran in 0.00s", code=5)
    assert result.tests[0].failed == 0
    assert [failure.family.code for failure in result.failures] == ["exit"]


def test_expected_failures_are_no_failures(after: Look) -> None:
    line = "=== tests finished: 148 passed, 1 expected to fail, in 4.64 seconds ==="
    (run,) = after("bin/test", f"{line}\n").tests
    assert (run.passed, run.failed) == (148, 0)
    (run,) = after("python -m unittest", "Ran 9 tests in 0.1s\n\nOK (skipped=2, expected failures=2)\n").tests
    assert (run.passed, run.failed) == (7, 0)


SUBTESTS = """FAIL: test_hours (d.T.test_hours)
AssertionError
FAIL: test_text (d.T.test_text) (text='')
AssertionError
FAIL: test_text (d.T.test_text) (text='a (b)')
AssertionError
ERROR: test_more (d.T.test_more) [why] (n=1)
KeyError
----------------------------------------------------------------------
Ran 5 tests in 0.001s

FAILED (failures=3, errors=1)"""


def test_subtests_are_no_tests(after: Look) -> None:
    (run,) = after("python3 -m unittest", SUBTESTS, code=1).tests
    assert (run.passed, run.failed) == (2, 3)
    assert run.names == ("test_hours (d.T.test_hours)", "test_text (d.T.test_text)", "test_more (d.T.test_more)")


def test_no_more_tests_fail_than_ran(after: Look) -> None:
    cut = (
        "FAIL: test_text (d.T.test_text) (text='a')\nAssertionError\n-----\nRan 2 tests in 0.1s\n\nFAILED (failures=7)"
    )
    (run,) = after("python3 -m unittest", cut, code=1).tests
    assert (run.passed, run.failed) == (None, 1)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("go test ./...", "?   \ta\t[no test files]\n?   \tb\t[no test files]"),
        ("go test -run X ./...", "ok  \ta\t0.1s [no tests to run]\nok  \tb\t0.1s [no tests to run]"),
        ("npx jest", "No tests found, exiting with code 0"),
        ("npx vitest run", "No test files found, exiting with code 0"),
        ("vendor/bin/phpunit", "No tests executed!"),
        ("ctest", "No tests were found!!!"),
    ],
)
def test_a_run_of_no_tests_has_not_passed(command: str, text: str, after: Look) -> None:
    came = after(command, text, code=0)
    (run,) = came.tests
    assert (run.passed, run.failed) == (0, 0)
    assert not came.is_fine


def test_a_text_that_speaks_of_no_tests_is_none(after: Look) -> None:
    assert after("python3 app.py", "No tests found for patient 3", code=0).tests == ()
    (run,) = after("go test ./...", "?   \ta\t[no test files]\nok  \tb\t0.1s", code=0).tests
    assert run.line.startswith("ok")
