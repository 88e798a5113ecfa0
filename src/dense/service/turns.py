"""Which request of a session feedback is made for: the last one, one of them, or all.

A session of a person and an agent has many requests. Distilled as a whole, its task is all of them with the last one
marked; distilled by request, its task is that request with the earlier ones as context, and its steps are those that
answer it."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from dense.errors import DenseError, WrongUsage
from dense.text.clip import clip_end
from dense.text.numbers import whole
from dense.trajectory import Step, Task, Trajectory, Turn, Usage

type TurnChoice = Literal["last", "all"] | int

MAX_LISTED = 12
"""So many earlier requests are listed: the first, and those right before."""
MAX_EARLIER_CHARS = 2_000
"""What is listed of an earlier request."""
MAX_CONTEXT_CHARS = 240
"""What is listed of an earlier request if the task is another one."""


def parse_turn(text: str) -> TurnChoice:
    """A choice from the command line: `last`, `all` or a number from 1."""
    named: dict[str, TurnChoice] = {"last": "last", "all": "all"}
    if text in named:
        return named[text]
    if (number := whole(text)) is not None and number >= 1:
        return number
    raise WrongUsage(f"--turn {text}: say last, all, or the number of a request, from 1")


def select_turn(trajectory: Trajectory, choice: TurnChoice) -> Trajectory:
    """The trajectory of one request, or of all; the same one if there was only one.

    `last` is the last request that the agent worked on. Raises `DenseError` for a request that is not there."""
    turns = trajectory.turns
    if len(turns) == 1:
        if choice in ("last", "all", 1):
            return trajectory
        raise DenseError(f"{trajectory.source}: there is only one request, not {choice}")
    count = len(trajectory.steps)
    last = max((index for index, turn in enumerate(turns) if turn.step < count), default=0)
    if choice == "all":
        return replace(trajectory, task=_all(turns, last, trajectory.task))
    if choice == "last":
        number = last
    elif choice <= len(turns):
        number = choice - 1
    else:
        raise DenseError(f"{trajectory.source}: there are {len(turns)} requests, not {choice}")
    end = turns[number + 1].step if number + 1 < len(turns) else count
    steps = _without_next(trajectory.steps[turns[number].step : end])
    if not steps:
        raise DenseError(f"{trajectory.source}: the agent did nothing on request {number + 1} of {len(turns)}")
    return replace(trajectory, task=_one(turns, number, trajectory.task), steps=steps, usage=_usage(steps))


def _all(turns: tuple[Turn, ...], last: int, task: Task | None) -> Task:
    asked = turns[last].text.strip()
    lines = [f"A session of {len(turns)} requests. What was asked last counts most."]
    lines += _listed(turns[:last], MAX_EARLIER_CHARS)
    lines.append(f"Last request that the agent worked on ({last + 1} of {len(turns)}):\n{asked}")
    if later := turns[last + 1 :]:
        lines.append(
            "Asked after that:\n" + "\n".join(clip_end(turn.text.strip(), MAX_CONTEXT_CHARS) for turn in later)
        )
    return _task("\n\n".join(lines), asked, task)


def _one(turns: tuple[Turn, ...], number: int, task: Task | None) -> Task:
    asked = turns[number].text.strip()
    if number == 0:
        return _task(asked, asked, task)
    earlier = "\n".join(" ".join(line.split()) for line in _listed(turns[:number], MAX_CONTEXT_CHARS))
    return _task(f"{asked}\n\nEarlier requests of the same session, for context only:\n{earlier}", asked, task)


def _task(instruction: str, last: str, task: Task | None) -> Task:
    if task is None:
        return Task(instruction, last_request=last)
    return Task(instruction, task.name, task.origin, last)


def _listed(turns: tuple[Turn, ...], limit: int) -> list[str]:
    """A text for each request, shortened; of many, the first and the last ones."""
    shown = list(enumerate(turns, 1))
    left = len(shown) - MAX_LISTED
    lines = [f"Request {number}:\n{clip_end(turn.text.strip(), limit)}" for number, turn in shown]
    if left > 0:
        lines[1 : 1 + left] = [f"[{left} further requests are left out here]"]
    return lines


def _without_next(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps without the request that ended them."""
    if not steps:
        return ()
    *rest, last = steps
    kept = tuple([observation for observation in last.observations if not observation.is_request])
    return (*rest, replace(last, observations=kept))


def _usage(steps: tuple[Step, ...]) -> Usage | None:
    known = [step.usage for step in steps if step.usage is not None]
    return sum(known[1:], known[0]) if known else None
