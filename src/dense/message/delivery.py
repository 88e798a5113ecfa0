"""Fits a report into its budgets: what is left for it beside the frame, with lines that are safe to write."""

from __future__ import annotations

from dense.message.budget import MIN_GUIDED_BUDGET, Budgets
from dense.message.message import REPORT, MessageFrame, frame_size, guide_size
from dense.message.page import Fit, ReportPage, safe_item
from dense.options import Environment
from dense.trajectory import Task


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
