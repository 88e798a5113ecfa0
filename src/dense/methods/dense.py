"""DENSE, and its ablations: without shortcuts and reconciliation, and without nesting."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from dense.analysis.pipeline import distill_trees
from dense.analysis.trees.accept import Accepted
from dense.analysis.trees.unreconciled import unreconciled
from dense.message.page import Fit, ReportPage
from dense.message.paper_report import paper_report
from dense.message.report import state_of, tree_report
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree


class Dense:
    """Nested subtasks, shortcuts, reconciled issues: ours."""

    name = "dense"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1; long attempts: one for each window and one to close; profile paper: about two for each action"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """Build, compress, reconcile."""
        trees = await _trees(trajectory, context)
        fit = _fit(trees, trees.reconciled, context)
        return _draft(fit, trees)


class Flat:
    """What DENSE chose to say, in one flat list."""

    name = "dense-flat"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """The same lines without nesting."""
        trees = await _trees(trajectory, context)
        nested = _fit(trees, trees.reconciled, context)

        def fit(room: int) -> ReportPage:
            report = nested(room)
            return replace(report, items=tuple([replace(item, label=item.label.lstrip()) for item in report.items]))

        return _draft(fit, trees)


class NoShortcuts:
    """The nested subtasks with their summaries, neither compressed nor reconciled."""

    name = "dense-no-shortcuts"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """Build and summarise; the same report as that of DENSE, on a tree that nobody compressed or judged."""
        trees = await _trees(trajectory, context, with_verdicts=False)
        fit = _fit(trees, unreconciled(trees), context)
        return FeedbackDraft(fit=fit, files={"tree.json": trees.source}, is_tree=True, assessment=trees.assessment)


async def _trees(trajectory: Trajectory, context: MethodContext, *, with_verdicts: bool = True) -> Accepted:
    return await distill_trees(trajectory, context.analyst, redacted=context.redacted, with_verdicts=with_verdicts)


def _fit(trees: Accepted, tree: ReconciledTree, context: MethodContext) -> Fit:
    if context.follows_paper:
        return paper_report(tree, trees.assessment.actions)
    return tree_report(tree, trees.assessment.actions, by_rules=trees.is_by_rules)


def _draft(fit: Fit, trees: Accepted) -> FeedbackDraft:
    return FeedbackDraft(
        fit=fit,
        state=state_of(trees.reconciled.root),
        files={"tree.json": trees.source, "reconciled.json": trees.reconciled},
        is_tree=True,
        assessment=trees.assessment,
    )
