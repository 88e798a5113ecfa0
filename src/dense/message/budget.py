"""The budget policy: how many bytes feedback may have, and how they are shared out."""

from __future__ import annotations

import json
from typing import Self

from msgspec import Struct

from dense.options import BudgetChoice, parse_budget
from dense.trajectory import Trajectory

RAW_SHARE = 2
"""By default, feedback may have one in so many bytes of the attempt's raw text …"""
MIN_DEFAULT_BUDGET = 8_000
"""… but at least so many, or the raw text and the frame if that is less …"""
SMALL_BUDGET = 3_000
"""What is there for a trace that says next to nothing: lessons and earlier attempts need room, too."""
MAX_DEFAULT_BUDGET = 24_000
"""… and at most so many."""
FRAME_BYTES, ACTION_BYTES = 900, 40
"""What the frame and the lines above the record take about; the marks of an action."""
MIN_GUIDED_BUDGET = 1_200
"""From here on room is kept for the reading guide."""
PAPER_TREE, PAPER_COMPLETE = 180 * 1024, 200 * 1024
"""The paper's budgets: of a tree, and of any report with what is around it."""


class Budgets(Struct, frozen=True, omit_defaults=True):
    """How many bytes of UTF-8 feedback on one attempt may have."""

    complete: int = MAX_DEFAULT_BUDGET
    """The report with everything around it, the task's own text apart."""
    tree: int | None = None
    """The report alone if it is a tree, as far as trees have a limit of their own."""

    def share(self, count: int, overhead: int) -> Self:
        """The budgets of one report in a message of so many, which has `overhead` bytes of its own."""
        if count < 2:
            return self
        each = max(0, (self.complete - overhead) // count)
        return type(self)(each, None if self.tree is None else min(self.tree, each))


def budgets_for(choice: BudgetChoice, trajectory: Trajectory) -> Budgets:
    """The budgets for feedback on this attempt. Raises `ValueError` for a budget that is too small."""
    if choice == "paper":
        return Budgets(PAPER_COMPLETE, PAPER_TREE)
    if (size := parse_budget(choice)) is not None:
        return Budgets(int(size))
    raw = raw_size(trajectory)
    whole = raw + FRAME_BYTES + ACTION_BYTES * len(trajectory.steps)
    least = min(MIN_DEFAULT_BUDGET, max(whole, SMALL_BUDGET))
    return Budgets(min(max(raw // RAW_SHARE, least), MAX_DEFAULT_BUDGET))


def raw_size(trajectory: Trajectory) -> int:
    """Bytes of an attempt's raw text: what the agent said, the arguments of its calls, what came back."""
    return sum(
        _bytes(step.message)
        + sum(_bytes(_text(value)) for call in step.calls for value in call.arguments.values())
        + sum(_bytes(seen.text) for seen in step.observations)
        + sum(raw_size(subagent) for subagent in step.subagents)
        for step in trajectory.steps
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
