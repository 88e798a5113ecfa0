"""What a reply to a baseline's question must look like. Reasons stand before verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

from pydantic import Field, model_validator

from dense.analyst.answers import Answer, BadAnswer
from dense.tree import Completion, Label


class AdviceAnswer(Answer):
    strategy: list[str] = Field(min_length=1)
    risks: list[str] = Field(default_factory=list[str])
    checklist: list[str] = Field(default_factory=list[str])


class Assessed(Answer):
    """One action, by its number."""

    action_index: int
    reasoning: str = ""
    label: Label


class AssessmentAnswer(Answer):
    actions: list[Assessed]

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """The list alone is as good."""
        return {"actions": cast("list[Any]", value)} if isinstance(value, list) else value


class DecisionAnswer(Answer):
    action_index: int | None = None
    known_basis: str = Field(min_length=1)
    reasoning: str = ""
    label: Label


class Shown(Answer):
    """What an action shows."""

    action_index: int
    shows: str


class OverviewAnswer(Answer):
    evidence: list[Shown] = Field(default_factory=list[Shown])
    status: Completion
    summary: str = Field(min_length=1)
    lessons: list[str] = Field(default_factory=list[str])
    next_steps: list[str] = Field(default_factory=list[str])


def check_complete(answer: AssessmentAnswer, wanted: Sequence[int]) -> None:
    """Exactly one entry for each action that was asked for."""
    given = [entry.action_index for entry in answer.actions]
    problems = [
        f"{told}: {_listed(numbers)}"
        for told, numbers in (
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
