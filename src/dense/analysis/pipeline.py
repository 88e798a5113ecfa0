"""DENSE: from a clean trajectory to its reconciled tree (paper, algorithm 1). Read this first.

    clean → analyse → accept → deliver

`dense.service` cleans before and delivers after; what is DENSE's own is here."""

from __future__ import annotations

from typing import Any

from dense.analysis.analyst import Analysis, Analyst
from dense.analysis.trees.accept import Accepted, accept
from dense.errors import DenseError
from dense.trajectory import Trajectory


async def distill_trees(
    trajectory: Trajectory, analyst: Analyst, *, redacted: str = "", with_verdicts: bool = True
) -> Accepted:
    """The trees of a trajectory: nested subtasks, then shortcuts, verdicts and issues.

    The analyst drafts both at once; `accept` checks every piece, numbers what is valid and derives the states. The same
    trajectory and the same draft give the same trees. `redacted` says in words what was taken out of the trajectory;
    without verdicts only the source tree means anything."""
    if not trajectory.steps:
        raise DenseError(f"{trajectory.source}: a trajectory without steps cannot be distilled")
    analysis: Any = await analyst.analyse(trajectory, with_verdicts=with_verdicts)
    if not isinstance(analysis, Analysis):  # an analyst need not be typed
        kind = type(analysis).__name__
        raise DenseError(f"the analyst {analyst.name} must return an `Analysis` (`dense.analysis.analyst`), not {kind}")
    return accept(trajectory, analysis, redacted)
