"""DENSE: from a visible trajectory to feedback (paper, algorithm 1). Read this first."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Literal, cast

from msgspec import Struct

from dense.analyst.instant import InstantAnalyst
from dense.analyst.questions import Analyst
from dense.analyst.rules import RulesAnalyst
from dense.deliver import deliver
from dense.deliver.injected import without_injected
from dense.distillation.build import FastBuilder, PaperBuilder
from dense.distillation.panel import Asked, Panel, at_once
from dense.distillation.reconcile import FastReconciler, PaperReconciler
from dense.distillation.retained import Retention
from dense.errors import DenseError
from dense.evidence.actions import remembered
from dense.feedback import Feedback
from dense.redact import Redactions, Texts, redact
from dense.redact.walk import texts_of
from dense.trajectory import Task, Trajectory
from dense.tree import Leaf, ReconciledTree, SourceTree, Subtask, leaves

Profile = Literal["fast", "paper"]


class Budgets(Struct, frozen=True):
    """How many bytes feedback may have."""

    tree: int = 180 * 1024
    """The report."""
    complete: int = 200 * 1024
    """The report with what is around it."""


class Distillation(Struct, frozen=True):
    """Everything that came of one trajectory."""

    source: SourceTree
    """The dense source tree."""
    reconciled: ReconciledTree
    """The shortcut tree with verdicts and issues."""
    feedback: Feedback
    """What the recipient gets."""
    asked: tuple[Asked, ...]
    """Every question and what became of it."""
    redactions: Redactions
    """What was taken out before anybody saw it."""
    seconds: float
    """How long it took."""


async def distill(
    trajectory: Trajectory,
    analyst: Analyst | InstantAnalyst | None = None,
    *,
    profile: Profile = "fast",
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    redacted: bool = True,
) -> Distillation:
    """Build nested subtasks, compress attempts, reconcile issues, render what is left to do. Without an analyst the
    built-in rules judge.

    The same trajectory and the same answers give the same result, however the calls overlapped. A judgement without a
    usable answer takes its fallback, which stands in `asked`; a refused key or a spending limit ends the run."""
    start = time.perf_counter()
    trajectory, redactions = _cleaned(trajectory, redacted)
    effects = remembered()
    panel = Panel(analyst or RulesAnalyst(), trajectory, effects)
    try:
        source = await build(trajectory, panel, profile)
        reconciled = await reconcile(source, panel, profile, redactions.describe() if redactions else "")
    except BaseExceptionGroup as errors:
        raise _first(errors) from None
    feedback = deliver(reconciled, tree_budget=budgets.tree, complete_budget=budgets.complete, effects=effects)
    return Distillation(source, reconciled, feedback, panel.record(), redactions, time.perf_counter() - start)


def distill_sync(
    trajectory: Trajectory,
    analyst: Analyst | InstantAnalyst | None = None,
    *,
    profile: Profile = "fast",
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    redacted: bool = True,
) -> Distillation:
    """The same, for callers without an event loop."""
    work = distill(trajectory, analyst, profile=profile, budgets=budgets, redacted=redacted)
    if analyst is None or isinstance(analyst, InstantAnalyst):
        return at_once(work)
    done: list[Distillation] = []

    async def run() -> None:
        # Not the task's own result: on its way out `asyncio.run` formats that, all of it, for a message nobody reads.
        done.append(await work)

    asyncio.run(run())
    return done[0]


def _cleaned(trajectory: Trajectory, redacted: bool) -> tuple[Trajectory, Redactions]:
    """The trajectory without feedback that the run was given and, if so asked, without credentials."""
    texts = Texts(texts_of(trajectory))
    own = without_injected(trajectory, texts)
    return redact(own, texts=texts if own is trajectory else None) if redacted else (own, Redactions())


async def build(trajectory: Trajectory, panel: Panel, profile: Profile) -> SourceTree:
    """Leaves, levels, root, labels: the dense source tree."""
    queue = [Leaf(f"n{index}", index + 1, step) for index, step in enumerate(trajectory.steps)]
    if not queue:
        raise DenseError(f"{trajectory.source}: a trajectory without steps cannot be distilled")
    builder = (PaperBuilder if profile == "paper" else FastBuilder)(panel, trajectory.task, len(queue))
    top = await builder.label_rest(await builder.build(queue))
    title = _title(trajectory.task)
    return SourceTree(trajectory.id, trajectory.task, Subtask(f"n{len(queue)}", 0, title, "", top))


async def reconcile(source: SourceTree, panel: Panel, profile: Profile, redacted: str = "") -> ReconciledTree:
    """Shortcuts, verdicts, issues: the reconciled tree."""
    retention = Retention(leaves(source.root), panel.effects)
    reconciler = (PaperReconciler if profile == "paper" else FastReconciler)(panel, source.task, retention)
    root, issues = await reconciler.reconcile(source.root)
    return ReconciledTree(source.trajectory, source.task, root, issues, redacted)


HASH = re.compile(r"[0-9a-f][0-9a-f-]{14,}[0-9a-f]")
LONGEST_TITLE = 80


def _title(task: Task | None) -> str:
    """The task's name; where that is only a hash, the task's first line."""
    if task is None or not task.name:
        return "the whole attempt"
    if HASH.fullmatch(task.name) is None:
        return task.name
    line = next((line for line in task.instruction.split("\n") if line.strip()), "").strip()
    return f"{line[: LONGEST_TITLE - 1]}…" if len(line) > LONGEST_TITLE else line or task.name


def _first(error: BaseException) -> BaseException:
    """The first exception of a group: tasks that ran together end together, for one reason."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
