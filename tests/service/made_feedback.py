"""The service in one line, for tests of methods: feedback, or the error of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from dense.analyst import Analyst
from dense.analyst.questions import Answerer
from dense.deliver.budget import MAX_DEFAULT_BUDGET
from dense.deliver.message import Environment
from dense.deliver.page import Fit
from dense.deliver.report import tree_report
from dense.feedback import Feedback
from dense.methods import AnyMethod, FeedbackDraft, MethodContext, method
from dense.outcome import Outcome
from dense.service import AnalystChoice, FeedbackOptions, FeedbackRun, make_feedback
from dense.trajectory import Source, Trajectory
from dense.tree import ReconciledTree, leaves


def made_feedback(
    chosen: AnyMethod | str,
    trajectory: Trajectory,
    analyst: Analyst | Answerer | None = None,
    *,
    outcome: Outcome | None = None,
    **options: Any,
) -> FeedbackRun:
    """What a method makes of a trajectory; without an analyst, the rules answer."""
    if isinstance(chosen, str):
        chosen = method(chosen)
    choice = AnalystChoice(analyst=analyst)
    run = make_feedback(chosen, trajectory, choice, outcome=outcome, options=FeedbackOptions(**options))
    return asyncio.run(run).require()


class TreeMethod:
    """Reports a tree that a test made, whatever the trajectory is."""

    name, calls = "tree", "0"
    sees: Literal["trajectory"] = "trajectory"

    def __init__(self, fit: Fit) -> None:
        self.fit = fit

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        return FeedbackDraft(self.fit, is_tree=True)


def tree_feedback(
    tree: ReconciledTree,
    budget: int = MAX_DEFAULT_BUDGET,
    *,
    environment: Environment = "fresh",
    report: Callable[..., Fit] = tree_report,
) -> Feedback:
    """The feedback that `make_feedback` delivers for a tree: its trajectory has the tree's task and actions."""
    steps = tuple(leaf.step for leaf in leaves(tree.root))
    trajectory = Trajectory("test", tree.trajectory, Source("x"), task=tree.task, steps=steps)
    chosen = TreeMethod(report(tree))
    return made_feedback(chosen, trajectory, redacted=False, budget=budget, environment=environment).feedback
