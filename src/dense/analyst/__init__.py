"""Analysts: from a trajectory to the draft of its tree.

Comes in: a clean trajectory. Goes out: an `Analysis`, whose `TreeDraft` (`dense.draft`) `dense.distillation.accept`
checks.

    rules/                      the built-in analyst: drafts from the evidence alone, asks nobody
    one_call/                   the profile `fast` of a language model: the whole tree in one call
    paper.py                    the profile `paper`: asks `questions/`, one judgement a call
    model.py, scripted.py       who answers questions: a chat model, a file
    assembly.py, validate.py    what the paper profile and `accept` share: numbers, states, checks

Must never import `distillation`, `deliver`, `methods` or anything above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from msgspec import Struct

from dense.draft import TreeDraft
from dense.trajectory import Trajectory

if TYPE_CHECKING:  # who only asks a model needs no detectors
    from dense.detectors.assessment import TraceAssessment

Profile = Literal["fast", "paper"]
"""Which questions a language model is asked. The built-in rules ask none: their draft is the same for both."""


class Analysis(Struct, frozen=True):
    """What an analyst makes of a trajectory."""

    draft: TreeDraft
    """The tree, for `accept` to check."""
    assessment: TraceAssessment | None = None
    """The evidence that the draft rests on; None if it rests on somebody's reading, as that of a model."""


@runtime_checkable
class Analyst(Protocol):
    """Whoever analyses a trajectory as a whole."""

    @property
    def name(self) -> str: ...

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> Analysis:
        """The draft of the whole tree, and the evidence that it rests on.

        Without verdicts, nobody needs shortcuts, verdicts and issues: the analyst may leave them out. What an analyst
        cannot judge, it leaves at the default; an error ends the run."""
        ...
