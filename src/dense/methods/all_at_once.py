"""One call for the whole attempt: every action labelled, with a reason, seen from the end."""

from __future__ import annotations

from typing import Literal

from dense.deliver import markup
from dense.deliver.message import Frame
from dense.methods.answers import Assessed, AssessmentAnswer, check_complete
from dense.methods.asking import asked
from dense.methods.method import Draft, Means
from dense.methods.prompting import Views, shown_actions
from dense.methods.questions import Assessment
from dense.methods.table import GUIDE_MARKERS, GUIDE_ROWS, Row, leaves_of, table
from dense.trajectory import Trajectory
from dense.tree import Leaf

FRAME = Frame(
    guide="""\
How to read it:
- `label` is how an action was judged, seen from the end of the attempt: 0 helped, -1 was idle or failed without harm,
  -2 was a grave mistake; `assessment` says why. An action without a label was not judged. No grader was asked: a row
  of good labels does not say that the task was done.
"""
    + GUIDE_ROWS
    + GUIDE_MARKERS
)


class AllAtOnce:
    """Every action labelled with a reason, in one call."""

    name = "all-at-once"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1"

    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft:
        """One question about all actions. What a reply says that stays incomplete after its correction still counts."""
        actions = leaves_of(trajectory)
        wanted = [leaf.action for leaf in shown_actions(actions, Views(means.room))]
        given: dict[int, Assessed] = {}

        def check(answer: AssessmentAnswer) -> None:
            given.update({entry.action_index: entry for entry in answer.actions if entry.action_index in wanted_set})
            check_complete(answer, wanted)

        wanted_set = set(wanted)
        await asked(means.asker, Assessment(task=trajectory.task, actions=actions), AssessmentAnswer, check)
        return Draft(table([_row(leaf, given) for leaf in actions], redacted=means.redacted), FRAME)


def _row(leaf: Leaf, given: dict[int, Assessed]) -> Row:
    entry = given.get(leaf.action)
    if entry is None:
        return Row(leaf)
    return Row(leaf, (markup.text("assessment", entry.reasoning.strip()),), str(entry.label))
