"""The methods that know no attempt: none, the control, and the advisor, who has the task alone."""

from __future__ import annotations

from typing import Literal

from dense.deliver.message import Frame
from dense.errors import Unusable
from dense.methods.answers import AdviceAnswer
from dense.methods.asking import asked
from dense.methods.listing import listing, texts
from dense.methods.method import Draft, Means
from dense.methods.questions import Advice
from dense.methods.table import GUIDE_MARKERS
from dense.trajectory import Task

ADVISORY = Frame(
    wrapper="""\
# Advice on your task

This advice was written from the text of your task alone. Whoever wrote it saw no attempt at the task, nothing of your
machine and no result: it tells what is likely, not what happened. Find out for yourself what is there, and where the
advice and what you see differ, go by what you see.
""",
    terse="""\
Below: advice from the task's text alone. Nothing was tried or observed for it: check everything yourself.
""",
    guide="""\
How to read it: `strategy` is the steps to take in order, `risk` what may go wrong, `check` what to look at before you
end.
"""
    + GUIDE_MARKERS,
)


class NoFeedback:
    """The task alone: an independent second attempt."""

    name = "none"
    sees: Literal["task"] = "task"
    calls = "0"

    async def feedback(self, task: Task, means: Means, /) -> None:
        """Nothing."""
        del task, means


class Advisor:
    """Strategy, risks and a checklist from the task alone."""

    name = "advisor"
    sees: Literal["task"] = "task"
    calls = "1"

    async def feedback(self, task: Task, means: Means, /) -> Draft:
        """One question. Without a usable answer there is no advice to give."""
        answer = await asked(means.asker, Advice(task=task), AdviceAnswer)
        if answer is None:
            raise Unusable(f"no usable advice came back: {means.asker.asked[-1].problems[-1]}")
        blocks = [
            *texts("strategy", answer.strategy),
            *texts("risk", answer.risks),
            *texts("check", answer.checklist),
        ]
        return Draft(listing(blocks, name="advice"), ADVISORY)
