"""What a reply to a baseline's question must look like. Reasons come before verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self, cast

from msgspec import field
from pydantic import Field

from dense.analyst.answers import Answer, BadAnswer, FreeText, LabelNumber, RequiredText
from dense.tree import Completion


class AdviceAnswer(Answer, frozen=True, kw_only=True):
    strategy: Annotated[list[str], Field(min_length=1)]
    risks: list[str] = field(default_factory=list[str])
    checklist: list[str] = field(default_factory=list[str])


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


class DecisionAnswer(Answer, frozen=True, kw_only=True):
    action_index: int | None = None
    known_basis: RequiredText
    reasoning: FreeText = ""
    label: LabelNumber


class ActionEvidence(Answer, frozen=True, kw_only=True):
    """What an action shows."""

    action_index: int
    shows: str


class OverviewAnswer(Answer, frozen=True, kw_only=True):
    evidence: list[ActionEvidence] = field(default_factory=list[ActionEvidence])
    status: Completion
    summary: RequiredText
    lessons: list[str] = field(default_factory=list[str])
    next_steps: list[str] = field(default_factory=list[str])


def check_complete(answer: AssessmentAnswer, wanted: Sequence[int]) -> None:
    """Exactly one entry for each action that was asked for."""
    given = [entry.action_index for entry in answer.actions]
    problems = [
        f"{problem}: {_listed(numbers)}"
        for problem, numbers in (
            ("no entry for action_index", sorted(set(wanted) - set(given))),
            ("more than one entry for action_index", sorted(n for n, count in Counter(given).items() if count > 1)),
            ("action_index that was not asked for", sorted(set(given) - set(wanted))),
        )
        if numbers
    ]
    if problems:
        raise BadAnswer("; ".join(problems) + ". Exactly one entry for each action is needed")


def check_cited(answer: OverviewAnswer, known: Sequence[int]) -> None:
    """Evidence may only name actions that there are."""
    unknown = sorted({entry.action_index for entry in answer.evidence} - set(known))
    if unknown:
        raise BadAnswer(f"evidence names action_index that there is not: {_listed(unknown)}")


def _listed(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    return ", ".join(map(str, listed[:20])) + (f" and {len(listed) - 20} more" if len(listed) > 20 else "")
