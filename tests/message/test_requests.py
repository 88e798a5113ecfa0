"""Requests of a session: the last one first, what came before in a line each."""

from __future__ import annotations

from dense.analysis.actions.action import Actions
from dense.analysis.rules import RulesAnalyst
from dense.message.budget import SESSION_BUDGET, budgets_for
from dense.message.requests import session_requests
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

ASKED = ("Rename the folder.", "/export", "Now update the scripts.")


def session(actions: int, *asked: str) -> Trajectory:
    """So many edits, then what the user says, for each text; the last one is followed by edits alone."""
    steps: list[Step] = []
    for said in (*asked, ""):
        for number in range(actions):
            call = ToolCall("bash", {"command": f"echo {len(steps)} > file{number}.txt"}, str(len(steps)))
            steps.append(Step(Source("made"), "", "", (call,), (Observation("x" * 4_000, str(len(steps))),)))
        if said:
            steps.append(Step(Source("made"), "Done.", observations=(_said(said),)))
    return Trajectory("made", "made", Source("made"), task=Task("Tidy up."), steps=tuple(steps))


def _said(text: str) -> Observation:
    return Observation(text, origin="user", is_request=not text.startswith("/"))


def test_each_request_has_its_actions() -> None:
    """What a program writes in the user's place is no request."""
    trajectory = session(6, *ASKED)
    found = session_requests(trajectory.task, Actions(trajectory.steps))
    assert [(one.first, one.last, one.words) for one in found] == [
        (1, 7, "Tidy up"),
        (8, 21, "Rename the folder"),
        (22, 27, "Now update the scripts"),
    ]


def test_the_report_begins_with_the_last_request() -> None:
    trajectory = session(6, *ASKED)
    lines = distill_sync(trajectory, RulesAnalyst()).feedback.report.splitlines()
    assert lines[1].startswith('last-request a22-a27: "Now update the scripts')
    assert any('a8-a21: "Rename the folder' in line for line in lines)
    assert budgets_for(None, trajectory).complete == SESSION_BUDGET


def test_a_dialog_is_no_session() -> None:
    trajectory = session(1, *["Yes, please."] * 6)
    assert session_requests(trajectory.task, Actions(trajectory.steps)) == []
    assert budgets_for(None, session(20)).complete > SESSION_BUDGET
