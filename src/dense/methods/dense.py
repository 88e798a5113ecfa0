"""DENSE, and its ablations: without shortcuts and reconciliation, and without nesting."""

from __future__ import annotations

from functools import partial
from typing import Literal

from dense.deliver.delivery import Fit, fit_tree
from dense.deliver.markup import MarkupBlock
from dense.deliver.message import MessageFrame
from dense.deliver.render import state_of
from dense.distillation import Accepted, distill_trees
from dense.methods.flat_report import GUIDE as FLAT_GUIDE
from dense.methods.flat_report import flat_report
from dense.methods.method import FeedbackDraft, MethodContext
from dense.methods.source_report import GUIDE as SCORED_GUIDE
from dense.methods.source_report import source_report
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, SourceTree


class Dense:
    """Nested subtasks, shortcuts, reconciled issues: ours."""

    name = "dense"
    sees: Literal["trajectory"] = "trajectory"
    calls = "about one for each action, one for two in long attempts; profile paper: two for each"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """Build, compress, reconcile."""
        trees = await _trees(trajectory, context)
        tree, effects = trees.reconciled, context.effects
        fit: Fit = partial(fit_tree, tree, effects=effects)
        return FeedbackDraft(fit, state=state_of(tree.root), files=_files(trees))


class Flat:
    """What DENSE chose to say, in one flat list."""

    name = "dense-flat"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """The same report, its blocks side by side."""
        trees = await _trees(trajectory, context)
        tree = trees.reconciled

        def fit(room: int) -> tuple[MarkupBlock, tuple[str, ...]]:
            report, dropped = fit_tree(tree, room, effects=context.effects)
            return flat_report(report), dropped

        return FeedbackDraft(fit, MessageFrame(guide=FLAT_GUIDE), state_of(tree.root), _files(trees))


class NoShortcuts:
    """The nested subtasks with labels and summaries, neither compressed nor reconciled."""

    name = "dense-no-shortcuts"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense, without those that compress and reconcile"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """The source tree alone."""
        source = (await distill_trees(trajectory, context.analyst, context.effects, with_verdicts=False)).source
        fit = source_report(source, effects=context.effects, redacted=context.redacted)
        return FeedbackDraft(fit, MessageFrame(guide=SCORED_GUIDE), files={"tree.json": source})


async def _trees(trajectory: Trajectory, context: MethodContext) -> Accepted:
    return await distill_trees(trajectory, context.analyst, context.effects, redacted=context.redacted)


def _files(trees: Accepted) -> dict[str, SourceTree | ReconciledTree]:
    return {"tree.json": trees.source, "reconciled.json": trees.reconciled}
