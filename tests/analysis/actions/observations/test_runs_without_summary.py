"""What is known of a test run whose summary a quiet mode or a pipe took away, by recordings of real runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from made_attempt import evidence_of

from dense.analysis.actions.observations.result import ObservedResult

type Look = Callable[..., ObservedResult]

FIXTURES = Path(__file__).parents[3] / "fixtures"
MODES = json.loads((FIXTURES / "test-runner-modes.json").read_text())
CUT_RUNNERS = ("pytest", "unittest", "cargo", "go", "jest")
"""Runners whose failures are known before their summary."""
MODE_RESULTS: dict[str, tuple[int | None, int] | None] = {
    "pytest: quieter, mixed": (1, 1),
    "pytest: quieter, passing": (1, 0),
    "pytest: quieter, cannot import": (0, 1),
    "pytest: quieter, one cannot import": (1, 1),
    "pytest: quieter, stops": (None, 1),
    "pytest: cannot import": (0, 1),
    "pytest: quiet, cannot import": (0, 1),
    "pytest: no traceback": (1, 1),
    "pytest: head": (1, 1),
    "pytest: verbose, head": (None, 1),
    "pytest: verbose, passing, head": None,
    "pytest: quiet, head": (1, 1),
    "pytest: tail": (1, 1),
    "pytest: only the failed": (None, 1),
    "pytest: only the names": (None, 1),
    "pytest: list": None,
    "pytest: no such file": (0, 0),
    "pytest: no such option": None,
    "unittest: head": (None, 1),
    "unittest: verbose, head": (None, 1),
    "unittest: tail": (None, 1),
    "unittest: passing, tail": None,
    "unittest: passing, three lines": (1, 0),
    "unittest: cannot import": (0, 1),
}
"""How many tests passed and failed; None if the output does not say."""


def test_every_recorded_mode_is_tested() -> None:
    assert MODES.keys() == MODE_RESULTS.keys()


@pytest.mark.parametrize("mode", MODE_RESULTS)
def test_a_quiet_or_cut_run_is_counted_as_far_as_it_is_shown(mode: str, after: Look) -> None:
    run = MODES[mode]
    result = after(run["command"], run["output"], code=run["exit_code"])
    expected = MODE_RESULTS[mode]
    assert [(one.passed, one.failed) for one in result.tests] == ([expected] if expected else [])
    assert all(one.line in run["output"] or " ".join(one.line.split()) == one.line for one in result.tests)


@pytest.mark.parametrize("mode", MODE_RESULTS)
def test_no_check_is_called_passed_above_a_failure(mode: str) -> None:
    run = MODES[mode]
    evidence = evidence_of("Fix it.", (run["command"], run["output"], run["exit_code"]), "Done.")
    expected = MODE_RESULTS[mode]
    is_pass = expected is not None and expected[0] != 0 and expected[1] == 0
    assert evidence.fact(1).has_passed == is_pass
    assert [check.has_passed for check in evidence.checks if check.has_passed is not None] == (
        [is_pass] if expected and expected[0] != 0 else []
    )


@pytest.mark.parametrize("name", CUT_RUNNERS)
def test_a_failure_is_known_if_the_pipe_ends_before_the_summary(name: str, after: Look) -> None:
    run = json.loads((FIXTURES / "test-runners" / f"{name}.json").read_text())["mixed"]
    (whole,) = after(run["command"], run["output"], code=run["exit_code"]).tests
    head = run["output"][: run["output"].index(whole.line)]
    (cut,) = after(f"{run['command']} 2>&1 | head -n {head.count(chr(10))}", head, code=0).tests
    assert (cut.runner, cut.failed) == (whole.runner, whole.failed)
