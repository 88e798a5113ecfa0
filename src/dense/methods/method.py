"""The contract of methods: a method turns an attempt into feedback.

What a method may see is decided by its type. There are three, distinguished by `sees`:

    TaskMethod          the task                            before any attempt
    Method              the task and the visible trajectory
    PrivilegedMethod    both, and the outcome               a reference, not a competitor

A trajectory does not lead to its outcome, and the service passes an outcome to a `PrivilegedMethod` alone. Redaction,
budget, frame and accounting belong to the service, the same for all: a method only drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from dense.message.message import REPORT, MessageFrame
from dense.message.page import Fit

if TYPE_CHECKING:  # who lists methods needs none of these
    from dense.analysis.analyst import Analyst
    from dense.analysis.asking.asker import Asker
    from dense.analysis.detectors.assessment import TraceAssessment
    from dense.lessons.lesson import Lesson
    from dense.model.chat import ChatModel
    from dense.outcome import Outcome
    from dense.trajectory import Task, Trajectory


Sees = Literal["task", "trajectory", "outcome"]


class FeedbackDraft(Struct, frozen=True):
    """Feedback before it is fitted into its budget and put into its frame."""

    fit: Fit
    """Makes the report of at most so many bytes."""
    frame: MessageFrame = REPORT
    """The text around it."""
    state: str = ""
    """The method's verdict on the attempt in a word, if it gives one: for the terminal, not for the recipient."""
    files: Mapping[str, Struct] = {}
    """Further files to keep, by name; each is written as JSON."""
    is_tree: bool = False
    """Whether the report is a tree of subtasks: with the paper's budget, trees have a limit of their own."""
    assessment: TraceAssessment | None = None
    """What the trace shows by itself, of a method that built on an analysis: for what stands beside the message."""


class MethodContext(Struct, frozen=True):
    """What a method may use. Everything that is asked through it is counted."""

    asker: Asker
    """Asks questions: of a language model, the built-in rules, or a script."""
    analyst: Analyst
    """Analyses the trajectory, for methods that build on its tree."""
    model: ChatModel | None = None
    """The model itself, for a method that writes its own prompts; None if there is none."""
    prompt_bytes: int = 240_000
    """How many bytes of a trajectory one question may show."""
    redacted: str = ""
    """What credentials were replaced in the trajectory, in words; empty for none."""
    lessons: tuple[Lesson, ...] = ()
    """Lessons from other tasks than that of the trajectory."""
    follows_paper: bool = False
    """Whether the budget is the paper's: what does not fit then goes in the paper's order."""


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
    async def feedback(self, task: Task, context: MethodContext, /) -> FeedbackDraft | None:
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
    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft | None:
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
    async def feedback(
        self, trajectory: Trajectory, outcome: Outcome, context: MethodContext, /
    ) -> FeedbackDraft | None:
        """The draft; None for the task alone."""
        ...


type AnyMethod = TaskMethod | Method | PrivilegedMethod
