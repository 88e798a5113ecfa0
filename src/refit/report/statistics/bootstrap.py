"""Means over tasks with 95 % intervals, by resampling the tasks.

Tasks are what was sampled, so tasks are drawn, each with all that belongs to it: its repetitions, its round 0, its runs
under every method. One set of draws serves everything of a recipient, so differences are paired by construction.

The interval is the percentile interval at an expanded level (Hesterberg): with 89 tasks it is nearly the plain one,
with 12 it is as wide as Student's. Of plain percentile, BCa, studentised and expanded it was the one that covered, in
simulations as in `bench/coverage.py`, at 89, at 30 and at 12 tasks. Where fewer than three tasks differ from the value
that all others have, resampling knows too little: then the interval also takes in what so few tasks cannot rule out, by
Clopper and Pearson's bound on the share of tasks that lie above, and below. Amounts without bounds (tokens, time,
money) of few tasks take in Student's interval, because no draw leaves the range of the tasks that were seen."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from dense.errors import DenseError
from refit.report.model import Interval, MeanEstimate
from refit.report.statistics.libraries import numpy
from refit.report.statistics.significance import expanded_risk, share_above, students_quantile

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    type Vector = NDArray[float64]

DRAWS = 10_000
SEED = 20_260_101
RISK = 0.025
"""On each side."""
FEW_TASKS = 10
"""With fewer, intervals are unreliable and nothing is claimed; those of amounts are widened."""
FEW_DIFFER = 3
"""Fewer tasks than this that differ from all others' value: resampling alone is not believed."""

type Pair = tuple[str, int]
"""A task and a repetition."""
type Bounds = tuple[float, float]
"""Between which a value must lie, if anything is known of that."""
RATE: Bounds = (0.0, 100.0)
POINTS: Bounds = (-100.0, 100.0)


class TaskSample:
    """The tasks of one recipient, and the draws from them that all its numbers share."""

    def __init__(self, tasks: Sequence[str], draws: int = DRAWS, seed: int = SEED) -> None:
        if draws < 100:
            raise DenseError(f"{draws} draws are too few for an interval; take at least 100, better {DRAWS:,}")
        self.tasks = tuple(tasks)
        self._place = {task: row for row, task in enumerate(self.tasks)}
        self._weights = weights(len(self.tasks), draws, seed)

    def mean(self, values: Mapping[Pair, float], of: int | None = None, bounds: Bounds | None = None) -> MeanEstimate:
        """Of values by pair: repetitions within a task first, then tasks equally."""
        if not values:
            return MeanEstimate(of=of or 0)
        means = task_means(values)
        interval = self._interval_of_mean(means, bounds)
        return MeanEstimate(_mean(means.values()), interval, len(means), len(values), len(values) if of is None else of)

    def change(self, values: Mapping[Pair, float], base: Mapping[Pair, float], of: int | None = None) -> MeanEstimate:
        """Ratio of two means, less one, in percent. Each mean is over the pairs that it has."""
        if not values or not base:
            return MeanEstimate(of=len(values) if of is None else of)
        top, bottom = task_means(values), task_means(base)
        below = _mean(bottom.values())
        if below <= 0:
            return MeanEstimate(tasks=len(top), known=len(values), of=len(values) if of is None else of)
        value = 100 * (_mean(top.values()) / below - 1)
        interval = self._interval_of_ratio(top, bottom)
        return MeanEstimate(value, interval, len(top), len(values), len(values) if of is None else of)

    def share(self, values: Mapping[Pair, float], bounds: Bounds = RATE) -> MeanEstimate:
        """Of values by pair, all pairs equally; tasks are drawn all the same."""
        if not values:
            return MeanEstimate()
        by_task = _by_task(values)
        total = math.fsum(values.values()) / len(values)
        sums = {task: math.fsum(repetitions) for task, repetitions in by_task.items()}
        sizes = {task: float(len(repetitions)) for task, repetitions in by_task.items()}
        interval = _interval(_quotient(self._drawn(sums), self._drawn(sizes)), task_means(values), bounds)
        return MeanEstimate(total, interval, len(sums), len(values), len(values))

    def _interval_of_mean(self, means: Mapping[str, float], bounds: Bounds | None) -> Interval | None:
        if len(means) < 2:
            return None
        interval = _interval(self._means(means), means, bounds)
        if interval is None or bounds is not None:
            return interval
        return _widened(interval, list(means.values()), least=0.0 if min(means.values()) >= 0 else -math.inf)

    def _interval_of_ratio(self, top: Mapping[str, float], bottom: Mapping[str, float]) -> Interval | None:
        if min(len(top), len(bottom)) < 2:
            return None
        ratios = {task: value / bottom[task] for task, value in top.items() if bottom.get(task)}
        interval = _interval(100 * (_quotient(self._means(top), self._means(bottom)) - 1), ratios, None)
        both = [task for task in top if task in bottom]
        if interval is None or len(both) < 2:
            return interval
        below = _mean(bottom[task] for task in both)
        ratio = _mean(top[task] for task in both) / below
        deviations = [100 * (top[task] - ratio * bottom[task]) / below for task in both]
        return _widened(interval, deviations, centre=100 * (ratio - 1), least=-100.0)

    def _means(self, means: Mapping[str, float]) -> Vector:
        """The mean over the drawn tasks that are known, for each draw."""
        if len(means) == len(self.tasks):
            return self._drawn(means) / len(means)
        return _quotient(self._drawn(means), self._drawn(dict.fromkeys(means, 1.0)))

    def _drawn(self, values: Mapping[str, float]) -> Vector:
        """The sum over the drawn tasks, for each draw."""
        package = numpy()
        column = package.zeros(len(self.tasks))
        for task, value in values.items():
            column[self._place[task]] = value
        # Not `@`: its threads cost more than they bring, and may add in another order on another machine.
        sums: Vector = package.einsum("td,t->d", self._weights, column)
        return sums


