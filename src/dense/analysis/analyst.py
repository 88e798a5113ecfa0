"""The seam of all analysts: from a trajectory to the draft of its tree, and the evidence that it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct

from dense.draft import TreeDraft
from dense.trajectory import Trajectory

if TYPE_CHECKING:  # who only asks a model needs no detectors
    from dense.analysis.detectors.assessment import TraceAssessment


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
