"""Exact tests and quantiles, by sums that are short enough to read.

Claims rest on `sign_flip`, over tasks: pairs of one task share the task, so they are no independent evidence, and the
tasks are. `mcnemar`, over pairs, is what others report, and stands beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from statistics import NormalDist

GRID = 2520
"""The finest step, as a part of one, for tasks' differences: exact for up to ten repetitions, however uneven."""
WORK = 400_000_000
"""Additions that one test may take, about half a second: with more than some five hundred tasks of uneven repetitions,
steps are coarser. A test of rounded differences is a test all the same; it keeps its level."""


def mcnemar(first: int, second: int) -> float:
    """Two-sided exact p of so many discordant pairs each way: twice the smaller binomial tail at one half."""
    total = first + second
    tail = sum(math.comb(total, k) for k in range(min(first, second) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**total)))


def sign_flip(differences: Sequence[Fraction]) -> tuple[float, float]:
    """Two-sided exact p of the sum of the tasks' differences when each could as well have had the other sign, and the
    smallest p that these sizes allow: that of all pointing one way.

    All 2^n ways are counted, not sampled: a list has, for each sum of sizes, the chance that the tasks with a minus add
    up to it; a further task is a shift and an addition. Both tails are the same, by symmetry."""
    from dense.report.bootstrap import numpy

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
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    least = 0.0
    for rank, (value, place) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * value))
        adjusted[place] = least
    return adjusted


def share_above(count: int, of: int, risk: float) -> float:
    """The largest share that so few hits do not rule out at this risk (Clopper and Pearson's upper end)."""
    if count >= of:
        return 1.0
    low, high = count / of, 1.0
    for _ in range(60):
        share = (low + high) / 2
        tail = math.fsum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(count + 1))
        low, high = (share, high) if tail > risk else (low, share)
    return high


@cache
def expanded_risk(tasks: int, risk: float) -> float:
    """The risk to take on each side of a percentile interval so that, for a mean of so many tasks, it is as wide as
    Student's. Bootstrap means vary less than they should by (n - 1) / n, and know nothing of Student's tails."""
    wide = math.sqrt(tasks / (tasks - 1)) * student_quantile(1 - risk, tasks - 1)
    return NormalDist().cdf(-wide)


def student_quantile(probability: float, freedom: int) -> float:
    """Student's t at a probability of at least one half, by halving."""
    low, high = 0.0, 1e4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student(middle, freedom) < probability else (low, middle)
    return high


def _student(value: float, freedom: int) -> float:
    """Student's distribution function: for whole degrees of freedom a finite sum of powers of a cosine."""
    angle = math.atan(value / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return 0.5 + inside / 2
