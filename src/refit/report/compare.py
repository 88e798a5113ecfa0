"""Two experiments against each other: the paired difference of two methods, over the pairs that both scored.

For a gate in continuous integration: was the last change of a prompt, an agent or a method for the worse?"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.errors import DenseError
from refit.report.grid import ResultGrid, grids, methods_of
from refit.report.model import Difference, MeanEstimate, MethodName
from refit.report.statistics.bootstrap import DRAWS, RATE, SEED, TaskSample
from refit.report.statistics.comparisons import contrast, ours_among
from refit.report.wording import name_methods
from refit.results import RUN0, Experiment


class Side(Struct, frozen=True):
    """One side of a comparison: an experiment, and which of its methods."""

    experiment: Experiment
    """Where its results are."""
    method: str | None = None
    """Which method; None for DENSE, or for the only method that there is."""

    def name(self) -> MethodName:
        """The method as reports show it."""
        methods = [name for name in methods_of(self.experiment) if name != "none"] or methods_of(self.experiment)
        wanted = self.method or ours_among(methods) or (methods[0] if len(methods) == 1 else None)
        known = {name.method: name for name in name_methods(methods_of(self.experiment), self.experiment.privileged)}
        if wanted is None or wanted not in known:
            what = "name one of its methods" if wanted is None else f"has no method {wanted!r}"
            origin = self.experiment.folder or self.experiment.name
            raise DenseError(f"{origin}: {what}: {origin}#METHOD; there are {', '.join(known)}")
        return known[wanted]


class PairedComparison(Struct, frozen=True):
    """One recipient's comparison: the second side less the first."""

    recipient: str
    """Whose runs."""
    first: MeanEstimate
    """The first side's pass rate in percent, over the pairs."""
    second: MeanEstimate
    """The second side's."""
    difference: Difference
    """The second less the first, in points, with its interval and exact p."""
    unpaired: int
    """Results that only one side has scored: in no number."""


def compare(
    first: Side, second: Side, *, round: int = 1, recipients: Sequence[str] = (), seed: int = SEED, draws: int = DRAWS
) -> list[PairedComparison]:
    """The second side less the first, for each recipient that both have. Pairs are a task and a repetition."""
    left, right = first.name(), second.name()
    theirs = {grid.recipient: grid for grid in grids(first.experiment)}
    ours = {grid.recipient: grid for grid in grids(second.experiment)}
    common = [name for name in ours if name in theirs]
    if missing := [name for name in recipients if name not in common]:
        there = ", ".join(common) or "none"
        raise DenseError(f"recipient {missing[0]!r} is not in both experiments; in both are {there}")
    if not common:
        raise DenseError(
            f"no recipient is in both experiments: {', '.join(theirs)} in one, {', '.join(ours)} in the other"
        )
    comparisons = [
        _compared(theirs[name], ours[name], left, right, round, draws, seed) for name in recipients or common
    ]
    if not any(comparison.difference.points.known for comparison in comparisons):
        raise DenseError(f"no pair is scored on both sides ({left.label} and {right.label} in round {round})")
    return comparisons


def _compared(
    left: ResultGrid, right: ResultGrid, first: MethodName, second: MethodName, round: int, draws: int, seed: int
) -> PairedComparison:
    before = left.scored((first.method, 0 if first.method == RUN0 else round))
    after = right.scored((second.method, 0 if second.method == RUN0 else round))
    pairs = sorted(pair for pair in after if pair in before)
    sample = TaskSample(sorted({task for task, _ in pairs}), draws, seed)
    outcomes = {pair: (bool(after[pair].attempt.passed), bool(before[pair].attempt.passed)) for pair in pairs}
    # One name may be on both sides; the contrast looks them up by it.
    names = {"first": first, "second": second}
    rates = [
        sample.mean({pair: 100.0 * outcome[side] for pair, outcome in outcomes.items()}, bounds=RATE) for side in (1, 0)
    ]
    difference = contrast(sample, names, "compare", ("second", round), ("first", round), outcomes)
    unpaired = len(before) + len(after) - 2 * len(pairs)
    return PairedComparison(right.recipient, rates[0], rates[1], difference, unpaired)
