"""DENSE, and what is left of it without shortcuts and reconciliation, or without its nesting."""

from __future__ import annotations

from typing import Literal

from dense.deliver.delivery import fit_tree
from dense.deliver.markup import Block
from dense.deliver.message import Frame
from dense.deliver.render import state_of
from dense.distillation import Accepted, distill_trees
from dense.methods.flat import GUIDE as FLAT_GUIDE
from dense.methods.flat import flattened
from dense.methods.method import Draft, Means
from dense.methods.scored import GUIDE as SCORED_GUIDE
from dense.methods.scored import scored
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, SourceTree


class Dense:
    """Nested subtasks, shortcuts, reconciled issues: ours."""

    name = "dense"
    sees: Literal["trajectory"] = "trajectory"
    calls = "about one for each action, one for two in long attempts; profile paper: two for each"

    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft:
        """Build, compress, reconcile."""
        trees = await _trees(trajectory, means)
        tree, effects = trees.reconciled, means.effects
        return Draft(lambda room: fit_tree(tree, room, effects=effects), state=state_of(tree.root), files=_files(trees))


class Flat:
    """What DENSE chose to say, in one flat list."""

    name = "dense-flat"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense"

    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft:
        """The same report, its blocks side by side."""
        trees = await _trees(trajectory, means)
        tree = trees.reconciled

        def fit(room: int) -> tuple[Block, tuple[str, ...]]:
            report, dropped = fit_tree(tree, room, effects=means.effects)
            return flattened(report), dropped

        return Draft(fit, Frame(guide=FLAT_GUIDE), state_of(tree.root), _files(trees))


class NoShortcuts:
    """The nested subtasks with labels and summaries, neither compressed nor reconciled."""

    name = "dense-no-shortcuts"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense, without those that compress and reconcile"

    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft:
        """Only the first half of the way."""
        source = (await distill_trees(trajectory, means.analyst, means.effects, with_verdicts=False)).source
        fit = scored(source, effects=means.effects, redacted=means.redacted)
        return Draft(fit, Frame(guide=SCORED_GUIDE), files={"tree.json": source})


async def _trees(trajectory: Trajectory, means: Means) -> Accepted:
    return await distill_trees(trajectory, means.analyst, means.effects, redacted=means.redacted)


def _files(trees: Accepted) -> dict[str, SourceTree | ReconciledTree]:
    return {"tree.json": trees.source, "reconciled.json": trees.reconciled}
