"""Which failures are the attempt's own: the same check by another spelling, baselines, scratch checks, runs that were
meant to fail, what a check prints, and what the agent says of what it saw."""

from __future__ import annotations

import msgspec
import pytest
from made_attempt import Action, analysed, attempt

from dense.analyst.rules import RulesAnalyst
from dense.detectors.finding import Finding
from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.evidence.checks.scopes import scope
from dense.evidence.facts.remarks import find_complaint, find_excuse, says_expected
from dense.service import distill_sync
from dense.trajectory import Trajectory

EDIT = ("sed -i s/a/b/ app.py", "")
FAILED = "FAILED tests/test_a.py::test_one - assert 1 == 2\n1 failed, 30 passed in 1.2s"
PASSED = "31 passed in 1.2s"
UNITTEST = "FAIL: test_one (tests.test_a.A)\nRan 31 tests in 1s\n\nFAILED (failures=1)"
DONE = "It is done."


def open_checks(analysis: Analysis) -> list[Finding]:
    return [one for one in analysis.findings if one.kind == "failed_check" and one.closed is None]


def serious(*actions: Action, task: str | None = None) -> list[str]:
    found = analysed(task, *actions, DONE).findings
    return [one.text for one in found if one.is_serious and one.closed is None]


def said_after(trajectory: Trajectory, action: int, message: str) -> Analysis:
    """The same with what the agent said as it did what came after an action."""
    steps = list(trajectory.steps)
    steps[action] = msgspec.structs.replace(steps[action], message=message)
    return Analysis(msgspec.structs.replace(trajectory, steps=tuple(steps)), EffectsCache())


# The same check


@pytest.mark.parametrize(
    ("failing", "output", "passing", "shown"),
    [
        ("pytest tests/", FAILED, "python3.9 -m pytest tests/", PASSED),
        ("pytest tests/test_a.py", FAILED, "pytest -W error::UserWarning tests/test_a.py", PASSED),
        ("pytest tests/test_a.py", FAILED, "python -W ignore -m pytest tests/test_a.py", PASSED),
        ("python runtests.py forms", UNITTEST, "./runtests.py forms --parallel 1", "Ran 31 tests in 1s\n\nOK"),
        ("./manage.py test", UNITTEST, "python manage.py test", "Ran 31 tests in 1s\n\nOK"),
        ("python manage.py test app", UNITTEST, "python manage.py test", "Ran 31 tests in 1s\n\nOK"),
        ("python -m unittest tests.test_a", UNITTEST, "pytest tests/test_a.py", PASSED),
        ("python test_repro.py", "AssertionError: 1", "pytest test_repro.py", "1 passed in 0.1s"),
        ("npm test", "Tests: 1 failed, 10 passed, 11 total", "yarn test", "Tests: 11 passed, 11 total"),
        ("pytest tests/test_a.py", FAILED, "tox -e py39", PASSED),
        ("pytest tests/", FAILED, "pytest tests/test_a.py", PASSED),
        ("go test ./...", "--- FAIL: TestNet (0.00s)\nFAIL\tx/net\t0.1s\nFAIL", "go test ./...", "ok  \tx/net\t0.1s"),
    ],
)
def test_a_pass_of_the_same_check_closes_it_however_it_is_spelled(
    failing: str, output: str, passing: str, shown: str
) -> None:
    analysis = analysed(None, EDIT, (failing, output, 1), EDIT, (passing, shown), DONE)
    (finding,) = [one for one in analysis.findings if one.kind == "failed_check"]
    assert finding.closed == 4, finding.text


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("pytest tests/unit/test_a.py", "pytest tests/other"),
        ("pytest tests/test_a.py::test_one", "pytest tests/test_a.py::test_two"),
        ("python runtests.py forms", "python runtests.py admin"),
        ("pytest tests/test_a.py", "npx jest"),
        ("pytest tests/test_a.py", "./reproduce.sh"),
    ],
)
def test_a_pass_of_something_else_does_not(failing: str, passing: str) -> None:
    analysis = analysed(None, EDIT, (failing, FAILED, 1), EDIT, (passing, PASSED), DONE)
    assert [one.is_serious for one in open_checks(analysis)] == [True]


def test_a_pass_without_what_failed_does_not_close_it_and_is_told() -> None:
    without = ("pytest tests --deselect tests/test_a.py::test_one", "30 passed, 1 deselected in 1s")
    (finding,) = open_checks(analysed(None, EDIT, ("pytest tests", FAILED, 1), without, DONE))
    assert not finding.is_serious
    assert "a part of it" in finding.text


def test_a_later_run_whose_end_is_cut_off_is_not_called_missing() -> None:
    cut = ("pytest tests/ | head -3", "collected 31 items\ntests/test_a.py ......")
    (finding,) = open_checks(analysed(None, EDIT, ("pytest tests/", FAILED, 1), EDIT, cut, DONE))
    assert not finding.is_serious
    assert "ran again at a4" in finding.text


