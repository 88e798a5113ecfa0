"""Which request of a session feedback is made for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import dense
from dense.errors import DenseError
from dense.service import select_turn
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

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


def work(*said: str, steps: int = 6) -> Trajectory:
    """A session in which so many calls follow each thing that the user said."""
    made: list[Step] = []
    for number, text in enumerate((*said[1:], "")):
        for index in range(steps):
            call = ToolCall("bash", {"command": f"make part{number}-{index}"}, f"{number}-{index}")
            made.append(Step(Source("made"), calls=(call,), observations=(Observation("ok", call.id),)))
        if text:
            observation = Observation(text, origin="user", is_request=True)
            made.append(Step(Source("made"), "Done.", observations=(observation,)))
    return Trajectory("made", "made", Source("made"), task=Task(said[0]), steps=tuple(made))


SESSION = ("Sort the list by date.", "Now reverse the order of it.", "Write the tests for both, please.")


def test_the_last_request_is_the_task() -> None:
    last = select_turn(work(*SESSION), "last")
    assert len(last.steps) == 6
    assert instruction(last) == SESSION[-1]
    assert last.task and last.task.last_request == SESSION[-1]
    assert [(turn.text, turn.step) for turn in last.task.earlier] == [(text, -1) for text in SESSION[:-1]]


def test_all_requests_have_the_last_one_as_their_task() -> None:
    whole = select_turn(work(*SESSION), "all")
    assert instruction(whole) == SESSION[-1]
    assert whole.task and [(turn.text, turn.step) for turn in whole.task.earlier] == [(SESSION[0], 0), (SESSION[1], 7)]
    assert [turn.text for turn in whole.turns] == list(SESSION), "the same requests as before"


def test_an_answer_goes_on_with_the_request_before_it() -> None:
    """So do repetitions, and thanks are no request."""
    asked = "We are ready to release a new version. Do you know how?"
    said = (*SESSION, asked, "yeah, do all of what you listed", "continue", asked, "Great, thank you!")
    made = work(*said[:-1])
    closing = Step(Source("made"), "Done.", observations=(Observation(said[-1], origin="user", is_request=True),))
    last = select_turn(replace(made, steps=(*made.steps, closing)), "last")
    assert instruction(last) == f"{asked}\n\nyeah, do all of what you listed\n\ncontinue"
    assert len(last.steps) == 28


def test_a_repeated_request_is_listed_once() -> None:
    whole = select_turn(work(SESSION[0], SESSION[1], SESSION[0], SESSION[2]), "all")
    assert whole.task and [turn.text for turn in whole.task.earlier] == list(SESSION[:2])


def test_a_request_in_the_middle_ends_before_the_next(tmp_path: Path) -> None:
    second = select_turn(session(tmp_path, *MANY), 2)
    assert [step.message for step in second.steps] == ["Sorted.", "Checked."]
    assert not [seen for step in second.steps for seen in step.observations]


def test_in_a_dialog_all_that_the_user_said_is_the_task(tmp_path: Path) -> None:
    whole = select_turn(session(tmp_path, *MANY, "> Thanks!", "Bye.", "> See you soon."), "all")
    assert len(whole.steps) == 5
    assert instruction(whole) == "hi\n\nSort it.\n\nNow reverse it."
    assert whole.task and whole.task.last_request == "Now reverse it."


def test_a_request_that_nobody_worked_on_is_not_the_last() -> None:
    steps = work(*SESSION).steps
    unanswered = Step(Source("made"), "Done.", observations=(Observation("And undo.", origin="user", is_request=True),))
    read = replace(work(*SESSION), steps=(*steps, unanswered))
    assert instruction(select_turn(read, "last")).startswith(SESSION[-1])
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


def test_many_requests_are_listed_in_part() -> None:
    task = select_turn(work(*[f"Request about {number}." for number in range(40)]), "all").task
    assert task is not None
    assert task.instruction == "Request about 39."
    assert [turn.text for turn in task.earlier] == [f"Request about {number}." for number in (0, *range(28, 39))]


def test_a_compacted_session_is_one_session() -> None:
    (path,) = (FIXTURES / "claude-code" / "projects" / "-app").glob("22222222-*.jsonl")
    read = next(dense.read(path))
    assert len(read.turns) == 2, "neither the command nor the summary is a request"
    assert all(turn.timestamp for turn in read.turns[1:])
    last = select_turn(read, "last")
    assert 0 < len(last.steps) < len(read.steps)
