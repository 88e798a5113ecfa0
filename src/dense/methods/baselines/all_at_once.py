"""One call for the whole attempt: every action labelled, with a reason, seen from the end."""

from __future__ import annotations

from typing import Literal

from dense.deliver.message import MessageFrame
from dense.errors import UnusableAnswer
from dense.methods.action_table import ActionRow, action_table, numbered_actions
from dense.methods.asking.answers import ActionAssessment, AssessmentAnswer, check_complete
from dense.methods.asking.model import ask_question
from dense.methods.asking.questions import Assessment
from dense.methods.asking.requests import StepViews, shown_actions
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Trajectory
from dense.tree import Leaf

FRAME = MessageFrame(
    guide={
        "action": "The number after an action: 0 helped, -1 was idle or failed without harm, -2 was a grave mistake, "
        "judged from the end; none: not judged. No grader was asked."
    }
)


class AllAtOnce:
    """Every action labelled with a reason, in one call."""

    name = "all-at-once"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """One question about all actions. A reply and its correction count together; if they leave an action without
        an assessment, there is no report: a new try asks anew."""
        actions = numbered_actions(trajectory)
        wanted = [leaf.action for leaf in shown_actions(actions, StepViews(context.prompt_bytes))]
        given: dict[int, ActionAssessment] = {}

        def check(answer: AssessmentAnswer) -> None:
            given.update({entry.action_index: entry for entry in answer.actions if entry.action_index in wanted_set})
            check_complete(answer, wanted)

        wanted_set = set(wanted)
        await ask_question(context.asker, Assessment(task=trajectory.task, actions=actions), AssessmentAnswer, check)
        if len(given) < len(wanted):
            problem = context.asker.asked[-1].problems[-1]
            raise UnusableAnswer(f"{len(wanted) - len(given)} of {len(wanted)} actions have no assessment: {problem}")
        table = action_table([_row(leaf, given) for leaf in actions], redacted=context.redacted)
        return FeedbackDraft(fit=table, frame=FRAME)


def _row(leaf: Leaf, given: dict[int, ActionAssessment]) -> ActionRow:
    entry = given.get(leaf.action)
    if entry is None:  # left out of the question for its length
        return ActionRow(leaf)
    return ActionRow(leaf, f"{entry.label} {entry.reasoning.strip()}")
