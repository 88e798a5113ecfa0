"""DENSE without its tree: one call over the whole attempt."""

from __future__ import annotations

from typing import Literal

from dense.deliver import markup
from dense.deliver.markup import MARKER_GUIDE
from dense.deliver.message import MessageFrame
from dense.deliver.render import SCOPE
from dense.methods.action_table import numbered_actions
from dense.methods.asking.answers import OverviewAnswer, check_cited
from dense.methods.asking.model import ask_question
from dense.methods.asking.questions import Overview
from dense.methods.list_report import list_report, text_blocks
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Trajectory

FRAME = MessageFrame(
    guide="""\
How to read it:
- `status` is what the attempt itself shows, not a grader's word: `complete` was seen to be done, `incomplete` lacks
  something, `failed` went wrong, `unknown` cannot be told. Check anew whatever you rely on.
- `next-step` is what to do, in order; `lesson` is what failed and what worked; `evidence` names an action of the
  attempt (a1 is its first) and what it showed.
"""
    + MARKER_GUIDE
)


class NoHierarchy:
    """Status, evidence, lessons and next steps, in one call."""

    name = "dense-no-hierarchy"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """One question. Without a usable answer the report says that nothing is known."""
        actions = numbered_actions(trajectory)
        known = [leaf.action for leaf in actions]
        question = Overview(task=trajectory.task, actions=actions)
        answer = await ask_question(context.asker, question, OverviewAnswer, lambda found: check_cited(found, known))
        if answer is None:
            answer = OverviewAnswer(status="unknown", summary="No usable report on the attempt came back.")
        blocks = [
            markup.text("summary", answer.summary.strip()),
            *text_blocks("next-step", answer.next_steps),
            *text_blocks("lesson", answer.lessons),
            *(markup.text("evidence", e.shows.strip(), action=f"a{e.action_index}") for e in answer.evidence),
        ]
        fit = list_report(blocks, redacted=context.redacted, status=answer.status, completion_scope=SCOPE)
        return FeedbackDraft(fit, FRAME, answer.status)
