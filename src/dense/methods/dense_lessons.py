"""DENSE with lessons from other tasks: what was learned on this task is left out before the method sees anything."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from dense.lessons.text import lesson_items
from dense.message.page import Fit, ReportPage, total_size
from dense.methods.dense import Dense
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Trajectory


class DenseWithLessons:
    """DENSE, and lessons of at least three other tasks."""

    name = "dense+lessons"
    sees: Literal["trajectory"] = "trajectory"
    calls = "as dense"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """The report of DENSE, then the lessons, in at most a quarter of the room."""
        draft = await Dense().feedback(trajectory, context)
        inner: Fit = draft.fit
        lessons = context.lessons

        def fit(room: int) -> ReportPage:
            own = lesson_items(lessons, room // 4)
            page = inner(room - total_size(own))
            return replace(page, items=(*page.items, *own))

        return replace(draft, fit=fit)
