"""The agent's own plan."""

from __future__ import annotations

import pytest
from made_attempt import assess, attempt, described, found, the, trajectory

from dense.trajectory import Observation, Source, Step, ToolCall, Trajectory


def planned(status: str, name: str = "TodoWrite", field: str = "todos", words: str = "content") -> Trajectory:
    items = [{words: "Login page", "status": "completed"}, {words: "Signup page", "status": status}]
    plan = Step(Source("made"), "", "", (ToolCall(name, {field: items}, "p"),), (Observation("noted", "p"),))
    made, last = attempt("Build both pages.", ("echo hi > login.html", ""), "The login page is ready.").steps
    return trajectory("Build both pages.", made, plan, last)


@pytest.mark.parametrize(
    "run", [planned("pending"), planned("pending", "update_plan", "plan", "step"), planned("not_started")]
)
def test_an_item_that_was_not_started_is_reported(run: Trajectory) -> None:
    finding = the(assess(run), "plan_unfinished")
    assert finding.texts("items") == ("Signup page",) and not finding.is_serious
    assert '"Signup page"' in described(assess(run), "plan_unfinished")


@pytest.mark.parametrize("status", ["completed", "in_progress", "cancelled"])
def test_an_item_that_was_started_is_not(status: str) -> None:
    assert not found(assess(planned(status)), "plan_unfinished")


def test_to_stop_right_behind_such_a_plan_is_no_hand_over() -> None:
    made, plan, _ = planned("pending").steps
    assessment = assess(trajectory("Build both pages.", made, plan))
    assert assessment.evidence.ending.kind == "broken_off"
    assert found(assessment, "plan_unfinished") and found(assessment, "ended_without_handover")
