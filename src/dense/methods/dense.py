"""DENSE, and its ablations: without shortcuts and reconciliation, and without nesting."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from dense.deliver.message import MessageFrame
from dense.deliver.page import Fit, ReportPage
from dense.deliver.report import state_of, tree_report
from dense.distillation import Accepted, distill_trees
from dense.methods.method import FeedbackDraft, MethodContext
from dense.methods.source_report import source_report
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, SourceTree

SOURCE_FRAME = MessageFrame(guide={"label": "label 0 helped, -1 did not help, -2 harmed: hints."})


class Dense:
    """Nested subtasks, shortcuts, reconciled issues: ours."""

    name = "dense"
    sees: Literal["trajectory"] = "trajectory"
    calls = "about one for each action, one for two in long attempts; profile paper: two for each"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """Build, compress, reconcile."""
        trees = await _trees(trajectory, context)
        return FeedbackDraft(_fit(trees, context), state=state_of(trees.reconciled.root), files=_files(trees))


class Flat:
    """What DENSE chose to say, in one flat list."""

    name = "dense-flat"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """The same lines without nesting."""
        trees = await _trees(trajectory, context)
        nested = _fit(trees, context)

        def fit(room: int) -> ReportPage:
            report = nested(room)
            return replace(report, items=tuple([replace(one, label=one.label.lstrip()) for one in report.items]))

        return FeedbackDraft(fit, state=state_of(trees.reconciled.root), files=_files(trees))


class NoShortcuts:
    """The nested subtasks with labels and summaries, neither compressed nor reconciled."""

    name = "dense-no-shortcuts"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense, without those that compress and reconcile"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """The source tree alone."""
        source = (await distill_trees(trajectory, context.analyst, context.effects, with_verdicts=False)).source
        fit = source_report(source, effects=context.effects, redacted=context.redacted)
        return FeedbackDraft(fit, SOURCE_FRAME, files={"tree.json": source})


def _fit(trees: Accepted, context: MethodContext) -> Fit:
    return tree_report(trees.reconciled, effects=context.effects, follows_paper=context.follows_paper)


async def _trees(trajectory: Trajectory, context: MethodContext) -> Accepted:
    return await distill_trees(trajectory, context.analyst, context.effects, redacted=context.redacted)


def _files(trees: Accepted) -> dict[str, SourceTree | ReconciledTree]:
    return {"tree.json": trees.source, "reconciled.json": trees.reconciled}
