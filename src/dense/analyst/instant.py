"""Analysts that have nothing to wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from dense.analyst.answers import Answer
from dense.analyst.questions import AnyQuestion
from dense.evidence.actions import EffectsOf
from dense.trajectory import Trajectory

type Answering = Callable[[AnyQuestion], Answer]
"""Answers questions about one trajectory, with the answer model of each (`dense.analyst.answers.MODELS`)."""


@runtime_checkable
class InstantAnalyst(Protocol):
    """An analyst that answers at once, from the trajectory alone.

    `study` is called once for a distillation, before its first question, with the trajectory whose steps all questions
    hold: the same objects, after redaction. `effects` tells what a step did and remembers it, for everybody who wants
    to know in this distillation. What `study` gives back answers all questions; the answers are typed already, and are
    checked like those of any other analyst. An analyst that also has `ask` is studied with all the same."""

    name: str

    def study(self, trajectory: Trajectory, effects: EffectsOf) -> Answering: ...
