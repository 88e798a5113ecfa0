"""The methods that see the task alone: no feedback, which is the control, and advice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import field
from pydantic import Field

from dense.analysis.answers import Answer
from dense.analysis.asking.prompt import marker_for
from dense.analysis.asking.questions.outlines import SENTENCE
from dense.analysis.evidence.requirements import Requirement, requirements
from dense.errors import UnusableAnswer
from dense.message.message import MessageFrame
from dense.methods.list_report import list_report, text_items
from dense.methods.method import FeedbackDraft, MethodContext
from dense.methods.questions import TEXTS, StepViews, TemplateQuestion, ask_question, object_schema, task_message
from dense.model.chat import Message
from dense.trajectory import Task

if TYPE_CHECKING:
    from jinja2 import Template

    from dense.analysis.asking.rules_answerer import RulesAnswerer

ABOUT = (
    "Advice from your task's text alone: nothing was tried or observed for it. Where it and what you see differ, go by "
    "what you see.\n"
)
ADVISORY = MessageFrame(ABOUT, ABOUT)
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


class NoFeedback:
    """The task alone: an independent second attempt."""

    name = "none"
    sees: Literal["task"] = "task"
    calls = "0"

    async def feedback(self, task: Task, context: MethodContext, /) -> None:
        """Nothing."""
        del task, context


class Advisor:
    """Strategy, risks and a checklist from the task alone."""

    name = "advisor"
    sees: Literal["task"] = "task"
    calls = "1"

    async def feedback(self, task: Task, context: MethodContext, /) -> FeedbackDraft:
        """One question. Without a usable answer there is no advice to give."""
        answer = await ask_question(
            context.asker, Advice(task=task, views=StepViews(context.prompt_bytes)), AdviceAnswer
        )
        if answer is None:
            raise UnusableAnswer(f"no usable advice came back: {context.asker.asked[-1].problems[-1]}")
        items = [
            *text_items("strategy", answer.strategy),
            *text_items("risk", answer.risks),
            *text_items("check", answer.checklist),
        ]
        return FeedbackDraft(fit=list_report(items), frame=ADVISORY)


class AdviceAnswer(Answer, frozen=True, kw_only=True):
    strategy: Annotated[list[str], Field(min_length=1)]
    risks: list[str] = field(default_factory=list[str])
    checklist: list[str] = field(default_factory=list[str])


class Advice(TemplateQuestion, frozen=True, kw_only=True):
    """How should the task be gone about? Asked before any attempt, with nothing but the task."""

    prompts: ClassVar[Path] = Path(__file__).parent / "prompts"

    @property
    def subject(self) -> str:
        return "task"

    def messages(self, task: str | None, template: Template, views: StepViews) -> tuple[Message, ...]:
        del views
        opening = task_message(task, marker_for(task or "", ()))
        return Message("user", opening), Message("user", template.render())

    def schema(self, views: StepViews) -> dict[str, Any]:
        del views
        return object_schema(strategy={**TEXTS, "minItems": 1}, risks=TEXTS, checklist=TEXTS)

    def outline(self) -> dict[str, Any]:
        return {"strategy": [SENTENCE] * 6, "risks": [SENTENCE] * 4, "checklist": [SENTENCE] * 4}

    def by_rules(self, rules: RulesAnswerer) -> AdviceAnswer:
        """What the task names, as a checklist. No strategy and no risks: rules know nothing of the world."""
        del rules
        named = requirements(self.task) if self.task is not None else ()
        checks = dict.fromkeys(check for requirement in named if (check := _check(requirement)))
        return AdviceAnswer(strategy=[BY_RULE], checklist=list(checks)[:MAX_CHECKS])


def _check(requirement: Requirement) -> str:
    subject = f"`{requirement.subject}`" if requirement.kind != "clause" else requirement.clause
    if requirement.role == "forbidden":
        return FORBIDDEN.format(subject)
    form = CHECKS.get((requirement.kind, requirement.role))
    return form.format(subject) if form else ""
