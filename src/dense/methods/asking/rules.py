"""The baselines without a model: their questions answered by the built-in rules.

Labels, verdict and lessons are those of the rules' own draft; only the wrapping is a baseline's. So methods differ by
what they ask and show, not by who answers."""

from __future__ import annotations

from functools import cached_property

from dense.analyst.answers import Answer
from dense.analyst.questions import Correction, Question
from dense.analyst.rules import RulesAnalyst
from dense.draft import IssueDraft, LeafDraft, SubtaskDraft
from dense.evidence.requirements import Requirement, requirements
from dense.methods.asking.answers import (
    ActionAssessment,
    ActionEvidence,
    AdviceAnswer,
    AssessmentAnswer,
    OverviewAnswer,
)
from dense.methods.asking.decisions import DecisionRules
from dense.methods.asking.questions import Advice, Assessment, Decision, Overview
from dense.trajectory import Task, Trajectory
from dense.tree import SEVERITIES

BY_RULE = (
    "This advice was put together by rule, not by a model or a person: it only lists what the text of the task names. "
    "Read the task itself first."
)
MAX_CHECKS = 20
CHECKS = {
    ("file", "deliverable"): "{} is there, and holds what the task says",
    ("port", "deliverable"): "{} answers",
    ("value", "deliverable"): "{} is where the task wants it",
    ("threshold", "deliverable"): "the limit is met: {}",
    ("command", "deliverable"): "{} works",
    ("clause", "deliverable"): "done as the task says: {}",
}
FORBIDDEN = "not touched or used: {}"


class RulesAnswerer:
    """The built-in rules, for the baselines' questions about one trajectory."""

    name = RulesAnalyst.name

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The answer as a model would write it."""
        del correction  # the rules would say the same again
        return self._answer(question).json()

    def _answer(self, question: Question) -> Answer:
        match question:
            case Advice():
                return advice(question.task)
            case Assessment():
                return self._assessment()
            case Decision():
                return self._decisions.decision(question.target.action)
            case Overview():
                return self._overview()
            case _:
                raise TypeError(f"{question.kind} is no question of a baseline")

    @cached_property
    def _decisions(self) -> DecisionRules:
        return DecisionRules(self._trajectory)

    @cached_property
    def _root(self) -> SubtaskDraft:
        """The attempt as one subtask, without the parts that a tree would have."""
        return RulesAnalyst().analysed(self._trajectory, is_flat=True).draft.root

    def _assessment(self) -> AssessmentAnswer:
        actions = [child for child in self._root.children if isinstance(child, LeafDraft)]
        return AssessmentAnswer(
            actions=[
                ActionAssessment(action_index=one.action, reasoning=one.reason, label=one.label or 0) for one in actions
            ]
        )

    def _overview(self) -> OverviewAnswer:
        verdict = self._root.verdict
        issues = sorted(verdict.issues, key=lambda issue: SEVERITIES.index(issue.severity))
        lessons = [_lesson(group.dead_end, group.working_path) for group in self._root.groups]
        return OverviewAnswer(
            evidence=[
                ActionEvidence(action_index=_action(issue), shows=issue.text) for issue in issues if issue.evidence
            ],
            status=verdict.completion,
            summary=verdict.summary or "The rules have nothing to say of this attempt.",
            lessons=[lesson for lesson in dict.fromkeys(lessons) if lesson],
            next_steps=list(dict.fromkeys(issue.text for issue in issues)),
        )


def _action(issue: IssueDraft) -> int:
    """The number of the first action that shows an issue."""
    return int(issue.evidence[0].removeprefix("n")) + 1


def _lesson(dead_end: str, working_path: str) -> str:
    parts = [(f"What failed: {dead_end}", dead_end), (f"What worked: {working_path}", working_path)]
    return " ".join(lesson for lesson, text in parts if text.strip().casefold() not in {"", "none"})


def advice(task: Task | None) -> AdviceAnswer:
    """What the task names, as a checklist. No strategy and no risks: rules know nothing of the world."""
    found = requirements(task) if task is not None else ()
    checks = dict.fromkeys(check for one in found if (check := _check(one)))
    return AdviceAnswer(strategy=[BY_RULE], checklist=list(checks)[:MAX_CHECKS])


def _check(one: Requirement) -> str:
    subject = f"`{one.subject}`" if one.kind != "clause" else one.clause
    if one.role == "forbidden":
        return FORBIDDEN.format(subject)
    form = CHECKS.get((one.kind, one.role))
    return form.format(subject) if form else ""
