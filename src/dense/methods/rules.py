"""The baselines without a model: their questions answered by the built-in rules.

Labels, verdict and lessons are what the rules say to DENSE's own questions; only the wrapping is a baseline's. So
methods differ here, too, by what they ask and show, and not by who answers."""

from __future__ import annotations

from typing import cast

from dense.analyst.answers import Answer, BadAnswer, LabelsAnswer, SettlementAnswer
from dense.analyst.instant import Answering, InstantAnalyst
from dense.analyst.questions import AnyQuestion, Labels, Question, Settlement
from dense.evidence.actions import EffectsOf
from dense.evidence.requirements import Requirement, requirements
from dense.methods.answers import AdviceAnswer, Assessed, AssessmentAnswer, OverviewAnswer, Shown
from dense.methods.foresight import Foresight
from dense.methods.questions import Advice, Assessment, Decision, Overview
from dense.trajectory import Task, Trajectory
from dense.tree import Leaf, Subtask

BY_RULE = (
    "This advice was put together by rule, not by a model or a person: it only lists what the text of the task names. "
    "Read the task itself first."
)
MOST_CHECKS = 20
CHECKS = {
    ("file", "deliverable"): "{} is there, and holds what the task says",
    ("port", "deliverable"): "{} answers",
    ("value", "deliverable"): "{} stands where the task wants it",
    ("threshold", "deliverable"): "the limit is met: {}",
    ("command", "deliverable"): "{} works",
    ("clause", "deliverable"): "done as told: {}",
}
FORBIDDEN = "not touched or used: {}"


class MethodRules:
    """The built-in rules, for the baselines' questions as well as for DENSE's."""

    def __init__(self, rules: InstantAnalyst) -> None:
        self.name = rules.name
        self._rules = rules

    def study(self, trajectory: Trajectory, effects: EffectsOf) -> Answering:
        """See `InstantAnalyst`. The trajectory is gone through when the first question comes: some methods ask none."""
        return _Study(self._rules, trajectory, effects)


class _Study:
    def __init__(self, rules: InstantAnalyst, trajectory: Trajectory, effects: EffectsOf) -> None:
        self._rules, self._trajectory, self._effects = rules, trajectory, effects
        self._answer: Answering | None = None
        self._foresight: Foresight | None = None

    def __call__(self, question: Question) -> Answer:
        match question:
            case Advice():
                return advice(question.task)
            case Assessment():
                return self._assessment(question)
            case Decision():
                self._foresight = self._foresight or Foresight(self._trajectory, self._effects)
                return self._foresight.decision(question.target.action)
            case Overview():
                return self._overview(question)
            case _:
                return self._ask(cast("AnyQuestion", question))

    def _ask(self, question: AnyQuestion) -> Answer:
        if self._answer is None:
            self._answer = self._rules.study(self._trajectory, self._effects)
        return self._answer(question)

    def _assessment(self, question: Assessment) -> AssessmentAnswer:
        found = self._ask(Labels(task=question.task, targets=question.actions))
        numbers = {leaf.id: leaf.action for leaf in question.actions}
        if not isinstance(found, LabelsAnswer):
            raise BadAnswer("the rules gave no labels")
        entries = [
            Assessed(action_index=numbers[entry.id], reasoning=entry.reasoning, label=entry.label)
            for entry in found.labels
            if entry.id in numbers
        ]
        return AssessmentAnswer(actions=entries)

    def _overview(self, question: Overview) -> OverviewAnswer:
        """The verdict on the attempt as one subtask, without the parts that a tree would have."""
        root = Subtask(f"n{len(question.actions)}", 0, "the whole attempt", "", question.actions)
        found = self._ask(Settlement(task=question.task, parent=root, issues=(), key_actions=()))
        if not isinstance(found, SettlementAnswer):
            raise BadAnswer("the rules gave no verdict")
        verdict = found.verdict
        issues = [*verdict.fatal_issues, *verdict.open_issues]
        tried = [group for group in found.groups if group.mode == "shortcut"]
        lessons = [_lesson(group.dead_end, group.working_path) for group in tried]
        shows = [(identifier, issue.issue) for issue in issues for identifier in issue.evidence_node_ids[:1]]
        return OverviewAnswer(
            evidence=_evidence(shows, question.actions),
            status=verdict.completion,
            summary=verdict.summary or "The rules have nothing to say of this attempt.",
            lessons=[lesson for lesson in dict.fromkeys(lessons) if lesson],
            next_steps=list(dict.fromkeys(issue.issue for issue in issues)),
        )


def _evidence(shows: list[tuple[str, str]], actions: tuple[Leaf, ...]) -> list[Shown]:
    numbers = {leaf.id: leaf.action for leaf in actions}
    return [Shown(action_index=numbers[name], shows=text) for name, text in shows if name in numbers]


def _lesson(dead_end: str, working_path: str) -> str:
    parts = [(f"What failed: {dead_end}", dead_end), (f"What worked: {working_path}", working_path)]
    return " ".join(told for told, text in parts if text.strip().casefold() not in {"", "none"})


def advice(task: Task | None) -> AdviceAnswer:
    """What the task names, as a checklist. No strategy and no risks: rules know nothing of the world."""
    found = requirements(task) if task is not None else ()
    checks = dict.fromkeys(check for one in found if (check := _check(one)))
    return AdviceAnswer(strategy=[BY_RULE], checklist=list(checks)[:MOST_CHECKS])


def _check(one: Requirement) -> str:
    told = f"`{one.subject}`" if one.kind != "clause" else one.clause
    if one.role == "forbidden":
        return FORBIDDEN.format(told)
    form = CHECKS.get((one.kind, one.role))
    return form.format(told) if form else ""
