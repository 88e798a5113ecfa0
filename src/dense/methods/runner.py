"""Runs any method in the same way: what the run was told before is cut out, credentials are replaced, the method
drafts, and its draft is fitted into the same budgets and the same frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from dense.analyst.instant import InstantAnalyst
from dense.analyst.questions import Analyst
from dense.deliver import Fit, delivered, markup
from dense.deliver.injected import without_injected
from dense.deliver.markup import Block, encodable
from dense.deliver.memory import Item, share_of
from dense.deliver.message import Frame
from dense.distillation.panel import Asked, Panel
from dense.distillation.pipeline import Budgets, Profile
from dense.errors import DenseError, MissingInput
from dense.evidence.actions import Remembered
from dense.feedback import Feedback
from dense.methods.asking import room_in
from dense.methods.method import AnyMethod, Draft, Means
from dense.model.chat import ChatModel
from dense.outcome import Outcome
from dense.redact import Redactions, redact, redact_text
from dense.trajectory import Task, Trajectory

DOCS = "docs/add-a-method.md"
FIELDS: dict[str, Any] = {"fit": Callable, "frame": Frame, "state": str, "files": Mapping}
"""What a draft is made of."""


class Made(Struct, frozen=True):
    """Everything that came of one method on one trajectory."""

    method: str
    """The method's name."""
    feedback: Feedback
    """What the recipient gets."""
    asked: tuple[Asked, ...]
    """Every question and what became of it."""
    redactions: Redactions
    """What was taken out before anybody saw it."""
    seconds: float
    """How long it took."""
    state: str = ""
    """What the method says of the attempt in a word, where it does."""
    files: Mapping[str, Struct] = {}
    """What else is worth keeping, by file name."""
    item: Item | None = None
    """The feedback as later rounds remember it, where that was asked for; None where there is nothing to tell."""


class Trail:
    """What a run leaves behind also where it fails: what was asked, what was taken out, how long it took."""

    feedback = Feedback("", "")
    """None was made."""

    def __init__(self) -> None:
        self.redactions = Redactions()
        self._panel: Panel | None = None
        self._start = time.perf_counter()

    def begun(self, panel: Panel, redactions: Redactions) -> None:
        """From here on questions are asked."""
        self._panel, self.redactions = panel, redactions

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every question that is done with, and what became of it."""
        return self._panel.record() if self._panel is not None else ()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.perf_counter() - self._start


async def run(
    method: AnyMethod,
    trajectory: Trajectory,
    analyst: Analyst | InstantAnalyst,
    *,
    model: ChatModel | None = None,
    outcome: Outcome | None = None,
    profile: Profile = "fast",
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    room: int = room_in(),
    redacted: bool = True,
    memory: int = 1,
    trail: Trail | None = None,
) -> Made:
    """One method on one trajectory. An outcome is handed on only to a method that is privileged by its type.

    With a `memory` of more than one, the report is also fitted into its share of a message that carries so many. A
    `trail` tells what was done where nothing comes of it.

    A question without a usable answer is the method's to deal with, and stands in `asked`; a refused key or a spending
    limit ends the run. What is no draft, or does not keep its budget, is a `DenseError`; what the method itself raises
    passes through."""
    start = time.perf_counter()
    trajectory, redactions = ready(trajectory, redacted=redacted)
    panel = Panel(analyst, trajectory, Remembered())
    if trail is not None:
        trail.begun(panel, redactions)
    means = Means(panel, model, profile, room, redactions.describe() if redactions else "")
    try:
        draft = _checked(await _draft(method, trajectory, outcome, means, redacted=redacted), method.name)
    except BaseExceptionGroup as errors:
        raise _first(errors) from None
    feedback = _feedback(draft, trajectory.task, budgets, method.name)
    item = _item(draft, feedback, trajectory.task, budgets, method.name, memory) if draft is not None else None
    took = time.perf_counter() - start
    made = Made(method.name, feedback, panel.record(), redactions, took, item=item)
    return made if draft is None else replace(made, state=draft.state, files=draft.files)


def ready(trajectory: Trajectory, *, redacted: bool = True) -> tuple[Trajectory, Redactions]:
    """The trajectory as methods get to see it: without earlier feedback, without credentials."""
    trajectory = without_injected(trajectory)
    return redact(trajectory) if redacted else (trajectory, Redactions())


async def _draft(
    method: AnyMethod, trajectory: Trajectory, outcome: Outcome | None, means: Means, *, redacted: bool
) -> Draft | None:
    """Hands each kind of method what its type declares, and nothing else."""
    if method.sees == "task":
        if trajectory.task is None:
            raise MissingInput(f"{method.name} works on the task, and the trace has none: give it with --task")
        return await method.feedback(trajectory.task, means)
    if not trajectory.steps:
        raise DenseError(f"{trajectory.source}: a trajectory without steps has nothing to learn from")
    if method.sees == "trajectory":
        return await method.feedback(trajectory, means)
    if outcome is None:
        raise MissingInput(f"{method.name} needs the outcome of the attempt: it reads those of Harbor trials")
    return await method.feedback(trajectory, _readied(outcome) if redacted else outcome, means)


def _readied(outcome: Outcome) -> Outcome:
    """The outcome without credentials."""
    return replace(outcome, verifier_output=redact_text(outcome.verifier_output)[0])


def _checked(draft: Any, name: str) -> Draft | None:
    """The draft, where it is one: nothing has looked at it yet, and a method need not be typed."""
    if draft is None:
        return None
    if not isinstance(draft, Draft):
        raise DenseError(f"{name} must give a `Draft` or None, and gave: {type(draft).__name__}; see {DOCS}")
    wrong = [field for field, kind in FIELDS.items() if not isinstance(getattr(draft, field), kind)]
    if wrong:
        raise DenseError(f"the draft of {name} is of the wrong type in {', '.join(wrong)}; see {DOCS}")
    return draft


def _feedback(draft: Draft | None, task: Task | None, budgets: Budgets, name: str) -> Feedback:
    if draft is None:
        return Feedback("", encodable(task.instruction) if task else "")
    fit = _kept(draft.fit, name)
    return delivered(fit, task, tree_budget=budgets.tree, complete_budget=budgets.complete, frame=draft.frame)


def _item(draft: Draft, whole: Feedback, task: Task | None, budgets: Budgets, name: str, memory: int) -> Item:
    """The report for a message of its own, and for messages in which it shares the budget with others."""
    reports = [(whole.report, whole.key)]
    for count in range(2, memory + 1):
        share = share_of(budgets.complete, count)
        fitted = _feedback(draft, task, Budgets(min(budgets.tree, share), share), name)
        reports.append((fitted.report, fitted.key))
    return Item(tuple(reports), draft.frame)


def _kept(fit: Fit, name: str) -> Fit:
    """The same, checked: the budget is the runner's promise, so a report that is longer goes nowhere."""

    def checked(room: int) -> tuple[Block, tuple[str, ...]]:
        made: Any = fit(room)
        match made:
            case (Block() as report, [*dropped]) if all(isinstance(entry, str) for entry in dropped):
                size = markup.size(report)
            case _:
                raise DenseError(f"`fit` of {name} must give a block and the names of what it dropped; see {DOCS}")
        if size > room:
            raise DenseError(f"{name} made a report of {size:,} bytes, and there is room for {max(room, 0):,}")
        return report, tuple(cast("list[str]", dropped))

    return checked


def _first(error: BaseException) -> BaseException:
    """The first exception of a group: tasks that ran together end together, for one reason."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
