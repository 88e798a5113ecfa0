"""DENSE: from a visible trajectory to its reconciled tree (paper, algorithm 1). Read this first."""

from __future__ import annotations

import re
from typing import Literal

from dense.distillation.build import FastBuilder, PaperBuilder
from dense.distillation.panel import Panel
from dense.distillation.reconcile import FastReconciler, PaperReconciler
from dense.distillation.retained import Retention
from dense.errors import DenseError
from dense.trajectory import Task, Trajectory
from dense.tree import Leaf, ReconciledTree, SourceTree, Subtask, leaves

Profile = Literal["fast", "paper"]


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
