"""One call for the whole attempt: every action labelled, with a reason, seen from the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, get_args

from dense.analysis.answers import Answer, BadAnswer, FreeText, LabelNumber, listed
from dense.analysis.asking.questions.outlines import SENTENCE
from dense.draft import LeafDraft
from dense.errors import UnusableAnswer
from dense.message.message import MessageFrame
from dense.methods.action_table import ActionRow, action_table, numbered_actions
from dense.methods.method import FeedbackDraft, MethodContext
from dense.methods.no_hierarchy import record_messages
from dense.methods.questions import TEXT, AttemptQuestion, StepViews, ask_question, number_schema, object_schema
from dense.model.chat import Message
from dense.trajectory import Trajectory
from dense.tree import Label, Leaf

if TYPE_CHECKING:
    from jinja2 import Template

    from dense.analysis.asking.rules_answerer import RulesAnswerer

ASSESSMENT_TOKENS = 100
"""Tokens that the assessment of one action takes, about."""
MAX_ASSESSMENT_TOKENS = 32_768

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
        views = StepViews(context.prompt_bytes)
        wanted = [leaf.action for leaf in views.shown(actions)]
        given: dict[int, ActionAssessment] = {}

        def check(answer: AssessmentAnswer) -> None:
            given.update({entry.action_index: entry for entry in answer.actions if entry.action_index in wanted_set})
            check_complete(answer, wanted)

        wanted_set = set(wanted)
        question = Assessment(task=trajectory.task, actions=actions, views=views)
        await ask_question(context.asker, question, AssessmentAnswer, check)
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


class ActionAssessment(Answer, frozen=True, kw_only=True):
    """One action, by its number."""

    action_index: int
    reasoning: FreeText = ""
    label: LabelNumber


class AssessmentAnswer(Answer, frozen=True, kw_only=True):
    actions: list[ActionAssessment]

    @classmethod
    def validated(cls, value: Any) -> Self:
        """The list alone is as good."""
        return super().validated({"actions": cast("list[Any]", value)} if isinstance(value, list) else value)


class Assessment(AttemptQuestion, frozen=True, kw_only=True):
    """How is each action to be labelled, seen from the end?"""

    prompts: ClassVar[Path] = Path(__file__).parent / "prompts"

    def messages(self, task: str | None, template: Template, views: StepViews) -> tuple[Message, ...]:
        return record_messages(self, task, template, views)

    def schema(self, views: StepViews) -> dict[str, Any]:
        numbers = [leaf.action for leaf in views.shown(self.actions)]
        label: dict[str, Any] = {"type": "integer", "enum": list(get_args(Label))}
        entry = object_schema(action_index=number_schema(numbers), reasoning=TEXT, label=label)
        count = len(numbers)
        return object_schema(actions={"type": "array", "items": entry, "minItems": count, "maxItems": count})

    def output_tokens(self, limit: int) -> int:
        wanted = min(MAX_ASSESSMENT_TOKENS, ASSESSMENT_TOKENS * len(self.actions))
        return max(limit, wanted) if limit >= 2_048 else limit

    def outline(self) -> dict[str, Any]:
        numbers = [leaf.action for leaf in self.views.shown(self.actions)]
        return {"actions": [{"action_index": number, "reasoning": SENTENCE * 2, "label": 0} for number in numbers]}

    def by_rules(self, rules: RulesAnswerer) -> AssessmentAnswer:
        leaves = [child for child in rules.root.children if isinstance(child, LeafDraft)]
        return AssessmentAnswer(
            actions=[
                ActionAssessment(action_index=leaf.action, reasoning=leaf.reason, label=leaf.label or 0)
                for leaf in leaves
            ]
        )


def check_complete(answer: AssessmentAnswer, wanted: Sequence[int]) -> None:
    """Exactly one entry for each action that was asked for."""
    given = [entry.action_index for entry in answer.actions]
    problems = [
        f"{problem}: {listed(numbers)}"
        for problem, numbers in (
            ("no entry for action_index", sorted(set(wanted) - set(given))),
            ("more than one entry for action_index", sorted(n for n, count in Counter(given).items() if count > 1)),
            ("action_index that was not asked for", sorted(set(given) - set(wanted))),
        )
        if numbers
    ]
    if problems:
        raise BadAnswer("; ".join(problems) + ". Exactly one entry for each action is needed")
