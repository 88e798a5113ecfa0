"""The methods that hand over the attempt as it was: for the next agent's own reflection, or with its grade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from dense.deliver import markup
from dense.deliver.markup import MARKER_GUIDE, MarkupBlock
from dense.deliver.message import MessageFrame
from dense.deliver.selection import NUMBER_WIDTH
from dense.methods.action_table import GUIDE_ROWS, ActionRow, action_table, numbered_actions
from dense.methods.method import FeedbackDraft, MethodContext
from dense.outcome import Outcome
from dense.trajectory import Trajectory

REFLECTION = MessageFrame(
    guide="""\
How to use it: nobody has judged this attempt. Before you begin, go through it and make out for yourself what it tried,
what worked, what failed and why, and what it left undone; then do better.
"""
    + GUIDE_ROWS
    + MARKER_GUIDE
)
GRADED = MessageFrame(
    guide="""\
How to read it:
- `grade` is what the task's own verifier said of the result of this attempt: the `reward` (1 is a full pass) and what
  it printed. The attempt's files are gone; make a result that passes.
"""
    + GUIDE_ROWS
    + MARKER_GUIDE
)
OUTPUT = 48_000
"""Bytes of a verifier's output that are shown: so much of its beginning and its end together."""
LEAST_OUTPUT = 64
"""An output of which fewer bytes could be shown is only named."""
MOST_EXCEPTION = 2_000
"""Bytes of what ended the run that are shown."""


class SelfReflection:
    """The whole attempt, for the next agent to reflect on."""

    name = "self-reflection"
    sees: Literal["trajectory"] = "trajectory"
    calls = "0"

    async def feedback(self, trajectory: Trajectory, context: MethodContext, /) -> FeedbackDraft:
        """Every action and what came back."""
        rows = [ActionRow(leaf) for leaf in numbered_actions(trajectory)]
        return FeedbackDraft(action_table(rows, redacted=context.redacted), REFLECTION)


class VerifierFeedback:
    """The whole attempt with its reward and the verifier's output. Privileged."""

    name = "verifier-feedback"
    sees: Literal["outcome"] = "outcome"
    calls = "0"

    async def feedback(self, trajectory: Trajectory, outcome: Outcome, context: MethodContext, /) -> FeedbackDraft:
        """The grade, then every action and what came back."""
        rows = [ActionRow(leaf) for leaf in numbered_actions(trajectory)]
        fit = action_table(rows, head=lambda room: [grade(outcome, room)], redacted=context.redacted)
        return FeedbackDraft(fit, GRADED, _state(outcome))


def grade(outcome: Outcome, room: int) -> MarkupBlock:
    """The grade in about so many bytes: the reward in any case, of the rest what there is room for."""
    reward = markup.text("reward", "not graded" if outcome.reward is None else f"{outcome.reward:.12g}")
    left = room - markup.size(markup.group("grade", [reward]), 1, NUMBER_WIDTH)
    blocks = [reward]
    for block in _details(outcome):
        if _needs(block) <= left:
            blocks.append(block)
            left -= _needs(block)
    return markup.group("grade", [*blocks, *_output(outcome.verifier_output, left)])


def _details(outcome: Outcome) -> Iterator[MarkupBlock]:
    for name, value in outcome.rewards.items():
        if name != "reward":
            yield markup.text("reward", f"{value:.12g}", name=name)
    if outcome.exception:
        data = outcome.exception.encode("utf-8", "replace")
        rest = len(data) - MOST_EXCEPTION
        shown = data[:MOST_EXCEPTION].decode("utf-8", "ignore")
        yield markup.text("ended-by", shown, omitted=f"the last {rest} bytes" if rest > 0 else None)


def _output(text: str, room: int) -> list[MarkupBlock]:
    """What the verifier printed; of what is too long, its beginning and its end."""
    if not text:
        return []
    whole = markup.text("verifier-output", text)
    size = markup.body_size(whole)
    if size <= OUTPUT and _needs(whole) <= room:
        return [whole]
    tags = sum(_needs(block) for block in _clipped("\n", "\n", size))
    share = min(OUTPUT, room - tags)
    if share >= LEAST_OUTPUT:
        data = text.encode("utf-8", "replace")
        first = _beginning(data, share // 4)
        return _clipped(first, _end(data[markup.byte_size(first) :], share - share // 4), size)
    named = markup.omitted(whole, f"{size} bytes")
    return [named] if _needs(named) <= room else []


def _clipped(first: str, last: str, size: int) -> list[MarkupBlock]:
    rest = size - markup.byte_size(first) - markup.byte_size(last)
    return [
        markup.text("verifier-output", first, part="beginning"),
        markup.text("verifier-output", "", omitted=f"{rest} bytes"),
        markup.text("verifier-output", last, part="end"),
    ]


def _beginning(data: bytes, share: int) -> str:
    """Whole lines, unless the line that does not fit is most of what there is room for: then a part of it, too."""
    found = data[:share]
    line = found.rfind(b"\n") + 1
    return found[: line if line > share // 2 else share].decode("utf-8", "ignore")


def _end(data: bytes, share: int) -> str:
    found = data[-share:]
    line = found.find(b"\n") + 1
    return found[line if line <= share // 2 else 0 :].decode("utf-8", "ignore")


def _needs(block: MarkupBlock) -> int:
    """Bytes of a block in the grade."""
    return markup.size(block, 2, NUMBER_WIDTH)


def _state(outcome: Outcome) -> str:
    return "not graded" if outcome.passed is None else "passed" if outcome.passed else "not passed"
