"""One call for each action, on what was known when it was taken: its result and everything later are hidden."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from msgspec.structs import replace

from dense.analysis.asking.asker import together
from dense.analysis.asking.prompt import marker_for
from dense.analysis.asking.questions.outlines import SENTENCE
from dense.errors import UnusableAnswer
from dense.message.message import MessageFrame
from dense.methods.action_table import ActionRow, action_table, numbered_actions
from dense.methods.method import FeedbackDraft, MethodContext
from dense.methods.questions import (
    MAX_STEP_SHARE,
    TEXT,
    AttemptQuestion,
    StepViews,
    ask_question,
    number_schema,
    object_schema,
    task_message,
)
from dense.model.chat import Message
from dense.trajectory import Task, Trajectory
from dense.tree import Label, Leaf
from refit.baselines.decisions import DecisionAnswer, DecisionRules

if TYPE_CHECKING:
    from jinja2 import Template

    from dense.analysis.asking.rules_answerer import RulesAnswerer

AT_ONCE = 32
"""How many questions are held at the same time: each shows all that came before, so that many would fill the memory."""

FRAME = MessageFrame(
    guide={
        "action": "The number after an action: its decision, judged by what was known before it: 0 well founded, -1 "
        "badly founded, -2 gravely mistaken; none: not judged. A good decision may have failed."
    }
)


class StepByStep:
    """Every action judged by what was known before it, a call each."""

    name = "step-by-step"
    sees: Literal["trajectory"] = "trajectory"
    calls = "one for each action"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """All questions together. If one has no usable answer, there is no report: a new try asks that one anew."""
        actions = numbered_actions(trajectory)
        views = StepViews(context.prompt_bytes)
        waiting = asyncio.Semaphore(AT_ONCE)

        async def judged(leaf: Leaf) -> ActionRow | None:
            async with waiting:
                question = decision(trajectory.task, actions, leaf, views)
                answer = await ask_question(context.asker, question, DecisionAnswer)
            return None if answer is None else _row(leaf, answer)

        rows = [row for row in await together(judged(leaf) for leaf in actions) if row is not None]
        if len(rows) < len(actions):
            problem = next(asked.problems[-1] for asked in context.asker.record() if asked.fell_back)
            raise UnusableAnswer(f"{len(actions) - len(rows)} of {len(actions)} actions have no assessment: {problem}")
        return FeedbackDraft(fit=action_table(rows, redacted=context.redacted), frame=FRAME)


def decision(task: Task | None, actions: tuple[Leaf, ...], target: Leaf, views: StepViews) -> Decision:
    """The question about an action. The result is taken out here, so that nobody who is asked can see it."""
    blind = replace(target, step=replace(target.step, observations=(), subagents=(), usage=None))
    return Decision(task=task, actions=(*actions[: target.action - 1], blind), views=views)


def _row(leaf: Leaf, answer: DecisionAnswer) -> ActionRow:
    known = answer.known_basis.strip()
    basis = f" (known at the time: {known})" if known else ""
    return ActionRow(leaf, f"{answer.label} {answer.reasoning.strip()}{basis}")


class Decision(AttemptQuestion, frozen=True, kw_only=True):
    """Was the last of these actions the right thing to do, by what was known then? What came of it is not in it.

    The questions of a trajectory begin alike, message by message, so that providers can keep what they share."""

    prompts: ClassVar[Path] = Path(__file__).parent / "prompts"

    @property
    def subject(self) -> str:
        return f"a{self.target.action}"

    @property
    def target(self) -> Leaf:
        """The action in question, without its result."""
        return self.actions[-1]

    def messages(self, task: str | None, template: Template, views: StepViews) -> tuple[Message, ...]:
        earlier = views.record(self.actions[:-1], views.room - views.room // MAX_STEP_SHARE)
        target = views.target(self.target)
        marker = marker_for(task or "", (*earlier, target))
        opening = f"{task_message(task, marker)}\n\nWhat the agent had done and seen:\nBEGIN record [{marker}]"
        stable = (Message("user", text, is_stable=True) for text in (opening, *earlier))
        last = template.render(target=target, marker=marker, number=self.target.action)
        return (*stable, Message("user", last))

    def schema(self, views: StepViews) -> dict[str, Any]:
        del views
        label: dict[str, Any] = {"type": "integer", "enum": list(get_args(Label))}
        index = number_schema([self.target.action])
        return object_schema(action_index=index, known_basis=TEXT, reasoning=TEXT, label=label)

    def outline(self) -> dict[str, Any]:
        number = self.target.action
        return {"action_index": number, "known_basis": SENTENCE, "reasoning": SENTENCE * 2, "label": 0}

    def by_rules(self, rules: RulesAnswerer) -> DecisionAnswer:
        return rules.once(DecisionRules).decision(self.target.action)
