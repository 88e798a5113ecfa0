"""An experiment's results laid out for comparison: for each recipient, by method and round, by task and repetition."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec import Struct

from dense.errors import DenseError
from refit.report.model import CellCounts, UnscoredCell
from refit.report.statistics.bootstrap import Pair
from refit.results import RUN0, Cell, Experiment, Result

type Condition = tuple[str, int]
"""A method and a round; `(RUN0, 0)` is the first attempt."""
FIRST: Condition = (RUN0, 0)


class ResultGrid(Struct, frozen=True):
    """One recipient's results."""

    recipient: str
    """Its name."""
    tasks: tuple[str, ...]
    """That it has, sorted."""
    results: dict[Condition, dict[Pair, Result]]
    """All of them, scored or not."""
    planned: dict[Condition, frozenset[Pair]]
    """What there should be: the plan where there is one, and all that there is."""

    def of(self, condition: Condition) -> dict[Pair, Result]:
        """The results of a method in a round."""
        return self.results.get(condition, {})

    def scored(self, condition: Condition) -> dict[Pair, Result]:
        """Those with a grade."""
        return {pair: result for pair, result in self.of(condition).items() if is_scored(result)}

    def paired(self, condition: Condition) -> dict[Pair, Result]:
        """Those with a grade whose first attempt has one too; all with a grade where there is no round 0 at all."""
        scored = self.scored(condition)
        if condition == FIRST or not self.has_first:
            return scored
        first = self.scored(FIRST)
        return {pair: result for pair, result in scored.items() if pair in first}

    @property
    def has_first(self) -> bool:
        """Whether there is a graded first attempt of anything."""
        return any(is_scored(result) for result in self.of(FIRST).values())

    def first_known(self) -> frozenset[Pair] | None:
        """Pairs whose first attempt has a grade: all numbers are over them. None if there is no round 0 at all."""
        return frozenset(self.scored(FIRST)) if self.has_first else None

    def methods_in(self, round: int) -> list[str]:
        """Which methods have a place in a round, planned or done."""
        return [method for method, at in self.planned if at == round]

    @property
    def last(self) -> int:
        """The last round."""
        return max((round for _, round in self.planned), default=0)

    @property
    def main(self) -> int:
        """The first round with feedback: where methods are compared."""
        return min((round for _, round in self.planned if round > 0), default=1)

    @property
    def repetitions(self) -> int:
        """The most that a task has."""
        counts: defaultdict[str, set[int]] = defaultdict(set)
        for pairs in self.planned.values():
            for task, repetition in pairs:
                counts[task].add(repetition)
        return max((len(repetitions) for repetitions in counts.values()), default=0)

    def counts(self, condition: Condition) -> CellCounts:
        """Its cells, by what came of them."""
        planned, results = self.planned.get(condition, frozenset()), self.of(condition)
        scored = len(self.scored(condition))
        return CellCounts(
            planned=len(planned),
            scored=scored,
            invalid=len(results) - scored,
            missing=len(planned) - len(results),
            unpaired=scored - len(self.paired(condition)),
            out_of_context=sum(result.attempt.is_out_of_context for result in results.values()),
        )


def is_scored(result: Result) -> bool:
    """Whether it has a grade. A reward that is no finite number is none."""
    return result.attempt.reward is not None and math.isfinite(result.attempt.reward)


def grids(experiment: Experiment, exclude: Collection[str] = ()) -> list[ResultGrid]:
    """A grid for each recipient, in the order of the experiment; tasks in `exclude` are left out."""
    _check(experiment.results)
    results: defaultdict[str, dict[Condition, dict[Pair, Result]]] = defaultdict(dict)
    planned: defaultdict[str, dict[Condition, set[Pair]]] = defaultdict(dict)
    for result in experiment.results:
        cell = result.cell
        if cell.task not in exclude:
            results[cell.recipient].setdefault(_condition(cell), {})[_pair(cell)] = result
    for cell in (*experiment.planned, *(result.cell for result in experiment.results)):
        if cell.task not in exclude:
            planned[cell.recipient].setdefault(_condition(cell), set()).add(_pair(cell))
    order = dict.fromkeys((*experiment.recipients, *planned))
    return [_grid(name, results[name], planned[name]) for name in order if planned[name]]


def _grid(name: str, results: dict[Condition, dict[Pair, Result]], planned: dict[Condition, set[Pair]]) -> ResultGrid:
    tasks = {task for pairs in planned.values() for task, _ in pairs}
    frozen = {condition: frozenset(pairs) for condition, pairs in planned.items()}
    return ResultGrid(name, tuple(sorted(tasks)), results, frozen)


def _condition(cell: Cell) -> Condition:
    return (RUN0 if cell.round == 0 else cell.method), cell.round


def _pair(cell: Cell) -> Pair:
    return cell.task, cell.repetition


def _check(results: Iterable[Result]) -> None:
    """What would silently spoil a number is refused."""
    known_keys: set[tuple[str, Condition, Pair]] = set()
    for result in results:
        cell = result.cell
        if cell.round > 0 and cell.method == RUN0:
            raise DenseError(f"{cell}: `{RUN0}` is the name of round 0; name the method that this run had feedback of")
        key = (cell.recipient, _condition(cell), _pair(cell))
        if key in known_keys:
            raise DenseError(f"{cell}: there are two results of this cell; keep the first that was scored")
        known_keys.add(key)


def methods_of(experiment: Experiment) -> list[str]:
    """All methods in the order of the experiment; those that it does not list follow as they come."""
    cells = (*experiment.planned, *(result.cell for result in experiment.results))
    names = dict.fromkeys((*experiment.methods, *(cell.method for cell in cells if cell.round > 0)))
    return [method for method in names if method != RUN0]


def unscored_cells(experiment: Experiment) -> tuple[UnscoredCell, ...]:
    """Every cell without a grade, with the reason, sorted."""
    unscored = [
        UnscoredCell(result.cell, False, why_unscored(result), result.attempt.is_out_of_context)
        for result in experiment.results
        if not is_scored(result)
    ]
    has_result = {result.cell for result in experiment.results}
    lost = {invalid.cell for invalid in unscored}
    unscored += [
        UnscoredCell(cell, True, _why_missing(cell, lost)) for cell in experiment.planned if cell not in has_result
    ]
    return tuple(sorted(unscored, key=lambda invalid: invalid.cell))


def why_unscored(result: Result) -> str:
    """What ended it; for a cell with a grade, what came up besides."""
    if result.attempt.ending or is_scored(result) or result.attempt.reward is None:
        return result.attempt.ending
    return f"the reward is {result.attempt.reward}"


def _why_missing(cell: Cell, lost: Collection[Cell]) -> str:
    """A run cannot be made where the one that its feedback is about has no grade."""
    before = [Cell(cell.recipient, cell.task, cell.repetition, 0, RUN0)]
    before += [Cell(cell.recipient, cell.task, cell.repetition, at, cell.method) for at in range(1, cell.round)]
    return "the run before it was not scored" if any(source in lost for source in before) else "not run yet"


def values[T](results: dict[Pair, Result], take: Callable[[Result], T | None]) -> dict[Pair, T]:
    """What is known of something, by pair. An endless time or price, or one that is no number, is not known."""
    return dict(_known(results, take))


def _known[T](results: dict[Pair, Result], take: Callable[[Result], T | None]) -> Iterator[tuple[Pair, T]]:
    for pair, result in results.items():
        value = take(result)
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            continue
        yield pair, value
