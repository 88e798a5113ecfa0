"""The budget policy: how many bytes feedback may have, and how they are shared out."""

from __future__ import annotations

from typing import Self

from msgspec import Struct

MIN_BUDGET = 512
"""The smallest budget that can be kept, in bytes."""
TERSE_BUDGET = 4 * MIN_BUDGET
"""Below this, the text around a report is short."""
MEMORY_OVERHEAD = 256
"""Bytes of a message of several reports that belong to none of them, its head apart."""


class Budgets(Struct, frozen=True):
    """How many bytes of UTF-8 feedback may have."""

    tree: int = 180 * 1024
    """The report."""
    complete: int = 200 * 1024
    """The report with everything around it, the task's own text apart."""

    @classmethod
    def of(cls, tree: int | None = None, complete: int | None = None) -> Self:
        """Checked budgets. Without its own, the report gets the default, or the whole budget if that is smaller.

        Raises `ValueError` if a budget is too small, or the report's is larger than the whole."""
        default = cls()
        complete = default.complete if complete is None else complete
        tree = min(default.tree, complete) if tree is None else tree
        if min(tree, complete) < MIN_BUDGET:
            raise ValueError(f"a budget of {min(tree, complete)} bytes is too small: at least {MIN_BUDGET} are needed")
        if tree > complete:
            raise ValueError(f"the report's budget of {tree} bytes exceeds the whole budget of {complete} bytes")
        return cls(tree, complete)

    def share(self, count: int, head: int) -> Self:
        """The budgets of one report in a message of so many that begins with `head` bytes."""
        if count < 2:
            return self
        each = max(MIN_BUDGET, (self.complete - head - MEMORY_OVERHEAD) // count)
        return type(self)(min(self.tree, each), each)


def is_terse(budget: int, reports: int = 1) -> bool:
    """Whether the text around so many reports must be short."""
    return budget < TERSE_BUDGET * reports
