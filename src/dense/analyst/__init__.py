"""Analysts: from a trajectory to the draft of its tree.

Comes in: a clean trajectory. Goes out: a `TreeDraft` (`dense.draft`), which `dense.distillation.accept` checks.

    rules/                      the built-in analyst: drafts from the evidence alone, asks nobody
    one_call/                   the profile `fast` of a language model: the whole tree in one call
    paper.py                    the profile `paper`: asks `questions/`, one judgement a call
    model.py, scripted.py       who answers questions: a chat model, a file
    assembly.py, validate.py    what the paper profile and `accept` share: numbers, states, checks

Must never import `distillation`, `deliver`, `methods` or anything above them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dense.draft import TreeDraft
from dense.trajectory import Trajectory


@runtime_checkable
class Analyst(Protocol):
    """Whoever analyses a trajectory as a whole."""

    @property
    def name(self) -> str: ...

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> TreeDraft:
        """The draft of the whole tree.

        Without verdicts, nobody needs shortcuts, verdicts and issues: the analyst may leave them out. What an analyst
        cannot judge, it leaves at the default; an error ends the run."""
        ...
