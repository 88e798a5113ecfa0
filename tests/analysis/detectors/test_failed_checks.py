"""Failed checks: what opens a finding, what resolves it, what makes it doubtful."""

from __future__ import annotations

import msgspec
import pytest
from made_attempt import Action, analysed, assess, attempt, described, found, state, the

from dense.analysis.detectors.assessment import TraceAssessment
from dense.trajectory import Trajectory

EDIT = ("sed -i s/a/b/ app.py", "")
FAILED = "F.\nFAILED tests/test_app.py::test_sum - assert 1 == 2\n1 failed, 1 passed in 0.1s"
FAILS = ("pytest -q tests/test_app.py", FAILED, 1)
PASSES = ("pytest -q tests/test_app.py", "..\n2 passed in 0.1s")
UNITTEST = "FAIL: test_one (tests.test_a.A)\nRan 31 tests in 1s\n\nFAILED (failures=1)"
OK = "Ran 31 tests in 1s\n\nOK"
DONE = "It is done and works."


def said_after(trajectory: Trajectory, action: int, message: str) -> TraceAssessment:
    """The same with what the agent said in the step after an action."""
    steps = list(trajectory.steps)
    steps[action] = msgspec.structs.replace(steps[action], message=message)
    return assess(msgspec.structs.replace(trajectory, steps=tuple(steps)))


def test_a_check_that_fails_after_a_change_is_open() -> None:
    finding = the(analysed(None, EDIT, FAILS, DONE), "check_failed")
    assert finding.is_open and finding.is_serious
    assert (finding.subject, finding.evidence) == ("pytest -q tests/test_app.py", (2,))
    assert finding.texts("tests") == ("tests/test_app.py::test_sum",)


@pytest.mark.parametrize(
    ("failing", "output", "passing", "shown"),
    [
        ("pytest tests/test_app.py", FAILED, "pytest -q", "40 passed in 1s"),
        ("pytest tests/test_app.py", FAILED, "pytest tests", "40 passed in 1s"),
        ("pytest tests/", FAILED, "python3.9 -m pytest tests/", "2 passed in 1s"),
        ("pytest tests/test_a.py", FAILED, "pytest -W error::UserWarning tests/test_a.py", "2 passed in 1s"),
        ("pytest tests/test_a.py::test_sum", FAILED, "pytest tests/test_a.py::test_sum -x", "1 passed in 1s"),
        ("python runtests.py forms", UNITTEST, "./runtests.py forms --parallel 1", OK),
        ("python manage.py test app", UNITTEST, "python manage.py test", OK),
        ("python manage.py test app.tests.A", UNITTEST, "python manage.py test app", OK),
    ],
)
def test_a_later_pass_that_covers_it_resolves_it(failing: str, output: str, passing: str, shown: str) -> None:
    finding = the(analysed(None, EDIT, (failing, output, 1), EDIT, (passing, shown), DONE), "check_failed")
    assert finding.resolution == 4


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python app.py", "fine"),
        ("pytest -q tests/test_other.py", "3 passed in 0.1s"),
        ("pytest -q tests/test_app.py::test_max", "1 passed in 0.1s"),
        ("pytest -q tests/test_app.py -k 'not test_sum'", "1 passed in 0.1s"),
        ("pytest -q --deselect tests/test_app.py::test_sum", "1 passed in 0.1s"),
        ("./reproduce.sh", "1 passed in 0.1s"),
    ],
)
def test_a_pass_of_something_else_does_not(command: str, output: str) -> None:
    finding = the(analysed(None, EDIT, FAILS, EDIT, (command, output), DONE), "check_failed")
    assert finding.is_open and finding.is_serious


def test_a_module_that_passes_does_not_resolve_the_others() -> None:
    part = ("python runtests.py admin", OK)
    assert the(analysed(None, EDIT, ("python runtests.py forms", UNITTEST, 1), part, DONE), "check_failed").is_open


def test_the_word_of_the_agent_resolves_nothing() -> None:
    said = "All tests pass now, everything is fixed."
    assert state(attempt("Make the tests pass.", EDIT, FAILS, EDIT, said)) == "incomplete"
    assert the(analysed(None, EDIT, FAILS, EDIT, said), "check_failed").is_open