def test_what_a_command_names() -> None:
    assert scope("python3.9 -m pytest -p no:cacheprovider").subjects == frozenset()
    assert scope("py.test tests/test_a.py::test_one -q").subjects == {"test_a", "test_one"}
    assert scope("pytest tests -k 'not slow'").left_out == ("slow",)
    assert scope("python manage.py test app.tests.A").labels == ("app.tests.A",)
    assert scope("pytest tests/unit").folders == ("tests/unit",)


def test_a_failure_by_unittest_is_told_by_its_verdict() -> None:
    (finding,) = open_checks(analysed(None, EDIT, ("python -m unittest", UNITTEST, 1), DONE))
    assert "FAILED (failures=1)" in finding.text


# Baselines


@pytest.mark.parametrize(
    "actions",
    [
        [("git stash && pytest tests/test_a.py; git stash pop", FAILED, 1)],
        [("git stash", "Saved"), ("pytest tests/test_a.py", FAILED, 1), ("git stash pop", "Dropped")],
        [
            ("cp app.py /tmp/app.py && git checkout app.py", "Updated 1 path"),
            ("pytest tests/test_a.py", FAILED, 1),
            ("cp /tmp/app.py app.py", ""),
        ],
        [("git worktree add /tmp/w HEAD && cd /tmp/w && pytest tests/test_a.py", FAILED, 1)],
    ],
)
def test_a_check_that_fails_without_the_changes_too_is_not_held_against_them(actions: list[Action]) -> None:
    analysis = analysed(None, EDIT, ("pytest tests/test_a.py", FAILED, 1), *actions, DONE)
    (finding,) = open_checks(analysis)
    assert not finding.is_serious
    assert finding.evidence == (2,)
    assert "with the changes taken back" in finding.text


def test_a_check_that_passes_only_without_the_changes_is_no_recovery() -> None:
    stashed = ("git stash && pytest tests/test_a.py; git stash pop", PASSED)
    (finding,) = open_checks(analysed(None, EDIT, ("pytest tests/test_a.py", FAILED, 1), stashed, DONE))
    assert finding.is_serious
    assert "With the changes taken back it passed at a3" in finding.text


def test_after_the_changes_came_back_a_check_counts_again() -> None:
    back = ("git stash pop && pytest tests/test_a.py", FAILED, 1)
    assert serious(EDIT, ("git stash", "Saved"), ("pytest tests/test_a.py", PASSED), back)


def test_an_explanation_that_nothing_refutes_leaves_it_open_and_not_serious() -> None:
    made = attempt(None, EDIT, ("pytest tests/test_a.py", FAILED, 1), ("git diff", "+b"), DONE)
    (finding,) = open_checks(said_after(made, 2, "This failure is pre-existing and unrelated to my change."))
    assert not finding.is_serious
    assert "pre-existing" in finding.text
    (finding,) = open_checks(said_after(made, 2, "Let me look at the diff."))
    assert finding.is_serious


# Checks of the attempt's own


def test_a_scratch_check_that_was_removed_is_not_serious() -> None:
    written = ("cat > verify_fix.py <<'EOF'\nassert f() == 3\nEOF", "")
    failing = ("python verify_fix.py", "AssertionError: expected 3", 1)
    assert serious(EDIT, written, failing)
    assert not serious(EDIT, written, failing, ("rm verify_fix.py", ""))


def test_a_reproduction_that_fails_before_the_fix_is_the_task() -> None:
    written = ("cat > test_repro.py <<'EOF'\nassert f() == 3\nEOF", "")
    failing = ("python test_repro.py", "AssertionError: expected 3", 1)
    assert not serious(written, failing, EDIT, ("python test_other.py", "OK"))


def test_unless_the_task_asks_for_it() -> None:
    written = ("cat > test_queue.py <<'EOF'\nassert f() == 3\nEOF", "")
    failing = ("python test_queue.py", "AssertionError: expected 3", 1)
    assert serious(written, failing, task="Write `test_queue.py`, which checks the queue.")


@pytest.mark.parametrize("command", ["make lint", "npm run lint", "npm run typecheck", "pre-commit run -a"])
def test_a_linter_by_a_name_of_the_project_s_own_is_not_serious(command: str) -> None:
    assert not serious(EDIT, (command, "a.py:1: error\nError: 1 problem", 1))


def test_a_make_target_whose_program_is_not_there_did_not_run() -> None:
    lacking = ("make test", "make: pytest: Command not found\nmake: *** [Makefile:3: test] Error 127", 2)
    assert not open_checks(analysed(None, EDIT, lacking, DONE))
    assert serious(EDIT, ("make test", "boom\nmake: *** [Makefile:3: test] Error 1", 2))


# Programs that are meant to fail

CRASH = 'Traceback (most recent call last):\n  File "app.py", line 1, in f\nValueError: bad'


def test_a_program_that_the_agent_itself_stopped_did_not_fail() -> None:
    assert not serious(EDIT, ("timeout 5 python server.py", "Serving on 8000", 124))


