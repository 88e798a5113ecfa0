"""The last program: failed, or with an output that is called wrong."""

from __future__ import annotations

import msgspec
import pytest
from made_attempt import Action, analysed, assess, attempt, described, found, the

from dense.analysis.detectors.assessment import TraceAssessment
from dense.trajectory import Trajectory

EDIT = ("sed -i s/a/b/ app.py", "")
CRASH = "Traceback (most recent call last):\n  File \"lib.py\", line 1\nKeyError: 'x'"
DONE = "It is done."


def said_after(trajectory: Trajectory, action: int, message: str) -> TraceAssessment:
    steps = list(trajectory.steps)
    steps[action] = msgspec.structs.replace(steps[action], message=message)
    return assess(msgspec.structs.replace(trajectory, steps=tuple(steps)))


def test_the_last_program_that_failed_is_open_until_one_works() -> None:
    crash = ("python app.py", CRASH, 1)
    assessment = analysed(None, EDIT, crash, DONE)
    assert the(assessment, "program_failed").is_serious
    assert "KeyError: 'x'" in described(assessment, "program_failed")
    assert not found(analysed(None, EDIT, crash, EDIT, ("python app.py", "fine"), DONE), "program_failed")


def test_a_program_that_was_written_and_run_in_one_action_is_doubtful() -> None:
    new = "cat > try.py <<'E'\nimport lib\nE\npython try.py"
    last = the(analysed(None, EDIT, ("python app.py", "fine"), (new, CRASH, 1), DONE), "program_failed")
    assert (last.evidence, last.is_serious) == ((3,), False)
    assert not found(analysed(None, EDIT, ("python app.py", CRASH, 1), (new, "fine"), DONE), "program_failed")


def test_a_configure_run_that_fails_after_the_build_is_the_last_program() -> None:
    make = ("make", "make: *** [Makefile:192: build] Error 2", 2)
    error = 'CMake Error at CMakeLists.txt:28 (find_package):\n  Could not find a package "GTest"'
    assessment = analysed(None, EDIT, make, ("cmake -B .", error, 1), ("apt-get install -y x", "E: no", 100), DONE)
    last = the(assessment, "program_failed")
    assert (last.evidence, last.is_serious) == ((3,), True)
    assert 'Could not find a package "GTest"' in described(assessment, "program_failed")
    assert the(analysed(None, EDIT, make, ("cmake -B .", "-- done"), DONE), "program_failed").evidence == (2,)


@pytest.mark.parametrize(
    "run",
    [
        ("python app.py", "Traceback (most recent call last):\nModuleNotFoundError: No module named 'psycopg2'", 1),
        ("python run.py", f"{CRASH}\ncaught\nall good", 0),
    ],
)
def test_a_missing_package_and_exit_code_0_are_no_failure(run: Action) -> None:
    assert not found(analysed(None, EDIT, run, DONE), "program_failed")


def test_a_pipe_hides_the_exit_code() -> None:
    assert found(analysed(None, EDIT, ("python run.py | tail -5", CRASH, 0), DONE), "program_failed")


def test_a_failure_that_the_agent_expected_is_none() -> None:
    made = attempt(None, EDIT, ("python run.py", CRASH, 1), ("git diff", "+b"), DONE)
    assert not found(said_after(made, 2, "As expected, it raises KeyError."), "program_failed")
    assert found(said_after(made, 2, "Let me look at the diff."), "program_failed")


def test_a_failure_of_what_was_changed_later_is_none() -> None:
    crash = 'Traceback (most recent call last):\n  File "app.py", line 1\nKeyError'
    assert not found(analysed(None, EDIT, ("python app.py", crash, 1), EDIT, DONE), "program_failed")


def test_an_output_that_the_agent_calls_wrong_is_doubted() -> None:
    made = attempt(None, EDIT, ("python solve.py", "put: -3.1\ndone"), ("ls", "x"), DONE)
    doubted = said_after(made, 2, "The puts are negative, which is wrong.")
    assert not the(doubted, "output_doubted").is_serious
    assert "The puts are negative" in described(doubted, "output_doubted")
    assert not found(said_after(made, 2, "Now let me look around."), "output_doubted")


def test_an_output_that_reports_a_failure_with_exit_code_0_is_doubted() -> None:
    own = ("python test_edges.py", "PASS\nFAIL. Expected [(x, 2)]\nPASS")
    assessment = analysed("Fix it.", EDIT, ("echo 1 > test_edges.py", ""), own, ("rm test_edges.py", ""), DONE)
    assert not the(assessment, "output_doubted").is_serious
    words = described(assessment, "output_doubted")
    assert "FAIL. Expected [(x, 2)]" in words and "removed at a4" in words
    passed = ("python test_edges.py", "PASS\nPASS")
    assert not found(analysed("Fix it.", EDIT, own, EDIT, passed, DONE), "output_doubted")


def test_a_probe_that_fails_after_something_else_worked_is_a_doubt() -> None:
    probe, works = ("python -c 'import lib; lib.x()'", CRASH, 1), ("python app.py", "fine")
    assert not the(analysed(None, EDIT, works, probe, DONE), "program_failed").is_serious
    assert the(analysed(None, EDIT, probe, DONE), "program_failed").is_serious
    assert the(analysed(None, works, EDIT, probe, DONE), "program_failed").is_serious
    named = ("python main.py", CRASH, 1)
    assert the(analysed("`main.py` must run.", EDIT, works, named, DONE), "program_failed").is_serious


def test_a_call_without_an_answer_hides_no_doubt_and_recovers_nothing() -> None:
    run = ("python app.py", "put -0.000000")
    made = attempt(None, EDIT, ("python app.py", CRASH, 1), EDIT, run, EDIT, run)
    steps = [*made.steps[:-1], msgspec.structs.replace(made.steps[-1], observations=())]
    assessment = said_after(msgspec.structs.replace(made, steps=tuple(steps)), 4, "The values are still wrong.")
    assert the(assessment, "output_doubted").evidence == (4,)
    assert assessment.evidence.history.recovered_by(2) is None


def test_words_on_earlier_attempts_are_about_the_last_result() -> None:
    made = attempt(None, EDIT, ("python app.py", "NO_CHANGE: no suitable classes found"), EDIT, DONE)
    said = said_after(made, 2, "THOUGHT: The previous patch attempts failed because the pattern was over-escaped.")
    assert "previous patch attempts failed" in the(said, "output_doubted").text("complaint")
