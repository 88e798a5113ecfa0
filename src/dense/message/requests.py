"""What a user asked for in a session, request by request: the next session goes on from the last one."""

from __future__ import annotations

import re

from msgspec import Struct

from dense.analysis.actions.action import Actions
from dense.message.page import one_line
from dense.text.clip import clip_end
from dense.trajectory import Task

MIN_ACTIONS = 5
"""With fewer actions for each request, on average, a session is a dialog: its user answers more than asks."""
MAX_WORDS_CHARS = 160
NO_REQUEST = re.compile(r"\s*(?:<|/\w|\(no content\)|\[|Caveat:)|\s*\Z")
"""What a program writes in the user's place: commands of its own, notices."""


class Request(Struct, frozen=True):
    """A request of the user, with the actions that follow it."""

    first: int
    last: int
    words: str


def session_requests(task: Task | None, actions: Actions) -> list[Request]:
    """The requests in order, the first of which is the task; none if there is only that, or if it is a dialog. One
    that nothing follows, such as a word of thanks, is none."""
    if not any(seen.origin == "user" for step in actions.steps for seen in step.observations):
        return []  # without reading all outputs
    starts = [(1, task.instruction if task else "")]
    for action in actions.transcript:
        said = [block.text for block in action.blocks if block.kind == "output" and block.origin == "user"]
        if words := [text for text in said if not NO_REQUEST.match(text)]:
            starts.append((action.last + 1, words[-1]))
    count = len(actions)
    starts = [one for one in starts if one[0] <= count]
    if len(starts) < 2 or count < MIN_ACTIONS * len(starts):
        return []
    ends = [first - 1 for first, _ in starts[1:]] + [count]
    return [
        Request(first, last, clip_end(one_line(words), MAX_WORDS_CHARS))
        for (first, words), last in zip(starts, ends, strict=True)
    ]
