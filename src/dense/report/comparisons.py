"""Every method against round 0, against `none` and against `self-reflection`, and `dense` against each other.

A claim needs three things at once: Holm's p over the family below 0.05, an interval that excludes zero, and enough
tasks for an interval to mean anything. Everything else is `no claim`, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from dense.report.bootstrap import POINTS, Pair, Sample
from dense.report.exact import holm, mcnemar, sign_flip
from dense.report.model import Difference, Estimate, Interval, MethodName, Verdict
from dense.report.numbers import between, counted, fixed, p_phrase
from dense.report.pairs import FIRST, Condition, Grid, values
from dense.results import RUN0, Result

LEVEL = 0.05
FEW_TASKS = 10
"""With fewer, intervals are unreliable, and nothing is claimed."""
REFERENCES = (RUN0, "none", "self-reflection")
OURS = "dense"

type Names = Mapping[str, MethodName]
type Contrast = tuple[str, Condition, Condition]
"""A family, a method and its reference."""


def differences(grid: Grid, sample: Sample, names: Names) -> list[Difference]:
    """All comparisons of the first round with feedback, family by family."""
    found: list[Difference] = []
    for family in (*REFERENCES, OURS):
        contrasts = [contrast for contrast in _contrasts(grid, names) if contrast[0] == family]
        found += adjusted([_difference(grid, sample, names, *contrast) for contrast in contrasts])
    return found


def _contrasts(grid: Grid, names: Names) -> Iterator[Contrast]:
    round = grid.main
    present = set(grid.methods_in(round))
    methods = [method for method in names if method in present]
    for reference in REFERENCES:
        against = FIRST if reference == RUN0 else (reference, round)
        if grid.scored(against):
            yield from ((reference, (method, round), against) for method in methods if method != reference)
    if OURS in methods:
        yield from ((OURS, (OURS, round), (method, round)) for method in methods if method != OURS)


def _difference(grid: Grid, sample: Sample, names: Names, family: str, one: Condition, other: Condition) -> Difference:
    left, right = grid.scored(one), grid.scored(other)
    pairs = [pair for pair in left if pair in right]
    outcomes = {pair: (bool(left[pair].passed), bool(right[pair].passed)) for pair in pairs}
    tokens = _tokens({pair: left[pair] for pair in pairs}, {pair: right[pair] for pair in pairs}, sample)
    return contrast(sample, names, family, one, other, outcomes, tokens)


def contrast(
    sample: Sample,
    names: Names,
    family: str,
    one: Condition,
    other: Condition,
    outcomes: Mapping[Pair, tuple[bool, bool]],
    tokens: Estimate | None = None,
    *,
    equal_pairs: bool = False,
) -> Difference:
    """Of what each pair came to under the method and under its reference; tasks weigh the same, or pairs do."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for outcome in outcomes.values():
        counts[outcome] += 1
    signs = {pair: 100.0 * (a - b) for pair, (a, b) in outcomes.items()}
    points = sample.share(signs, POINTS) if equal_pairs else sample.mean(signs, bounds=POINTS)
    p, smallest = sign_flip(_by_task(outcomes)) if points.tasks > 1 else (None, None)
    return Difference(
        family=family,
        method=one[0],
        method_label=names[one[0]].label,
        reference=other[0],
        reference_label=names[other[0]].label,
        round=one[1],
        points=points,
        both=counts[True, True],
        method_only=counts[True, False],
        reference_only=counts[False, True],
        neither=counts[False, False],
        p=p,
        smallest_p=smallest,
        holm=None,
        mcnemar=mcnemar(counts[True, False], counts[False, True]) if outcomes else None,
        tokens=tokens,
        verdict="no claim",
        says="",
    )


def _by_task(outcomes: Mapping[Pair, tuple[bool, bool]]) -> list[Fraction]:
    """Each task's mean difference, exactly."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for (task, _), (a, b) in outcomes.items():
        found[task].append(a - b)
    return [Fraction(sum(signs), len(signs)) for signs in found.values()]


def _tokens(left: Mapping[Pair, Result], right: Mapping[Pair, Result], sample: Sample) -> Estimate | None:
    """Over pairs where the tokens of both are known."""
    ours = values(dict(left), lambda result: result.tokens)
    theirs = values(dict(right), lambda result: result.tokens)
    both = [pair for pair in ours if pair in theirs]
    if not both:
        return None
    return sample.change({pair: ours[pair] for pair in both}, {pair: theirs[pair] for pair in both}, of=len(left))


def adjusted(family: Sequence[Difference]) -> list[Difference]:
    """With Holm's p over the family, and what can be said."""
    found: list[Difference] = []
    for difference, p in zip(family, holm([difference.p for difference in family]), strict=True):
        verdict, says = _judged(difference, p, len(family))
        found.append(replace(difference, holm=p, verdict=verdict, says=says))
    return found


def _judged(difference: Difference, p: float | None, size: int) -> tuple[Verdict, str]:
    """The verdict and its reason."""
    points = difference.points
    if points.value is None:
        return "no claim", "no claim: no pair has both cells scored"
    if p is None or points.interval is None:
        return "no claim", "no claim: one task says nothing about others"
    told = f"{between(points.interval, 2)} points"
    if _includes_zero(points.interval):
        return "no claim", f"no claim: the interval includes zero ({told})"
    if points.tasks < FEW_TASKS:
        return "no claim", f"no claim: {points.tasks} tasks are too few, whatever the interval ({told})"
    if p >= LEVEL:
        over = f", adjusted over {counted(size, 'comparison')}" if size > 1 else ""
        return "no claim", f"no claim: {p_phrase(p)}{over}{_reach(difference, size)}"
    verdict: Verdict = "higher" if points.value > 0 else "lower"
    return verdict, f"{verdict} by {fixed(abs(points.value), 2)} points ({told}; {p_phrase(p)})"


def _includes_zero(interval: Interval) -> bool:
    return interval.low <= 0 <= interval.high


def _reach(difference: Difference, size: int) -> str:
    """Said where no outcome of the tasks that differ could have been enough."""
    smallest = difference.smallest_p
    if smallest is None or smallest * size < LEVEL:
        return ""
    return "; so few tasks differ that no smaller p than that of all of them pointing one way can be had"
