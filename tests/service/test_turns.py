"""Which request of a session feedback is made for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import DenseError
from dense.service import select_turn
from dense.trajectory import Trajectory

FIXTURES = Path(__file__).parents[1] / "fixtures"


def session(tmp_path: Path, *said: str) -> Trajectory:
    """A chat: `> text` is the user's, everything else the agent's."""
    messages: list[dict[str, Any]] = [
        {"role": "user" if text.startswith("> ") else "assistant", "content": text.removeprefix("> ")} for text in said
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages))
    return next(dense.read(path))


def instruction(trajectory: Trajectory) -> str:
    assert trajectory.task is not None
    return trajectory.task.instruction


MANY = ("> hi", "Hello.", "> Sort it.", "Sorted.", "Checked.", "> Now reverse it.", "Done.")


def test_turns_say_who_asked_what_and_where(tmp_path: Path) -> None:
    turns = session(tmp_path, *MANY).turns
    assert [(turn.text, turn.step) for turn in turns] == [("hi", 0), ("Sort it.", 1), ("Now reverse it.", 3)]


def test_the_last_request(tmp_path: Path) -> None:
    last = select_turn(session(tmp_path, *MANY), "last")
    assert [step.message for step in last.steps] == ["Done."]
    assert instruction(last).startswith("Now reverse it.\n")
    assert "Request 2: Sort it." in instruction(last)
    assert last.task and last.task.last_request == "Now reverse it."


def test_a_request_in_the_middle_ends_before_the_next(tmp_path: Path) -> None:
    second = select_turn(session(tmp_path, *MANY), 2)
    assert [step.message for step in second.steps] == ["Sorted.", "Checked."]
    assert not [seen for step in second.steps for seen in step.observations]


def test_all_requests_with_the_last_one_marked(tmp_path: Path) -> None:
    whole = select_turn(session(tmp_path, *MANY), "all")
    assert len(whole.steps) == 4
    assert instruction(whole).endswith("Last request that the agent worked on (3 of 3):\nNow reverse it.")
    assert "Request 1:\nhi" in instruction(whole)


def test_a_request_that_nobody_worked_on_is_not_the_last(tmp_path: Path) -> None:
    read = session(tmp_path, *MANY, "> Thanks!")
    assert select_turn(read, "last").task == select_turn(session(tmp_path, *MANY), "last").task
    assert instruction(select_turn(read, "all")).endswith("Asked after that:\nThanks!")
    with pytest.raises(DenseError, match="did nothing on request 4 of 4"):
        select_turn(read, 4)


def test_one_request_stays_as_it_is(tmp_path: Path) -> None:
    read = session(tmp_path, "> Go.", "Done.")
    assert select_turn(read, "last") is select_turn(read, "all") is select_turn(read, 1) is read
    with pytest.raises(DenseError, match="only one request, not 2"):
        select_turn(read, 2)


def test_a_request_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="3 requests, not 7"):
        select_turn(session(tmp_path, *MANY), 7)


def test_many_requests_are_listed_in_part(tmp_path: Path) -> None:
    said = [text for number in range(40) for text in (f"> Request about {number}.", "Done.")]
    task = instruction(select_turn(session(tmp_path, *said), "all"))
    assert "[27 further requests are left out here]" in task
    assert "Request 1:\nRequest about 0." in task
    assert "Request 39:\nRequest about 38." in task
    assert "about 20." not in task


def test_a_compacted_session_is_one_session() -> None:
    (path,) = (FIXTURES / "claude-code" / "projects" / "-app").glob("22222222-*.jsonl")
    read = next(dense.read(path))
    assert len(read.turns) == 2, "neither the command nor the summary is a request"
    assert all(turn.timestamp for turn in read.turns[1:])
    last = select_turn(read, "last")
    assert 0 < len(last.steps) < len(read.steps)
