"""The methods that see the task alone: no feedback, which is the control, and advice."""

from __future__ import annotations

from typing import Literal

from dense.deliver.markup import MARKER_GUIDE
from dense.deliver.message import MessageFrame
from dense.errors import UnusableAnswer
from dense.methods.asking.answers import AdviceAnswer
from dense.methods.asking.model import ask_question
from dense.methods.asking.questions import Advice
from dense.methods.list_report import list_report, text_blocks
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Task

ADVISORY = MessageFrame(
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
    + MARKER_GUIDE,
)


class NoFeedback:
    """The task alone: an independent second attempt."""

    name = "none"
    sees: Literal["task"] = "task"
    calls = "0"

    async def feedback(self, task: Task, context: MethodContext, /) -> None:
        """Nothing."""
        del task, context


class Advisor:
    """Strategy, risks and a checklist from the task alone."""

    name = "advisor"
    sees: Literal["task"] = "task"
    calls = "1"

    async def feedback(self, task: Task, context: MethodContext, /) -> FeedbackDraft:
        """One question. Without a usable answer there is no advice to give."""
        answer = await ask_question(context.asker, Advice(task=task), AdviceAnswer)
        if answer is None:
            raise UnusableAnswer(f"no usable advice came back: {context.asker.asked[-1].problems[-1]}")
        blocks = [
            *text_blocks("strategy", answer.strategy),
            *text_blocks("risk", answer.risks),
            *text_blocks("check", answer.checklist),
        ]
        return FeedbackDraft(list_report(blocks, name="advice"), ADVISORY)
