"""What a person asked for in a session: the request that is still open, and those before it, in the user's words.

`asked_requests` groups the turns of a session (`Trajectory.turns`) into requests. A turn goes on with the request
before it if it only answers ("yes, do it all"), repeats it, was said before the agent did anything about it, or answers
a question that the agent asked. A word of thanks closes a request and is none. What harnesses say in a user's place
never gets here: readers keep it apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dense.knowledge.words.replies import ANSWER, QUESTION_MARKS, THANKS
from dense.trajectory import Step, Task, Turn, turns_of

MIN_STEPS = 5
"""With fewer steps for each request, on average, a session is a dialog: its user answers more than asks."""
MAX_SHORT_WORDS = 2
MAX_SHORT_CHARS = 8
"""What is no longer than this asks for nothing by itself: "continue", "do it"."""
MAX_ANSWER_WORDS = 6
"""An answer to a question of an agent that had worked before it asked."""
MAX_THANKS_WORDS = 30
MAX_PARTS = 6
"""So many of the user's messages are quoted of one request: the first and the last ones."""
MAX_CONTEXT_CHARS = 240
"""What a model is shown of an earlier request."""
QUESTION_CHARS = 300
"""A question to the user is so close to the end of a message."""
BARE_COMMAND = re.compile(r"/[\w:-]*\s*$")
FIRST_WITHOUT_SPACES = "\u2e80"
"""From here on are scripts that put no spaces between words."""
WORD = re.compile(r"\w+")


class AskedRequest(Struct, frozen=True):
    """What a person asked for, with what they said about it until they asked for something else."""

    said: tuple[Turn, ...]
    """The request, and the answers and corrections that followed."""
    end: int
    """The index behind the last step that answers it; `step` if the agent did nothing about it."""
    is_accepted: bool = False
    """Whether the user closed it with a word of thanks."""

    @property
    def step(self) -> int:
        """The index of the first step that answers it."""
        return self.said[0].step

    @property
    def words(self) -> str:
        """The user's own words, a paragraph for each message, each once."""
        parts: list[str] = []
        for turn in self.said:
            if not any(_plain(turn.text) in _plain(part) for part in parts):
                parts.append(turn.text.strip())
        return "\n\n".join(parts if len(parts) <= MAX_PARTS else [parts[0], *parts[1 - MAX_PARTS :]])


def asked_requests(task: Task | None, steps: Sequence[Step]) -> tuple[AskedRequest, ...]:
    """The requests in order; the last one is what the user asked last. One at least, if there is a task."""
    turns = [turn for turn in turns_of(task, steps) if turn.text.strip()]
    groups: list[list[Turn]] = []
    accepted: set[int] = set()
    for index, turn in enumerate(turns):
        end = turns[index + 1].step if index + 1 < len(turns) else len(steps)
        if groups and _closes(turn, steps[turn.step : end], is_closed=len(groups) - 1 in accepted):
            accepted.add(len(groups) - 1)
        elif BARE_COMMAND.match(turn.text) and index + 1 < len(turns) and end == turn.step:
            continue  # a command of the program, or what was sent by mistake
        elif groups and len(groups) - 1 not in accepted and _goes_on(groups[-1], turn, steps):
            groups[-1].append(turn)
        else:
            groups.append([turn])
    ends = [group[0].step for group in groups[1:]] + [len(steps)]
    return tuple(
        [
            AskedRequest(said=tuple(group), end=end, is_accepted=number in accepted)
            for number, (group, end) in enumerate(zip(groups, ends, strict=True))
        ]
    )


def open_request(task: Task | None, steps: Sequence[Step]) -> AskedRequest | None:
    """What the user asked last and has not closed with thanks; None if there is no such request."""
    requests = asked_requests(task, steps)
    return requests[-1] if requests and not requests[-1].is_accepted else None


def is_dialog(requests: Sequence[AskedRequest], count: int) -> bool:
    """Whether the user of a session with so many steps answers more than asks: then all that they said is one task."""
    return count < MIN_STEPS * sum(len(request.said) for request in requests)


def distinct_requests(requests: Iterable[AskedRequest]) -> list[AskedRequest]:
    """Each request once: of those in the same words, the first one."""
    first: dict[str, AskedRequest] = {}
    for request in requests:
        first.setdefault(_plain(request.words), request)
    return list(first.values())


def _goes_on(group: Sequence[Turn], turn: Turn, steps: Sequence[Step]) -> bool:
    """Whether a turn belongs to the request that was made before it."""
    done = steps[group[-1].step : turn.step]
    if not done or _is_short(turn.text) or ANSWER.match(turn.text):
        return True
    if any(_plain(turn.text) == _plain(earlier.text) for earlier in group):
        return True
    if len(group) == 1 and _is_short(group[0].text) and not _calls(done):
        return True  # a greeting, and what it was for
    if not any(mark in done[-1].message[-QUESTION_CHARS:] for mark in QUESTION_MARKS):
        return False
    return not _calls(done) or len(WORD.findall(turn.text)) <= MAX_ANSWER_WORDS


def _closes(turn: Turn, answer: Sequence[Step], *, is_closed: bool) -> bool:
    """Whether a turn only says thanks, or goodbye after that: nothing is asked, and nothing is done about it."""
    text = turn.text
    return (
        (is_closed or THANKS.search(text) is not None)
        and len(WORD.findall(text)) <= MAX_THANKS_WORDS
        and not any(mark in text for mark in QUESTION_MARKS)
        and not _calls(answer)
    )


def _is_short(text: str) -> bool:
    plain = _plain(text)
    has_spaces = not any(sign >= FIRST_WITHOUT_SPACES for sign in plain)
    return len(WORD.findall(plain)) <= MAX_SHORT_WORDS and (has_spaces or len(plain) <= MAX_SHORT_CHARS)


def _calls(steps: Sequence[Step]) -> bool:
    return any(step.calls for step in steps)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def with_context(task: Task) -> str:
    """A task for a model that judges the attempt: what was asked, behind it what was asked before in the session."""
    if not task.earlier or all(turn.text in task.instruction for turn in task.earlier):
        return task.instruction
    lines = [" ".join(turn.text.split())[:MAX_CONTEXT_CHARS] for turn in task.earlier]
    return "\n".join([task.instruction, "", "Earlier requests of the same session, for context only:", *lines])