def test_a_check_that_failed_before_any_change_is_doubtful_unless_the_task_names_it() -> None:
    assessment = analysed(None, FAILS, EDIT, ("git diff", "-a\n+b"), DONE)
    assert not the(assessment, "check_failed").is_serious
    assert "before anything was changed" in described(assessment, "check_failed")
    task = "Make `app.py` fast. `python3 check_speed.py` must report that it stays within 2 seconds."
    slow = ("python3 check_speed.py", "5.9 s, limit 2.0 s: TOO SLOW", 1)
    assert the(analysed(task, slow, EDIT, ("python3 app.py", "ok"), DONE), "required_check_failed").opens_issue


def test_a_failure_that_was_there_before_is_doubtful() -> None:
    finding = the(analysed(None, FAILS, EDIT, FAILS, DONE), "check_failed")
    assert finding.evidence == (3,) and not finding.is_serious


@pytest.mark.parametrize(
    "actions",
    [
        [("git stash && pytest -q tests/test_app.py; git stash pop", FAILED, 1)],
        [("git stash", "Saved"), FAILS, ("git stash pop", "Dropped")],
        [("cp app.py /tmp/app.py && git checkout app.py", "Updated 1 path"), FAILS, ("cp /tmp/app.py app.py", "")],
    ],
)
def test_a_failure_without_the_changes_is_not_blamed_on_them(actions: list[Action]) -> None:
    assessment = analysed(None, EDIT, FAILS, *actions, DONE)
    finding = the(assessment, "check_failed")
    assert finding.evidence == (2,) and not finding.is_serious
    assert "without the changes" in described(assessment, "check_failed")


def test_a_pass_while_the_changes_are_reverted_resolves_nothing() -> None:
    stashed = ("git stash && pytest -q tests/test_app.py; git stash pop", "2 passed in 0.1s")
    assert the(analysed(None, EDIT, FAILS, stashed, DONE), "check_failed").is_open


def test_a_check_after_the_changes_came_back_counts_again() -> None:
    back = ("git stash pop && pytest -q tests/test_app.py", FAILED, 1)
    assert the(analysed(None, EDIT, ("git stash", "Saved"), PASSES, back, DONE), "check_failed").is_serious


def test_an_excuse_of_the_agent_makes_it_doubtful() -> None:
    made = attempt(None, EDIT, FAILS, ("git diff", "+b"), DONE)
    excused = said_after(made, 2, "This failure is pre-existing and unrelated to my change.")
    assert not the(excused, "check_failed").is_serious
    assert "pre-existing" in described(excused, "check_failed")
    assert the(said_after(made, 2, "Let me look at the diff."), "check_failed").is_serious


def test_a_check_of_the_agents_own_that_it_removed_is_doubtful() -> None:
    written = ("cat > verify_fix.py <<'EOF'\nassert f() == 3\nEOF", "")
    failing = ("python verify_fix.py", "AssertionError: expected 3", 1)
    assert the(analysed(None, EDIT, written, failing, DONE), "check_failed").is_serious
    removed = analysed(None, EDIT, written, failing, ("rm verify_fix.py", ""), DONE)
    assert not the(removed, "check_failed").is_serious
    assert "was removed at a4" in described(removed, "check_failed")


@pytest.mark.parametrize("command", ["npx tsc --noEmit", "make lint", "npm run lint", "pre-commit run -a"])
def test_a_check_of_program_text_is_doubtful(command: str) -> None:
    complaint = (command, "a.ts:1: error TS2353: unknown\nError: 1 problem", 1)
    assert not any(one.is_serious for one in analysed(None, EDIT, complaint, DONE).findings)


