"""DENSE without its tree: one call over the whole attempt."""

from __future__ import annotations

from typing import Literal

from dense.deliver.page import ALWAYS, Item, one_line
from dense.errors import UnusableAnswer
from dense.methods.action_table import numbered_actions
from dense.methods.asking.answers import OverviewAnswer, check_cited
from dense.methods.asking.model import ask_question
from dense.methods.asking.questions import Overview
from dense.methods.list_report import list_report, text_items
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Trajectory


class NoHierarchy:
    """Status, evidence, lessons and next steps, in one call."""

    name = "dense-no-hierarchy"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """One question. Without a usable answer there is no report: a new try asks anew."""
        actions = numbered_actions(trajectory)
        known = [leaf.action for leaf in actions]
        question = Overview(task=trajectory.task, actions=actions)
        answer = await ask_question(context.asker, question, OverviewAnswer, lambda found: check_cited(found, known))
        if answer is None:
            raise UnusableAnswer(f"no usable report came back: {context.asker.asked[-1].problems[-1]}")
        count = len(trajectory.steps)
        state = f"{answer.status}, judged from a1-a{count} alone (trajectory_local)"
        items = [
            Item("state", ALWAYS, "state: ", state),
            *text_items("summary", [answer.summary]),
            *text_items("next-step", answer.next_steps),
            *text_items("lesson", answer.lessons),
            *(Item("evidence", 1, "evidence ", f"a{e.action_index}: {one_line(e.shows)}") for e in answer.evidence),
        ]
        return FeedbackDraft(fit=list_report(items, redacted=context.redacted), state=answer.status)
