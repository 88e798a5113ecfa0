"""DENSE without its tree: one call over the whole attempt."""

from __future__ import annotations

from typing import Literal

from dense.deliver import markup
from dense.deliver.message import Frame
from dense.deliver.render import SCOPE
from dense.methods.answers import OverviewAnswer, check_cited
from dense.methods.asking import asked
from dense.methods.listing import listing, texts
from dense.methods.method import Draft, Means
from dense.methods.questions import Overview
from dense.methods.table import GUIDE_MARKERS, leaves_of
from dense.trajectory import Trajectory

FRAME = Frame(
    guide="""\
How to read it:
- `status` is what the attempt itself shows, not a grader's word: `complete` was seen to be done, `incomplete` lacks
  something, `failed` went wrong, `unknown` cannot be told. Check anew whatever you rely on.
- `next-step` is what to do, in order; `lesson` is what failed and what worked; `evidence` names an action of the
  attempt (a1 is its first) and what it showed.
"""
    + GUIDE_MARKERS
)


class NoHierarchy:
    """Status, evidence, lessons and next steps, in one call."""

    name = "dense-no-hierarchy"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1"

    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft:
        """One question. Without a usable answer the report says that nothing is known."""
        actions = leaves_of(trajectory)
        known = [leaf.action for leaf in actions]
        question = Overview(task=trajectory.task, actions=actions)
        answer = await asked(means.asker, question, OverviewAnswer, lambda found: check_cited(found, known))
        if answer is None:
            answer = OverviewAnswer(status="unknown", summary="No usable report on the attempt came back.")
        blocks = [
            markup.text("summary", answer.summary.strip()),
            *texts("next-step", answer.next_steps),
            *texts("lesson", answer.lessons),
            *(markup.text("evidence", e.shows.strip(), action=f"a{e.action_index}") for e in answer.evidence),
        ]
        fit = listing(blocks, redacted=means.redacted, status=answer.status, completion_scope=SCOPE)
        return Draft(fit, FRAME, answer.status)
