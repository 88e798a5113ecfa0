"""What the baselines ask: typed questions beside DENSE's judgements, put to the same analysts in the same way."""

from __future__ import annotations

from dense.analyst.questions import Question
from dense.tree import Leaf


class Advice(Question, frozen=True, kw_only=True):
    """How should the task be gone about? Asked before any attempt, with nothing but the task."""

    @property
    def subject(self) -> str:
        return "task"


class AttemptQuestion(Question, frozen=True, kw_only=True):
    """What questions about a whole attempt have in common."""

    actions: tuple[Leaf, ...]
    """All actions, in order."""

    @property
    def subject(self) -> str:
        return f"of {len(self.actions)} actions"


class Assessment(AttemptQuestion, frozen=True, kw_only=True):
    """How is each action to be labelled, seen from the end?"""


class Overview(AttemptQuestion, frozen=True, kw_only=True):
    """What became of the attempt, what shows it, what is to be learned, what is next?"""


class Decision(AttemptQuestion, frozen=True, kw_only=True):
    """Was the last of these actions the right thing to do, by what was known then? What came of it is not in it."""

    @property
    def subject(self) -> str:
        return f"a{self.actions[-1].action}"

    @property
    def target(self) -> Leaf:
        """The action in question, without its result."""
        return self.actions[-1]


type BaselineQuestion = Advice | Assessment | Overview | Decision
BASELINE_QUESTIONS = (Advice, Assessment, Overview, Decision)
