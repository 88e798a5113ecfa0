"""The methods that hand over the attempt as it was: for the next agent's own reflection, or with its grade."""

from __future__ import annotations

from typing import Literal

from dense.deliver import markup
from dense.deliver.markup import Block
from dense.deliver.message import Frame
from dense.methods.method import Draft, Means
from dense.methods.table import GUIDE_MARKERS, GUIDE_ROWS, Row, leaves_of, table
from dense.outcome import Outcome
from dense.trajectory import Trajectory

REFLECTION = Frame(
    guide="""\
How to use it: nobody has judged this attempt. Before you begin, go through it and make out for yourself what it tried,
what worked, what failed and why, and what it left undone; then do better.
"""
    + GUIDE_ROWS
    + GUIDE_MARKERS
)
GRADED = Frame(
    guide="""\
How to read it:
- `grade` is what the task's own verifier said of the result of this attempt: the `reward` (1 is a full pass) and what
  it printed. The attempt's files are gone; make a result that passes.
"""
    + GUIDE_ROWS
    + GUIDE_MARKERS
)
OUTPUT = 48_000
"""Bytes of a verifier's output that are shown: so much of its beginning and its end together."""


class SelfReflection:
    """The whole attempt, for the next agent to reflect on."""

    name = "self-reflection"
    sees: Literal["trajectory"] = "trajectory"
    calls = "0"

    async def feedback(self, trajectory: Trajectory, means: Means, /) -> Draft:
        """Every action and what came back."""
        rows = [Row(leaf) for leaf in leaves_of(trajectory)]
        return Draft(table(rows, redacted=means.redacted), REFLECTION)


class VerifierFeedback:
    """The whole attempt with its reward and the verifier's output. Privileged."""

    name = "verifier-feedback"
    sees: Literal["outcome"] = "outcome"
    calls = "0"

    async def feedback(self, trajectory: Trajectory, outcome: Outcome, means: Means, /) -> Draft:
        """The grade, then every action and what came back."""
        rows = [Row(leaf) for leaf in leaves_of(trajectory)]
        return Draft(table(rows, head=[_grade(outcome)], redacted=means.redacted), GRADED, _state(outcome))


def _grade(outcome: Outcome) -> Block:
    rewards = {name: value for name, value in outcome.rewards.items() if name != "reward"}
    blocks = [markup.text("reward", "not graded" if outcome.reward is None else f"{outcome.reward:.12g}")]
    blocks += [markup.text("reward", f"{value:.12g}", name=name) for name, value in rewards.items()]
    if outcome.exception:
        blocks.append(markup.text("ended-by", outcome.exception))
    return markup.group("grade", [*blocks, *_output(outcome.verifier_output)])


def _output(text: str) -> list[Block]:
    """What the verifier printed; of a very long output, whole lines of its beginning and its end."""
    if markup.byte_size(text) <= OUTPUT:
        return [markup.text("verifier-output", text)] if text else []
    lines = text.splitlines(keepends=True)
    first = _lines(lines, OUTPUT // 4)
    last = _lines(lines[first:][::-1], OUTPUT - OUTPUT // 4)
    rest = "".join(lines[first : len(lines) - last])
    return [
        markup.text("verifier-output", "".join(lines[:first]), part="beginning"),
        markup.text("verifier-output", "", omitted=f"{markup.byte_size(rest)} bytes"),
        markup.text("verifier-output", "".join(lines[len(lines) - last :]), part="end"),
    ]


def _lines(lines: list[str], room: int) -> int:
    """How many of these lines fit."""
    count = 0
    for line in lines:
        room -= markup.byte_size(line)
        if room < 0:
            break
        count += 1
    return count


def _state(outcome: Outcome) -> str:
    return "not graded" if outcome.passed is None else "passed" if outcome.passed else "not passed"
