"""The built-in rules as the one who answers the questions of methods other than DENSE.

Labels, verdict and lessons are those of the rules' own draft; only the wrapping is a method's. So methods differ by
what they ask and show, not by who answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import cast

from dense.analysis.asking.questions import Correction, MethodQuestion, Question
from dense.analysis.rules import RulesAnalyst
from dense.draft import SubtaskDraft
from dense.trajectory import Trajectory


class RulesAnswerer:
    """The built-in rules, for questions about one trajectory."""

    name = RulesAnalyst.name

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        self._results: dict[object, object] = {}

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The answer as a model would write it."""
        del correction  # the rules would say the same again
        if not isinstance(question, MethodQuestion):
            raise TypeError(f"{question.kind} is no question of a method")
        return question.by_rules(self).json()

    @cached_property
    def root(self) -> SubtaskDraft:
        """The attempt as one subtask, without the parts that a tree would have."""
        return RulesAnalyst().analysed(self._trajectory, is_flat=True).draft.root

    def once[R](self, look: Callable[[Trajectory], R]) -> R:
        """What a function makes of the trajectory: many questions share it."""
        if look not in self._results:
            self._results[look] = look(self._trajectory)
        return cast("R", self._results[look])
