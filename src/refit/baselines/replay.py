"""The methods that hand over the attempt as it was: for the next agent's own reflection, or with its grade."""

from __future__ import annotations

from typing import Literal

from dense.message.message import MessageFrame
from dense.message.page import ALWAYS, Item, one_line, shortened
from dense.message.quotes import Quotes, quote_text, quotes_size
from dense.methods.action_table import ActionRow, action_table, numbered_actions
from dense.methods.method import FeedbackDraft, MethodContext
from dense.outcome import Outcome
from dense.trajectory import Trajectory

REFLECTION = MessageFrame(
    guide={
        "action": "Nobody has judged it. Before you begin, make out what it tried, what worked, what failed and why, "
        "and what it left undone; then do better."
    }
)
GRADED = MessageFrame(guide={"grade": "The grade is the task's own verifier's: 1 is a full pass."})
MAX_EXCEPTION_BYTES = 2_000
"""Of what ended the run."""


class SelfReflection:
    """The whole attempt, for the next agent to reflect on."""

    name = "self-reflection"
    sees: Literal["trajectory"] = "trajectory"
    calls = "0"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """Every action and what came back."""
        rows = [ActionRow(leaf) for leaf in numbered_actions(trajectory)]
        return FeedbackDraft(fit=action_table(rows, redacted=context.redacted), frame=REFLECTION)


class VerifierFeedback:
    """The whole attempt with its reward and the verifier's output. Privileged."""

    name = "verifier-feedback"
    sees: Literal["outcome"] = "outcome"
    calls = "0"

    async def feedback(self, trajectory: Trajectory, outcome: Outcome, context: MethodContext, /) -> FeedbackDraft:
        """The grade, then every action and what came back."""
        rows = [ActionRow(leaf) for leaf in numbered_actions(trajectory)]
        fit = action_table(rows, head=lambda room: [grade(outcome, room)], redacted=context.redacted)
        return FeedbackDraft(fit=fit, frame=GRADED, state=_state(outcome))


def grade(outcome: Outcome, room: int) -> Item:
    """The grade in at most so many bytes: the reward in any case, of what the verifier printed as much as
    there is room for, its telling lines if that is not all."""
    reward = "not graded" if outcome.reward is None else f"reward {outcome.reward:.12g}"
    others = [f"{one_line(name)} {value:.12g}" for name, value in outcome.rewards.items() if name != "reward"]
    line = Item("grade", ALWAYS, "grade: ", "; ".join([reward, *others]))
    left = room - Item("grade", ALWAYS, line.label, line.text, (("", ""),)).size + quotes_size([("", "")])
    quotes: Quotes = []
    if outcome.exception:
        quotes += quote_text("ended by", outcome.exception, min(left, MAX_EXCEPTION_BYTES))
    if outcome.verifier_output:
        quotes += quote_text("verifier output", outcome.verifier_output, left - quotes_size(quotes))
    if line.size > room:
        return shortened(line, room) or Item("grade", ALWAYS, line.label, reward)
    return Item("grade", ALWAYS, line.label, line.text, tuple(quotes))


def _state(outcome: Outcome) -> str:
    return "not graded" if outcome.passed is None else "passed" if outcome.passed else "not passed"
