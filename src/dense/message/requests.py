"""What a user asked for in a session, request by request: the next session goes on from the last one."""

from __future__ import annotations

from msgspec import Struct

from dense.analysis.actions.action import Actions
from dense.analysis.actions.requests import asked_requests, distinct_requests, is_dialog
from dense.message.page import one_line
from dense.text.clip import clip_end
from dense.trajectory import Task

MAX_WORDS_CHARS = 160


class Request(Struct, frozen=True):
    """A request of the user, with the actions that follow it; none, if they are not in this trajectory."""

    first: int
    last: int
    words: str

    @property
    def span(self) -> str:
        return f"a{self.first}-a{self.last}" if self.first else ""


def session_requests(task: Task | None, actions: Actions) -> list[Request]:
    """The requests in order, each once, the last of which is what was asked last; none if there is only one, or if it
    is a dialog. One that the user closed with thanks counts like the others."""
    if task is None or not (
        task.earlier or any(seen.is_request for step in actions.steps for seen in step.observations)
    ):
        return []  # without reading all outputs
    left_out = [Request(0, 0, turn.text) for turn in task.earlier if turn.step < 0]
    asked = asked_requests(task, actions.steps)
    if len(left_out) + len(asked) < 2 or (not left_out and is_dialog(asked, len(actions))):
        return []
    here = [Request(one.step + 1, one.end, one.words) for one in (*distinct_requests(asked[:-1]), asked[-1])]
    requests = [one for one in here if one.first <= one.last] or here[-1:]
    return [
        Request(one.first, one.last, clip_end(one_line(one.words), MAX_WORDS_CHARS)) for one in (*left_out, *requests)
    ]