def test_a_program_that_ended_well_did_not_fail() -> None:
    assert not serious(EDIT, ("python run.py", f"{CRASH}\ncaught\nall good", 0))
    assert serious(EDIT, ("python run.py | tail -5", CRASH, 0))


def test_a_failure_that_the_agent_wanted_is_none() -> None:
    made = attempt(None, EDIT, ("python run.py", CRASH, 1), ("git diff", "+b"), DONE)
    assert not [f for f in said_after(made, 2, "As expected, it raises ValueError.").findings if f.kind == "failed_run"]
    assert [f for f in said_after(made, 2, "Let me look at the diff.").findings if f.kind == "failed_run"]


def test_a_failure_of_what_was_changed_since_is_not_held_against_it() -> None:
    assert not serious(EDIT, ("python app.py", CRASH, 1), EDIT)


# What a check prints, and what the agent says of it


@pytest.mark.parametrize(
    "line",
    ["FAIL. Expected {x}", "Test 1: FAILED", "❌ Test 2 failed", "Import failed: No module named 'x'", "MISMATCH"],
)
def test_a_check_that_prints_a_failure_has_not_passed(line: str) -> None:
    analysis = analysed(None, EDIT, ("python test_edge.py", f"PASS\n{line}\nPASS"), DONE)
    (check,) = analysis.checks
    assert check.has_passed is None
    assert check.line == line
    assert not analysis.of(2).has_passed


@pytest.mark.parametrize("line", ["Failed: 0", "no failures", "PASS: it fails when empty", "✅ refused as it must"])
def test_a_line_that_only_speaks_of_failures_is_none(line: str) -> None:
    (check,) = analysed(None, EDIT, ("python test_edge.py", f"{line}\ndone"), DONE).checks
    assert check.has_passed


def test_a_run_that_the_agent_calls_wrong_is_no_recovery() -> None:
    ran = ("python solve.py", "put: -3.1\ndone")
    made = attempt(
        None,
        ("echo x > solve.py", ""),
        ("python solve.py", CRASH, 1),
        ("echo y > solve.py", ""),
        ran,
        ("ls", "x"),
        DONE,
    )
    (trusted,) = said_after(made, 4, "Now let me look around.").attempts
    assert trusted.recovery == 4
    (doubted,) = said_after(made, 4, "The puts are negative, which is wrong.").attempts
    assert doubted.recovery is None
    assert doubted.failed == (2, 4)
    analysis = said_after(made, 4, "The puts are negative, which is wrong.")
    assert [f.is_serious for f in analysis.findings if f.kind == "doubted"] == [False]


@pytest.mark.parametrize(
    "message",
    [
        "Still negative prices.",
        "It still fails.",
        "Same result again.",
        "That is far too slow.",
        "The values don't match.",
    ],
)
def test_words_that_call_a_result_wrong(message: str) -> None:
    assert find_complaint(message)


@pytest.mark.parametrize("message", ["It still passes.", "Regular packages still work.", "Is anything wrong here?", ""])
def test_words_that_do_not(message: str) -> None:
    assert not find_complaint(message)


def test_words_of_excuse_and_of_intent() -> None:
    assert find_excuse("The one failure is unrelated to this.") and not find_excuse("I broke it.")
    assert says_expected("As expected, it fails.") and not says_expected("This is unexpected.")


# Tests that were changed to pass


def test_a_test_that_was_made_to_pass_is_no_repair() -> None:
    failing = ("pytest tests/test_a.py", FAILED, 1)
    bent = ("sed -i s/assertIn/assertNotIn/ tests/test_a.py", "")
    passing = ("pytest tests/test_a.py", PASSED)
    analysis = analysed(None, EDIT, failing, bent, passing, DONE)
    assert analysis.changed_tests([2], 4) == ["tests/test_a.py"]
    assert analysed(None, EDIT, failing, EDIT, passing, DONE).changed_tests([2], 4) == []
    done = distill_sync(attempt(None, EDIT, failing, bent, passing, ("git diff", "+b"), DONE), RulesAnalyst())
    assert "made to pass by changing the test itself" in done.feedback.report


# Recoveries


def test_looks_between_a_failure_and_its_recovery_do_not_mean_that_it_was_given_up() -> None:
    looks = [
        ("cat lib.py", "x"),
        ("cat other.py", "y"),
        ("git log", "z"),
        ("ls", "a"),
        ("ls src", "b"),
        ("ls lib", "c"),
    ]
    analysis = analysed(
        None, EDIT, ("pytest tests/test_a.py", FAILED, 1), *looks, EDIT, ("pytest tests/test_a.py", PASSED)
    )
    assert [one.recovery for one in analysis.attempts] == [10]


def test_inline_code_that_says_again_what_the_error_names_is_a_retry() -> None:
    lacking = "Traceback (most recent call last):\n  File \"<string>\", line 1\nNameError: name 'decode' is not defined"
    analysis = analysed(
        None, ("python -c 'print(decode(1))'", lacking, 1), ("python -c 'decode = str; print(decode(1))'", "1"), DONE
    )
    assert analysis.history.recovered_by(1) == 2
