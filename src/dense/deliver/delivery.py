"""Puts the stages together: a report within its budgets, in its frame.

`deliver` is for the tree that DENSE makes; `deliver_report` gives any other report the same frame and budgets."""

from __future__ import annotations

from collections.abc import Sequence

from dense.deliver.budget import MIN_GUIDED_BUDGET, Budgets
from dense.deliver.message import REPORT, Environment, MessageFrame, compose, frame_size, guide_size
from dense.deliver.page import Fit, ReportPage, safe_item, write_items
from dense.deliver.report import tree_report
from dense.evidence.actions import EffectsOf
from dense.evidence.actions import effects as effects_of
from dense.feedback import Feedback
from dense.trajectory import Task
from dense.tree import ReconciledTree


def deliver(
    tree: ReconciledTree,
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    *,
    environment: Environment = "fresh",
    effects: EffectsOf = effects_of,
) -> Feedback:
    """The feedback on one attempt: the same bytes for the same tree, every time."""
    report = tree_report(tree, effects=effects)
    return deliver_report(report, tree.task, budgets, environment=environment, is_tree=True)


def deliver_report(
    fit: Fit,
    task: Task | None,
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    *,
    frame: MessageFrame = REPORT,
    environment: Environment = "fresh",
    unsafe: Sequence[str] = (),
    is_tree: bool = False,
) -> Feedback:
    """Any report in its frame, within the same budgets. The key occurs in none of `unsafe`."""
    report = fit_report(fit, task, budgets, frame, environment, is_tree=is_tree)
    message, key = compose((report,), task, budgets.complete, frame=frame, environment=environment, unsafe=unsafe)
    return Feedback(write_items(report.items, key), message, report.dropped, key)


def fit_report(
    fit: Fit,
    task: Task | None,
    budgets: Budgets,
    frame: MessageFrame = REPORT,
    environment: Environment = "fresh",
    *,
    is_tree: bool = False,
) -> ReportPage:
    """The report within its budgets, its lines safe to write. Only a tree has to keep the budget of trees."""
    room = budgets.complete - frame_size(task, frame, environment)
    if budgets.complete >= MIN_GUIDED_BUDGET:
        room -= guide_size(frame)
    found = fit(min(room, budgets.tree) if is_tree and budgets.tree is not None else room)
    return ReportPage(tuple([safe_item(item) for item in found.items]), found.dropped)
