"""One call for each action, on what was known when it was taken: its result and everything later are hidden."""

from __future__ import annotations

import asyncio
from typing import Literal

from msgspec.structs import replace

from dense.analyst.asker import together
from dense.deliver.message import MessageFrame
from dense.errors import UnusableAnswer
from dense.methods.action_table import ActionRow, action_table, numbered_actions
from dense.methods.asking.answers import DecisionAnswer
from dense.methods.asking.model import ask_question
from dense.methods.asking.questions import Decision
from dense.methods.method import FeedbackDraft, MethodContext
from dense.trajectory import Task, Trajectory
from dense.tree import Leaf

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
        waiting = asyncio.Semaphore(AT_ONCE)

        async def judged(leaf: Leaf) -> ActionRow | None:
            async with waiting:
                answer = await ask_question(context.asker, decision(trajectory.task, actions, leaf), DecisionAnswer)
            return None if answer is None else _row(leaf, answer)

        found = await together(judged(leaf) for leaf in actions)
        rows = [row for row in found if row is not None]
        if len(rows) < len(actions):
            problem = next(asked.problems[-1] for asked in context.asker.record() if asked.fell_back)
            raise UnusableAnswer(f"{len(actions) - len(rows)} of {len(actions)} actions have no assessment: {problem}")
        return FeedbackDraft(fit=action_table(rows, redacted=context.redacted), frame=FRAME)


def decision(task: Task | None, actions: tuple[Leaf, ...], target: Leaf) -> Decision:
    """The question about an action. The result is taken out here, so that nobody who is asked can see it."""
    blind = replace(target, step=replace(target.step, observations=(), subagents=(), usage=None))
    return Decision(task=task, actions=(*actions[: target.action - 1], blind))


def _row(leaf: Leaf, answer: DecisionAnswer) -> ActionRow:
    known = answer.known_basis.strip()
    basis = f" (known at the time: {known})" if known else ""
    return ActionRow(leaf, f"{answer.label} {answer.reasoning.strip()}{basis}")
