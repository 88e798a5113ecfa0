"""The seam: a method turns an attempt into feedback.

What a method may see is a matter of its type. There are three, told apart by `sees`:

    TaskMethod          the task                            before any attempt
    Method              the task and the visible trajectory
    PrivilegedMethod    both, and the outcome               a reference, not a competitor

No way leads from a trajectory to its outcome, and the runner hands an outcome to a `PrivilegedMethod` alone. Redaction,
budget, frame and accounting are the runner's, the same for all: a method only drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from dense.analyst import Analyst
from dense.analyst.asker import Asker
from dense.deliver.delivery import Fit
from dense.deliver.message import REPORT, Frame
from dense.evidence.actions import EffectsOf
from dense.model.chat import ChatModel
from dense.outcome import Outcome
from dense.trajectory import Task, Trajectory

Sees = Literal["task", "trajectory", "outcome"]


class Draft(Struct, frozen=True):
    """Feedback before it is fitted into its budget and put into its frame."""

    fit: Fit
    """Makes the report of at most so many bytes, out of whole blocks."""
    frame: Frame = REPORT
    """What stands around it."""
    state: str = ""
    """What the method says of the attempt in a word, where it does; for the terminal, not for the recipient."""
    files: Mapping[str, Struct] = {}
    """What else is worth keeping, by file name."""


class Means(Struct, frozen=True):
    """What a method may use. Everything that is asked through it is counted."""

    asker: Asker
    """Asks questions: of a language model, the built-in rules, or a script."""
    analyst: Analyst
    """Analyses the trajectory, for methods that build on its tree."""
    effects: EffectsOf
    """What each step did, looked at once."""
    model: ChatModel | None = None
    """The model itself, for a method that writes its own prompts; None where there is none."""
    room: int = 240_000
    """How many bytes of a trajectory one question may show."""
    redacted: str = ""
    """What credentials were replaced in the trajectory, in words; empty for none."""


class TaskMethod(Protocol):
    """Sees the task alone."""

    @property
    def name(self) -> str: ...
    @property
    def calls(self) -> str:
        """How many calls it makes, for people: `0`, `1`, `one for each action`."""
        ...

    @property
    def sees(self) -> Literal["task"]: ...
    async def feedback(self, task: Task, means: Means, /) -> Draft | None:
        """The draft; None for the task alone."""
        ...


class Method(Protocol):
    """Sees the task and what the agent did and saw."""

    @property
    def name(self) -> str: ...
    @property
    def calls(self) -> str:
        """How many calls it makes, for people: `0`, `1`, `one for each action`."""
        ...

    @property
    def sees(self) -> Literal["trajectory"]: ...
    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft | None:
        """The draft; None for the task alone."""
        ...


class PrivilegedMethod(Protocol):
    """Sees how the attempt was graded, too."""

    @property
    def name(self) -> str: ...
    @property
    def calls(self) -> str:
        """How many calls it makes, for people: `0`, `1`, `one for each action`."""
        ...

    @property
    def sees(self) -> Literal["outcome"]: ...
    async def feedback(self, trajectory: Trajectory, outcome: Outcome, means: Means, /) -> Draft | None:
        """The draft; None for the task alone."""
        ...


type AnyMethod = TaskMethod | Method | PrivilegedMethod
