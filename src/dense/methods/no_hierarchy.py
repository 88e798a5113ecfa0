"""DENSE without its tree: one call over the whole attempt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from msgspec import field

from dense.analysis.answers import Answer, BadAnswer, RequiredText, listed
from dense.analysis.asking.prompt import marker_for
from dense.analysis.asking.questions.outlines import SENTENCE
from dense.draft import IssueDraft
from dense.errors import UnusableAnswer
from dense.message.page import ALWAYS, Item, one_line
from dense.methods.action_table import numbered_actions
from dense.methods.list_report import list_report, text_items
from dense.methods.method import FeedbackDraft, MethodContext
from dense.methods.questions import (
    TEXT,
    TEXTS,
    AttemptQuestion,
    StepViews,
    ask_question,
    number_schema,
    object_schema,
    task_message,
)
from dense.model.chat import Message
from dense.trajectory import Trajectory
from dense.tree import SEVERITIES, Completion

if TYPE_CHECKING:
    from jinja2 import Template

    from dense.analysis.asking.rules_answerer import RulesAnswerer


class NoHierarchy:
    """Status, evidence, lessons and next steps, in one call."""

    name = "dense-no-hierarchy"
    sees: Literal["trajectory"] = "trajectory"
    calls = "1"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """One question. Without a usable answer there is no report: a new try asks anew."""
        actions = numbered_actions(trajectory)
        known = [leaf.action for leaf in actions]
        question = Overview(task=trajectory.task, actions=actions, views=StepViews(context.prompt_bytes))
        answer = await ask_question(context.asker, question, OverviewAnswer, lambda reply: check_cited(reply, known))
        if answer is None:
            raise UnusableAnswer(f"no usable report came back: {context.asker.asked[-1].problems[-1]}")
        count = len(trajectory.steps)
        state = f"{answer.status}, judged from a1-a{count} alone (trajectory_local)"
        items = [
            Item("state", ALWAYS, "state: ", state),
            *text_items("summary", [answer.summary]),
            *text_items("next-step", answer.next_steps),
            *text_items("lesson", answer.lessons),
            *(Item("evidence", 1, "evidence ", f"a{e.action_index}: {one_line(e.shows)}") for e in answer.evidence),
        ]
        return FeedbackDraft(fit=list_report(items, redacted=context.redacted), state=answer.status)


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


class Overview(AttemptQuestion, frozen=True, kw_only=True):
    """What became of the attempt, what shows it, what is to be learned, what is next?"""

    prompts: ClassVar[Path] = Path(__file__).parent / "prompts"

    def messages(self, task: str | None, template: Template, views: StepViews) -> tuple[Message, ...]:
        return record_messages(self, task, template, views)

    def schema(self, views: StepViews) -> dict[str, Any]:
        numbers = [leaf.action for leaf in views.shown(self.actions)]
        entry = object_schema(action_index=number_schema(numbers), shows=TEXT)
        return object_schema(
            evidence={"type": "array", "items": entry, "maxItems": 20},
            status={"type": "string", "enum": list(get_args(Completion))},
            summary=TEXT,
            lessons=TEXTS,
            next_steps=TEXTS,
        )

    def outline(self) -> dict[str, Any]:
        evidence = [{"action_index": leaf.action, "shows": SENTENCE} for leaf in self.actions[-8:]]
        rest = {"lessons": [SENTENCE] * 5, "next_steps": [SENTENCE] * 5}
        return {"evidence": evidence, "status": "unknown", "summary": SENTENCE * 4, **rest}

    def by_rules(self, rules: RulesAnswerer) -> OverviewAnswer:
        verdict = rules.root.verdict
        issues = sorted(verdict.issues, key=lambda issue: SEVERITIES.index(issue.severity))
        lessons = [_lesson(group.dead_end, group.working_path) for group in rules.root.groups]
        return OverviewAnswer(
            evidence=[
                ActionEvidence(action_index=_action(issue), shows=issue.text) for issue in issues if issue.evidence
            ],
            status=verdict.completion,
            summary=verdict.summary or "The rules have nothing to say of this attempt.",
            lessons=[lesson for lesson in dict.fromkeys(lessons) if lesson],
            next_steps=list(dict.fromkeys(issue.text for issue in issues)),
        )


def record_messages(
    question: AttemptQuestion, task: str | None, template: Template, views: StepViews
) -> tuple[Message, ...]:
    """The task, which stays the same for a trajectory, then the whole record and the question."""
    record = "\n".join(views.record(question.actions, views.room))
    marker = marker_for(task or "", (record,))
    numbers = ", ".join(str(leaf.action) for leaf in views.shown(question.actions))
    last = template.render(record=record, marker=marker, numbers=numbers)
    return Message("user", task_message(task, marker), is_stable=True), Message("user", last)


def check_cited(answer: OverviewAnswer, known: Sequence[int]) -> None:
    """Evidence may only name actions that there are."""
    unknown = sorted({entry.action_index for entry in answer.evidence} - set(known))
    if unknown:
        raise BadAnswer(f"evidence names action_index that there is not: {listed(unknown)}")


def _action(issue: IssueDraft) -> int:
    """The number of the first action that shows an issue."""
    return int(issue.evidence[0].removeprefix("n")) + 1


def _lesson(dead_end: str, working_path: str) -> str:
    parts = [(f"What failed: {dead_end}", dead_end), (f"What worked: {working_path}", working_path)]
    return " ".join(lesson for lesson, text in parts if text.strip().casefold() not in {"", "none"})