def _quotient(top: Vector, bottom: Vector) -> Vector:
    """A draw without any task that is known has no mean, and is left out."""
    with numpy().errstate(divide="ignore", invalid="ignore"):
        return top / bottom


@lru_cache(maxsize=2)
def weights(tasks: int, draws: int, seed: int) -> Vector:
    """How often each task (row) is in each draw. numpy promises never to change the stream of `RandomState`."""
    package = numpy()
    if tasks == 0:
        return package.zeros((0, draws))
    random = package.random.RandomState(seed)
    drawn = random.randint(0, tasks, size=(draws, tasks)) + package.arange(draws)[:, None] * tasks
    counts = package.bincount(drawn.ravel(), minlength=draws * tasks)
    by_task = package.ascontiguousarray(counts.reshape(draws, tasks).T.astype(float))
    by_task.flags.writeable = False
    return by_task


def task_means(values: Mapping[Pair, float]) -> dict[str, float]:
    """Each task's mean over the repetitions that it has."""
    return {task: _mean(repetitions) for task, repetitions in _by_task(values).items()}


def _by_task(values: Mapping[Pair, float]) -> dict[str, list[float]]:
    by_task: defaultdict[str, list[float]] = defaultdict(list)
    for (task, _), value in values.items():
        by_task[task].append(value)
    return by_task


def count_differing(values: Iterable[Hashable]) -> int:
    """How many values are not the most common one."""
    counts = Counter(values)
    return counts.total() - max(counts.values(), default=0)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return math.fsum(known) / len(known)


def _interval(drawn: Vector, values: Mapping[str, float], bounds: Bounds | None) -> Interval | None:
    """Of the draws of a mean, or of something like it, over the tasks that have these values."""
    if len(values) < 2:
        return None
    package = numpy()
    drawn = drawn[package.isfinite(drawn)]
    rounded = [_clean(value) for value in values.values()]
    few = count_differing(rounded) < FEW_DIFFER
    if not drawn.size or (few and bounds is None and count_differing(rounded) == 0):
        return None
    risk = expanded_risk(len(values), RISK)
    low, high = (float(end) for end in package.quantile(drawn, (risk, 1 - risk)))
    if few and bounds is not None:
        least, most = _bound(rounded, bounds)
        return Interval(_clean(min(low, least)), _clean(max(high, most)), "bound")
    return Interval(_clean(low), _clean(high))


def _widened(interval: Interval, values: Sequence[float], *, least: float, centre: float | None = None) -> Interval:
    """An interval of an amount, which is not below `least`, with Student's taken in where tasks are few: around the
    mean of the values, or around `centre` if the values are the tasks' deviations from it."""
    if len(values) >= FEW_TASKS:
        return interval
    middle = _mean(values)
    spread = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values))
    reach = students_quantile(len(values) - 1, 1 - RISK) * spread
    around = middle if centre is None else centre
    low = min(interval.low, max(around - reach, least))
    return Interval(_clean(low), _clean(max(interval.high, around + reach)), "bound")


def _bound(values: Sequence[float], bounds: Bounds) -> tuple[float, float]:
    """What the mean may be, at most, if so few tasks lie above the common value and so few below."""
    common = Counter(values).most_common(1)[0][0]
    above = share_above(sum(value > common for value in values), len(values), RISK)
    below = share_above(sum(value < common for value in values), len(values), RISK)
    return common - (common - bounds[0]) * below, common + (bounds[1] - common) * above


def _clean(value: float) -> float:
    """Ten digits: the same on every processor, whatever the order in which it adds."""
    return float(f"{value:.10g}")
