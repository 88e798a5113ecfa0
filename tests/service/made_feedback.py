"""The service in one line, for tests of methods: feedback, or the error of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from dense.analysis.analyst import Analyst
from dense.analysis.asking.questions import Answerer
from dense.feedback import Feedback
from dense.message.budget import MAX_DEFAULT_BUDGET
from dense.message.page import Fit
from dense.message.report import tree_report
from dense.methods import AnyMethod, FeedbackDraft, MethodContext, method
from dense.options import Environment
from dense.outcome import Outcome
from dense.service import AnalystChoice, FeedbackOptions, FeedbackRun, RoundContext, make_feedback
from dense.trajectory import Source, Trajectory
from dense.tree import ReconciledTree, leaves


def made_feedback(
    chosen: AnyMethod | str,
    trajectory: Trajectory,
    analyst: Analyst | Answerer | None = None,
    *,
    outcome: Outcome | None = None,
    shares: int = 1,
    **options: Any,
) -> FeedbackRun:
    """What a method makes of a trajectory; without an analyst, the rules answer."""
    if isinstance(chosen, str):
        chosen = method(chosen)
    choice = AnalystChoice(analyst=analyst)
    given, context = FeedbackOptions(**options), RoundContext(shares=shares)
    run = make_feedback(chosen, trajectory, choice, options=given, outcome=outcome, context=context)
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
    return made_feedback(chosen, trajectory, redact=False, budget=budget, environment=environment).feedback
