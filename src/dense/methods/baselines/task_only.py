"""The methods that see the task alone: no feedback, which is the control, and advice."""

from __future__ import annotations

from typing import Literal

from dense.deliver.message import MessageFrame
from dense.errors import UnusableAnswer
from dense.methods.asking.answers import AdviceAnswer
from dense.methods.asking.model import ask_question
from dense.methods.asking.questions import Advice
from dense.methods.list_report import list_report, text_items
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Task

ABOUT = (
    "Advice from your task's text alone: nothing was tried or observed for it. Where it and what you see differ, go by "
    "what you see.\n"
)
ADVISORY = MessageFrame(ABOUT, ABOUT)


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
        items = [
            *text_items("strategy", answer.strategy),
            *text_items("risk", answer.risks),
            *text_items("check", answer.checklist),
        ]
        return FeedbackDraft(fit=list_report(items), frame=ADVISORY)
