"""What a repertoire is made of: goals, and moves that an agent may think of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scripted.facts import Facts

Make = Callable[[Facts], str | tuple[str, ...] | None]


@dataclass(frozen=True)
class Goal:
    """Something that the task wants."""

    name: str
    """The word by which messages speak of it: a file's name, as a rule."""
    met: Callable[[Facts], bool]
    """Whether the agent believes that it is reached."""
    forgotten: float = 0.0
    """The chance that it is overlooked, as long as the message does not speak of it."""


@dataclass(frozen=True)
class Move:
    """Something that an agent may think of doing."""

    name: str
    """For the seed."""
    why: str
    """What the agent says to it."""
    make: Make
    """The commands, from what is known; None where they need what is not known yet."""
    appeal: float = 1.0
    """How soon it comes to mind, against the others."""
    goal: str = ""
    """The goal that it works on; empty for looking around."""
    after: str = ""
    """What on the screen, after a failure, makes one think of it."""
    again: bool = False
    """Whether its answer depends on what was done before: then nothing that is told of it counts."""
    is_check: bool = False
    """Whether it looks at what was made: done before handing in, by an agent that cares."""


@dataclass(frozen=True)
class Repertoire:
    """What comes to mind for one kind of task."""

    name: str
    """Of the kind."""
    words: tuple[str, ...]
    """A task that has all of them is of this kind."""
    goals: tuple[Goal, ...]
    """What it wants."""
    moves: tuple[Move, ...]
    """What may be done."""

    def fits(self, task: str) -> bool:
        """Whether a task is of this kind."""
        return all(word in task for word in self.words)


def says(command: str | tuple[str, ...]) -> Make:
    """A move that needs to know nothing."""
    return lambda _: command


def anew(command: str, path: str) -> Make:
    """A check: worth a turn where something wrote to the path since it ran last, or where it never ran."""
    return lambda facts: command if facts.since(command, path) is None else None


IDLE = (
    Move("who am I", "See where this terminal stands and as whom.", says("pwd; whoami"), 0.3),
    Move("environment", "The environment may tell something.", says("env | sort | head -5"), 0.2),
    Move("history", "There may be a history of changes.", says("git -C /app log --oneline | head -3"), 0.25),
    Move("python", "Which Python is here?", says("python3 --version"), 0.3),
)
"""What costs a turn and brings nothing."""
