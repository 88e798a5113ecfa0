"""Exact tests, Holm's adjustment, and the quantiles that intervals need.

Claims rest on `sign_flip`, over tasks: pairs of one task share the task, so they are not independent evidence; tasks
are. `mcnemar`, over pairs, is shown beside it because other reports use it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from refit.report.statistics.libraries import numpy, scipy_special

GRID = 2520
"""The finest step, as a part of one, for tasks' differences: exact for up to ten repetitions, however uneven."""
WORK = 400_000_000
"""Additions that one test may take, about half a second: with more than some five hundred tasks of uneven repetitions,
steps are coarser. A test of rounded differences is a test all the same; it keeps its level."""


def mcnemar(first: int, second: int) -> float:
    """Two-sided exact p of so many discordant pairs each way: the binomial test at one half."""
    tail = scipy_special().bdtr(min(first, second), first + second, 0.5)
    return min(1.0, 2 * float(tail))


def sign_flip(differences: Sequence[Fraction]) -> tuple[float, float]:
    """Two-sided exact p of the sum of the tasks' differences when each could as well have had the other sign, and the
    smallest p that these sizes allow: that of all pointing one way.

    All 2^n ways are counted, not sampled: a list has, for each sum of sizes, the chance that the tasks with a minus add
    up to it; a further task is a shift and an addition. Both tails are the same, by symmetry."""
    sizes, observed = _steps(differences)
    smallest = float(min(Fraction(1), Fraction(2, 2 ** len(sizes))))
    if not observed:
        return 1.0, smallest
    chances = numpy().zeros(sum(sizes) + 1)
    chances[0], reach = 1.0, 0
    for size in sizes:
        reach += size
        chances[size : reach + 1] += chances[: reach + 1 - size].copy()
        chances[: reach + 1] /= 2
    tail = chances[: (reach - abs(observed)) // 2 + 1]
    return min(1.0, 2 * math.fsum(tail.tolist())), smallest


def _steps(differences: Sequence[Fraction]) -> tuple[list[int], int]:
    """The sizes of the differences that are not zero, and their sum with signs, in steps of a common grid."""
    exact = math.lcm(*(difference.denominator for difference in differences))
    total = len(differences) * sum(map(abs, differences))
    denominator = min(exact, GRID, max(1, int(WORK / total)) if total else 1)
    steps = [round(difference * denominator) for difference in differences]
    return sorted(abs(step) for step in steps if step), sum(steps)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p-values adjusted over their family, step down; None has no part in it."""
    known = sorted((value, position) for position, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    least = 0.0
    for rank, (value, position) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * value))
        adjusted[position] = least
    return adjusted


def share_above(count: int, of: int, risk: float) -> float:
    """The largest share that so few hits do not rule out at this risk (Clopper and Pearson's upper end)."""
    return 1.0 if count >= of else float(scipy_special().betaincinv(count + 1, of - count, 1 - risk))


@cache
def students_quantile(degrees: int, share: float) -> float:
    """Of Student's distribution."""
    return float(scipy_special().stdtrit(degrees, share))


@cache
def expanded_risk(tasks: int, risk: float) -> float:
    """The risk on each side of a percentile interval that makes it, for a mean of so many tasks, as wide as Student's.

    Bootstrap means vary less than they should by (n - 1) / n, and ignore the tails of Student's distribution."""
    special = scipy_special()
    wide = math.sqrt(tasks / (tasks - 1)) * students_quantile(tasks - 1, 1 - risk)
    return float(special.ndtr(-wide))
