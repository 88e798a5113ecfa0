"""Which request of a session feedback is made for: the last one, one of them, or all.

A session of a person and an agent has many requests. Its task is the one that was asked last, in the user's words, with
the earlier ones beside it as context; distilled by request, only the steps stay that answer it. A dialog, whose user
answers more than asks, has one task: all that the user said."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dense.analysis.actions.requests import AskedRequest, asked_requests, distinct_requests, is_dialog
from dense.errors import DenseError
from dense.options import TurnChoice
from dense.text.clip import clip_end
from dense.trajectory import Step, Task, Trajectory, Turn, Usage

MAX_LISTED = 12
"""So many earlier requests are kept: the first, and those right before."""
MAX_EARLIER_CHARS = 2_000
"""What is kept of an earlier request."""


def select_turn(trajectory: Trajectory, choice: TurnChoice) -> Trajectory:
    """The trajectory of one request, or of all; the same one if there was only one.

    `last` is the last request that the agent worked on. Raises `DenseError` for a request that is not there."""
    turns, steps = trajectory.turns, trajectory.steps
    if len(turns) == 1:
        if choice in ("last", "all", 1):
            return trajectory
        raise DenseError(f"{trajectory.source}: there is only one request, not {choice}")
    requests = asked_requests(trajectory.task, steps)
    if choice == "all":
        return replace(trajectory, task=_of_all(requests, len(steps), trajectory.task))
    if choice == "last":
        chosen = next((request for request in reversed(requests) if request.step < request.end), requests[0])
        start, end = chosen.step, chosen.end
    elif choice <= len(turns):
        start = turns[choice - 1].step
        end = turns[choice].step if choice < len(turns) else len(steps)
        chosen = AskedRequest(said=(turns[choice - 1],), end=end)
    else:
        raise DenseError(f"{trajectory.source}: there are {len(turns)} requests, not {choice}")
    own = _without_next(steps[start:end])
    if not own:
        raise DenseError(f"{trajectory.source}: the agent did nothing on request {choice} of {len(turns)}")
    earlier = [replace(turn, step=-1) for turn in _kept(requests, start, chosen.words)]
    return replace(trajectory, task=_task(chosen.words, earlier, trajectory.task), steps=own, usage=_usage(own))


def _of_all(requests: Sequence[AskedRequest], count: int, task: Task | None) -> Task:
    """The task of a whole session."""
    if is_dialog(requests, count):
        last, first = requests[-1].words, Turn(requests[0].words, 0)
        said = [turn.text for turn in _kept(requests, requests[-1].step, last)]
        return replace(_task("\n\n".join((*said, last)), [first], task), last_request=last)
    return _task(requests[-1].words, _kept(requests, requests[-1].step, requests[-1].words), task)


def _task(words: str, earlier: Sequence[Turn], task: Task | None) -> Task:
    return replace(task or Task(""), instruction=words, last_request=words, earlier=tuple(earlier))


def _kept(requests: Sequence[AskedRequest], start: int, words: str) -> list[Turn]:
    """The requests before a step, shortened, each once; of many, the first and the last ones."""
    earlier = distinct_requests([request for request in requests if request.step < start and request.words != words])
    shown = earlier if len(earlier) <= MAX_LISTED else [earlier[0], *earlier[1 - MAX_LISTED :]]
    return [
        Turn(clip_end(request.words, MAX_EARLIER_CHARS), request.step, request.said[0].timestamp) for request in shown
    ]


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
