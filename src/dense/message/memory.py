"""The message that carries the feedback of several attempts: oldest first, one frame, one key, one budget for all."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.message.budget import Budgets
from dense.message.message import REPORT, MessageFrame, compose, overhead_of
from dense.message.page import ReportPage
from dense.trajectory import Task


class MemoryItem(Struct, frozen=True):
    """The feedback on one attempt, as it is kept for the messages of later rounds."""

    reports: tuple[ReportPage, ...]
    """The report for a message of one, of two, of three …: each fitted into its share."""
    budget: int
    """Bytes of a message that carries it alone."""
    frame: MessageFrame = REPORT
    """The text around it."""


def share_of(budgets: Budgets, count: int) -> Budgets:
    """The budgets of one report in a message of so many."""
    return budgets.share(count, overhead_of(count))


def compose_memory(entries: Sequence[MemoryItem], task: Task) -> str:
    """The message of these reports, within the largest of their budgets apart from the task's own text: if there is no
    room for all, of the latest.

    The same report twice (a method that does not look at attempts gives the same advice every time) is shown once."""
    latest = list({entry.reports[0]: entry for entry in reversed(entries)}.values())[::-1]
    budget = max(entry.budget for entry in latest)
    size_of_task = len(task.instruction.encode("utf-8", "replace"))
    for start in range(len(latest) - 1):
        chosen = latest[start:]
        reports = [entry.reports[len(chosen) - 1] for entry in chosen]
        message, _ = compose(reports, task, budget, frame=latest[-1].frame)
        if all(report.items for report in reports) and len(message.encode()) - size_of_task <= budget:
            return message
    last = latest[-1]
    return compose(last.reports[:1], task, last.budget, frame=last.frame)[0]
