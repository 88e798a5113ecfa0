"""Commands that a task names: which failures of them count, and in which spellings they are known again."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed

from dense.detectors.findings import Analysis
from dense.evidence.checks.expectations import expectations, wants_failing_test
from dense.evidence.checks.spellings import runs_alike
from dense.evidence.requirements import requirements
from dense.trajectory import Task

DONE = "It is done."
WRITES = ("printf 'import sys' > bill.py", "")


def open_serious(analysis: Analysis) -> list[str]:
    return [one.text for one in analysis.findings if one.is_serious and one.closed is None and one.kind != "unverified"]


@pytest.mark.parametrize(
    ("task", "command", "said"),
    [
        ("`python bill.py -1` must exit with code 4.", "python bill.py -1", "fails"),
        ("See to it that `./lock.sh x` ends, so that it exits with status 3.", "./lock.sh x", "fails"),
        ("`python bill.py --to nowhere` should print an error and return a non-zero status.", None, "fails"),
        ("`python bill.py x` must raise ValueError for letters.", None, "fails"),
        ("`python bill.py x` muss mit Exit-Code 2 enden.", None, "fails"),
        ("`python3 bill.py x` 必须返回退出码 2。", None, "fails"),
        ("The program must return 2 for `./bill a` and `./bill b`.", "./bill b", "fails"),
        ("These must fail:\n```bash\npython bill.py x\n```", "python bill.py x", "fails"),
        ("`./lock.sh a` must fail with exit code 3, `./lock.sh b` must succeed.", "./lock.sh a", "fails"),
        ("`./lock.sh a` must fail with exit code 3, `./lock.sh b` must succeed.", "./lock.sh b", None),
        ("Running `python bill.py all` crashes with an IndexError.", None, "symptom"),
        ("`make test` fails since Monday. Mend it.", None, "symptom"),
        ("`pytest -q` should pass, but currently three tests fail.", None, "symptom"),
        ("`python bill.py x` exits with status 1.", None, "unclear"),
        ("`make check` must not fail.", None, None),
        ("`make check` must run without any errors.", None, None),
        ("`python bill.py all` must exit with code 0.", None, None),
        ("`make check` must never exit with a non-zero status.", None, None),
        ("`python3 bill.py all` must end within 10 seconds.", None, None),
    ],
)
def test_what_a_task_says_of_a_command(task: str, command: str | None, said: str | None) -> None:
    told = expectations(requirements(Task(task)))
    assert (told.get(command) if command else next(iter(told.values()), None)) == said


def test_what_is_said_in_a_hostile_clause_takes_no_time() -> None:
    task = "`python bill.py x` must exit" + " code" * 50 + " with a" * 50 + "."
    assert expectations(requirements(Task(task))) == {}


def test_a_command_that_must_fail_and_does_is_no_failure() -> None:
    task = "Make `bill.py` refuse letters: `python bill.py x` must exit with code 2."
    assert open_serious(analysed(task, WRITES, ("python bill.py x", "not a number", 2), DONE)) == []


def test_a_command_that_must_fail_and_does_not_is_told_and_nothing_is_complete() -> None:
    task = "Make `bill.py` refuse letters: `python bill.py x` must exit with code 2."
    analysis = analysed(task, WRITES, ("python bill.py x", "0 paid", 0), DONE)
    assert not analysis.is_shown_done
    (told,) = [one for one in analysis.findings if "did not fail" in one.text]
    assert not told.is_serious


@pytest.mark.parametrize("last", [("python bill.py all", "IndexError: 3", 1), ("cat bill.py", "import sys", 0)])
def test_a_symptom_is_held_against_the_attempt_only_after_a_change(last: Action) -> None:
    task = "`python bill.py all` crashes with an IndexError. Mend `bill.py`."
    crash = ("python bill.py all", "IndexError: 3", 1)
    edit = ("sed -i s/3/2/ bill.py", "")
    assert bool(open_serious(analysed(task, crash, edit, last, DONE))) == (last == crash)


def test_a_check_that_must_pass_and_fails_is_still_open() -> None:
    task = "`python bill.py all` must pass."
    assert open_serious(analysed(task, WRITES, ("python bill.py all", "wrong sum", 1), DONE))


def test_what_the_agent_tries_with_more_arguments_is_not_what_the_task_names() -> None:
    task = "`python bill.py all` must print the sum."
    refused = ("python bill.py all --from nowhere", "nowhere: unknown", 1)
    fine = ("python bill.py all", "12", 0)
    assert open_serious(analysed(task, WRITES, fine, refused, DONE)) == []
    assert open_serious(analysed(task, WRITES, refused, ("python bill.py all", "unknown", 1), DONE))


@pytest.mark.parametrize(
    "task",
    [
        "Write a failing test for the sum into `tests/test_sum.py`. Leave `bill.py` as it is.",
        "Add `tests/test_sum.py`, a test that currently fails because of the wrong sum.",
    ],
)
def test_a_test_that_is_to_fail_may(task: str) -> None:
    write = ("printf 'def test_sum(): assert 0' > tests/test_sum.py", "")
    fails = ("pytest -q tests/test_sum.py", "FAILED tests/test_sum.py::test_sum\n1 failed in 0.1s", 1)
    assert open_serious(analysed(task, write, fails, DONE)) == []


def test_to_mend_failing_tests_is_no_wish_for_one() -> None:
    for text in ("Fix the failing tests.", "Make the failing test pass.", "Two tests fail. Mend them."):
        assert not wants_failing_test(text)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("python bill.py all", "python3 bill.py all"),
        ("python bill.py all", "cd /app && timeout 9 python3 -u bill.py all 2>&1 | tail -3"),
        ("python bill.py all", "/app/.venv/bin/python /app/bill.py all > out.txt"),
        ("./bill.sh --fast a.txt", "bash bill.sh --fast a.txt; echo done"),
        ("bash bill.sh", "./bill.sh"),
    ],
)
def test_a_command_is_known_in_other_spellings(command: str, text: str) -> None:
    assert runs_alike(command, text)


@pytest.mark.parametrize("text", ["python bill.py", "python bill.py all x", "python other.py all", "cat bill.py"])
def test_another_command_is_not(text: str) -> None:
    assert not runs_alike("python bill.py all", text)


@pytest.mark.parametrize("again", ["python3 bill.py all", "cd . && python3 -u bill.py all 2>&1"])
def test_a_pass_in_another_spelling_closes(again: str) -> None:
    task = "`python bill.py all` must pass."
    failed = ("python bill.py all", "wrong sum", 1)
    edit = ("sed -i s/3/2/ bill.py", "")
    assert open_serious(analysed(task, failed, edit, (again, "12", 0), DONE)) == []
    assert open_serious(analysed(task, failed, edit, ("python3 bill.py", "12", 0), DONE))


def test_the_same_name_in_another_folder_is_another_program() -> None:
    task = "`python /app/bill.py all` must pass."
    failed, edit = ("python /app/bill.py all", "wrong sum", 1), ("sed -i s/3/2/ /app/bill.py", "")
    assert open_serious(analysed(task, failed, edit, ("python3 /tmp/old/bill.py all", "12", 0), DONE))
