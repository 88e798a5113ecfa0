"""A method of a user's own whose feedback is too long for an argument, for one task."""

from __future__ import annotations

from dense.methods import FeedbackDraft, MethodContext, list_report, text_items
from dense.trajectory import Trajectory


class Long:
    """Many lines about task-1, few about others."""

    name, sees, calls = "long", "trajectory", "0"

    async def feedback(self, trajectory: Trajectory, context: MethodContext) -> FeedbackDraft:
        often = 4_000 if "--task-1--" in str(trajectory.source) else 4
        return FeedbackDraft(list_report(text_items("summary", ["it's a detail that matters. " * often])))
