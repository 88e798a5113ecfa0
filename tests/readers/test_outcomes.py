"""Grades come back as outcomes, by a way of their own."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec

import dense
from dense.outcome import Outcome
from dense.readers import outcomes
from dense.readers.outcomes import read_outcomes
from dense.trajectory import Trajectory

JOBS = Path(__file__).parents[1] / "fixtures" / "atif" / "jobs"


def graded(job: str) -> Outcome:
    (outcome,) = read_outcomes(JOBS / job)
    return outcome


def test_a_pass_a_fail_and_a_time_out() -> None:
    assert (graded("basic").reward, graded("basic").passed) == (1, True)
    assert (graded("nop").reward, graded("nop").passed) == (0, False)
    timed_out = graded("timed-out")
    assert (timed_out.passed, timed_out.exception) == (False, "AgentTimeoutError")
    assert graded("oracle").verifier_output


def test_a_trial_that_was_not_graded_is_no_zero(tmp_path: Path) -> None:
    (tmp_path / "trial" / "agent").mkdir(parents=True)
    (tmp_path / "trial" / "result.json").write_text('{"trial_name": "t", "verifier_result": null}')
    (outcome,) = read_outcomes(tmp_path)
    assert (outcome.reward, outcome.passed) == (None, None)


def test_a_whole_folder_of_jobs() -> None:
    assert len(list(read_outcomes(JOBS))) == len(list(JOBS.glob("*/*/result.json")))


def test_no_trajectory_leads_to_an_outcome() -> None:
    """Neither by its fields, down to the last one, nor by what the readers import."""
    schema = msgspec.json.schema(Trajectory)
    assert not {"Outcome"} & set(schema["$defs"])
    readers = Path(outcomes.__file__).parent
    for path in readers.rglob("*.py"):
        if path.name != "outcomes.py":
            names = [node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
            assert not {"dense.outcome", "dense.readers.outcomes"} & set(names), path
    assert "reward" not in msgspec.json.encode(next(dense.read(JOBS / "basic"))).decode()
