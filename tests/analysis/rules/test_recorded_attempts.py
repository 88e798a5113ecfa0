"""Small attempts that were really run (`tests/fixtures/make/attempts.py`), in the shapes in which agents record them:
what passed a hidden check is `complete`, what failed it never is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attempt_shapes import SHAPES, Recorded, read_as
from made_attempt import assess, found, state

ATTEMPTS: dict[str, Recorded] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "attempts.json").read_text(encoding="utf-8")
)
UNKNOWN_IN_ONE_BATCH = {"token-passes", "answer-printed-passes", "server-with-bad-request-passes"}
"""In one batch the agent types a value before it can have seen it, and a last request that fails spoils all of it."""
UNCHECKED_PROGRAMS = {
    *("server-passes", "server-localhost-passes", "server-with-bad-request-passes"),
    *("module-passes", "module-own-test-passes", "build-passes"),
}
"""The program ran, and nothing compared what it does with what the task asks for."""


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ATTEMPTS)
def test_complete_is_what_passed(name: str, shape: str, tmp_path: Path) -> None:
    made = ATTEMPTS[name]
    assert made["passed"] == name.endswith("-passes")
    is_expected = made["passed"] and not (shape == "terminus" and name in UNKNOWN_IN_ONE_BATCH)
    is_expected = is_expected and name not in UNCHECKED_PROGRAMS
    run = read_as(made, shape, tmp_path)
    assert (state(run) == "complete") == is_expected, assess(run).demands
    assert state(run) != "incomplete" or not made["passed"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("server-silent-fails", "port_silent"),
        ("c-program-too-large-fails", "limit_missed"),
        ("c-program-never-run-fails", "program_never_run"),
        ("summary-never-read-fails", "unverified_change"),
        ("named-check-fails", "required_check_failed"),
        ("announced-fails", "action_announced"),
        ("admitted-fails", "failure_admitted"),
        ("steps-left-fails", "failure_admitted"),
        ("conflict-fails", "conflict_left"),
    ],
)
def test_what_failed_is_found(name: str, code: str, shape: str, tmp_path: Path) -> None:
    if code == "action_announced" and shape not in ("claude_code", "codex_program"):
        return  # what ends with a hand-over announces nothing
    assert found(assess(read_as(ATTEMPTS[name], shape, tmp_path)), code)