@pytest.mark.parametrize(
    "could_not_run",
    [
        ("pytest -q", "/usr/bin/python3: No module named pytest", 1),
        ("pytest -q", "bash: pytest: command not found", 127),
        ("pytest -q tests", "ERROR tests/test_app.py\n2 errors in 0.3s", 2),
        ("pytest -q tests/none", "no tests ran in 0.00s", 5),
        ("npm test -- text.test.ts", "Request was aborted.", 1),
        ("./test", "bash: /opt/build/bin/ponyc: No such file or directory", 127),
        ("make test", "make: pytest: Command not found\nmake: *** [Makefile:3: test] Error 127", 2),
    ],
)
def test_a_check_that_could_not_run_says_nothing(could_not_run: Action) -> None:
    assert not found(analysed(None, EDIT, could_not_run, DONE), "check_failed")


def test_a_failure_by_unittest_is_reported_by_its_verdict() -> None:
    assessment = analysed(None, EDIT, ("python -m unittest", UNITTEST, 1), DONE)
    assert "FAILED (failures=1)" in described(assessment, "check_failed")


def test_a_named_check_with_other_arguments_is_another_command() -> None:
    task = "`python bill.py all` must print the sum."
    write = ("printf 'import sys' > bill.py", "")
    other = ("python bill.py all --from nowhere", "nowhere: unknown", 1)
    fine = ("python bill.py all", "12", 0)
    assert not found(analysed(task, write, fine, other, DONE), "check_failed", "required_check_failed")
    assert found(analysed(task, write, other, ("python bill.py all", "unknown", 1), DONE), "required_check_failed")


@pytest.mark.parametrize("again", ["python3 bill.py all", "cd . && python3 -u bill.py all 2>&1"])
def test_a_named_check_that_passes_in_another_spelling_resolves_it(again: str) -> None:
    task = "`python bill.py all` must pass."
    failed, edit = ("python bill.py all", "wrong sum", 1), ("sed -i s/3/2/ bill.py", "")
    assert not the(analysed(task, failed, edit, (again, "12", 0), DONE), "required_check_failed").is_open
    assert the(analysed(task, failed, edit, ("python3 bill.py", "12", 0), DONE), "required_check_failed").is_open


def test_a_check_of_the_agents_own_that_another_one_overtakes_is_doubtful() -> None:
    own = ("cat > check_a.py <<'E'\nassert f()\nE", "")
    fails, other = ("python check_a.py", "AssertionError", 1), ("pytest -q tests", "3 passed in 0.1s")
    assert not the(analysed(None, EDIT, own, fails, other, DONE), "check_failed").is_serious
    assert the(analysed(None, EDIT, own, fails, DONE), "check_failed").is_serious
    assert the(analysed(None, EDIT, own, fails, other, EDIT, DONE), "check_failed").is_serious
    assert "another one passed at a4" in described(analysed(None, EDIT, own, fails, other, DONE), "check_failed")


def test_another_text_of_code_does_not_resolve_a_failure() -> None:
    fails, other = ("python -c 'assert f()'", "AssertionError", 1), ("python -c 'assert g()'", "")
    open_checks = [one for one in analysed(None, EDIT, fails, other, DONE).findings if one.code == "check_failed"]
    assert all(one.is_open for one in open_checks)


def test_a_failure_after_a_pass_of_the_same_work_is_a_doubt() -> None:
    provoked = ("cp -r . /tmp/c && cd /tmp/c && rm app.py; pytest -q tests/test_app.py", FAILED, 1)
    finding = the(
        assessment := analysed("`pytest -q tests/test_app.py` must pass.", EDIT, PASSES, provoked, DONE), "check_failed"
    )
    assert finding.is_open and not finding.is_serious
    assert "It had passed at a2" in described(assessment, "check_failed")
    assert the(analysed(None, EDIT, PASSES, EDIT, FAILS, DONE), "check_failed").is_serious


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (
            "./app /nope; gcc -Wall -o app app.c && echo built",
            "app: cannot read /nope: No such file or directory\nbuilt",
        ),
        ("(python3 server.py &) ; curl -i localhost:80/nope", "HTTP/1.0 404 Not Found\nnothing here"),
    ],
)
def test_what_another_program_says_fails_no_check(command: str, output: str) -> None:
    task = "Write `app.c`. It must build with `gcc -Wall -o app app.c`, and `python3 server.py` must work."
    assert not found(analysed(task, ("cat > app.c", ""), (command, output), DONE), "check_failed")
