"""Every method against round 0, against `none` and against `self-reflection`, and `dense` against each other.

A claim needs three things at once: Holm's p over the family below 0.05, an interval that excludes zero, and enough
tasks for an interval to mean anything. And it must hold as well when cells that were never scored are counted against
it: a method whose failures end without a grade would else gain by them. Everything else is `no claim`, with the
reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import log2

from msgspec import Struct
from msgspec.structs import replace

from refit.report.grid import FIRST, Condition, ResultGrid, values
from refit.report.model import Difference, Interval, MeanEstimate, MethodName, Verdict, WorstCase
from refit.report.numbers import count_of, format_fixed, format_range, p_in_words
from refit.report.statistics.bootstrap import FEW_TASKS, POINTS, Pair, TaskSample
from refit.report.statistics.significance import holm, mcnemar, sign_flip
from refit.results import RUN0, Result, base_method

LEVEL = 0.05
REFERENCES = (RUN0, "none", "self-reflection")
OURS = "dense"


def ours_among(methods: Iterable[str]) -> str | None:
    """DENSE among methods: with the settings of the experiment, else the first of its arms; None without it."""
    ours = [method for method in methods if base_method(method) == OURS]
    return OURS if OURS in ours else next(iter(ours), None)


type MethodNames = Mapping[str, MethodName]
type Contrast = tuple[str, Condition, Condition]
"""A family, a method and its reference."""
type Outcomes = Mapping[Pair, tuple[bool, bool]]
"""Whether each pair passed under the method, and under its reference."""


class PossibleOutcome(Struct, frozen=True):
    """What a cell may have come to."""

    low: bool
    """Passed, if what has no grade failed."""
    high: bool
    """Passed, if what has no grade passed."""
    is_run: bool = True
    """Whether it was run at all."""

    @property
    def is_scored(self) -> bool:
        """Whether that is known."""
        return self.is_run and self.low == self.high


def differences(grid: ResultGrid, sample: TaskSample, names: MethodNames) -> list[Difference]:
    """All comparisons of the first round with feedback, family by family."""
    adjusted: list[Difference] = []
    for family in (*REFERENCES, OURS):
        contrasts = [contrast for contrast in _contrasts(grid, names) if contrast[0] == family]
        adjusted += adjust_family([_difference(grid, sample, names, *contrast) for contrast in contrasts])
    return adjusted


def _contrasts(grid: ResultGrid, names: MethodNames) -> Iterator[Contrast]:
    round = grid.main
    present = set(grid.methods_in(round))
    methods = [method for method in names if method in present]
    for at, reference in enumerate(REFERENCES):
        against = FIRST if reference == RUN0 else (reference, round)
        # `none` less `self-reflection` is in the family of `none` already, with the other sign.
        others = [method for method in methods if method not in REFERENCES[: at + 1]]
        if grid.scored(against):
            yield from ((reference, (method, round), against) for method in others)
    if (ours := ours_among(methods)) is not None:
        yield from ((OURS, (ours, round), (method, round)) for method in methods if method not in (ours, *REFERENCES))


def _difference(
    grid: ResultGrid, sample: TaskSample, names: MethodNames, family: str, condition: Condition, other: Condition
) -> Difference:
    left, right = grid.paired(condition), grid.paired(other)
    pairs = [pair for pair in left if pair in right]
    outcomes = {pair: (bool(left[pair].attempt.passed), bool(right[pair].attempt.passed)) for pair in pairs}
    tokens = _tokens({pair: left[pair] for pair in pairs}, {pair: right[pair] for pair in pairs}, sample)
    difference = contrast(sample, names, family, condition, other, outcomes, tokens)
    known = None if other == FIRST else grid.first_known()
    ours, theirs = (_possible(grid, side, known) for side in (condition, other))
    return replace(difference, worst=worst_case(sample, difference.points, ours, theirs))


def _possible(grid: ResultGrid, condition: Condition, among: Collection[Pair] | None) -> dict[Pair, PossibleOutcome]:
    """What each cell of a method may have come to, of the pairs that count."""
    results, scored = grid.of(condition), grid.scored(condition)
    return {
        pair: PossibleOutcome(bool(scored[pair].attempt.passed), bool(scored[pair].attempt.passed))
        if pair in scored
        else PossibleOutcome(False, True, pair in results)
        for pair in sorted(grid.planned.get(condition, ()))
        if among is None or pair in among
    }


def worst_case(
    sample: TaskSample,
    points: MeanEstimate,
    ours: Mapping[Pair, PossibleOutcome],
    theirs: Mapping[Pair, PossibleOutcome],
    *,
    equal_pairs: bool = False,
) -> WorstCase | None:
    """The difference with what has no grade counted against it. A pair that lacks both grades counts if both were run:
    where one was not, the experiment is unfinished or the pair was lost before the methods parted."""
    pairs = [pair for pair in ours if pair in theirs and _counts(ours[pair], theirs[pair])]
    unscored = [sum(not side[pair].is_scored for pair in pairs) for side in (ours, theirs)]
    if not any(unscored) or not points.value:
        return None
    is_higher = points.value > 0
    outcomes = {
        pair: (ours[pair].low, theirs[pair].high) if is_higher else (ours[pair].high, theirs[pair].low)
        for pair in pairs
    }
    estimate = _points(sample, outcomes, equal_pairs=equal_pairs)
    p = sign_flip(_by_task(outcomes))[0] if estimate.tasks > 1 else None
    return WorstCase(unscored[0], unscored[1], estimate, p)


def _counts(outcome: PossibleOutcome, other: PossibleOutcome) -> bool:
    return outcome.is_scored or other.is_scored or (outcome.is_run and other.is_run)


def contrast(
    sample: TaskSample,
    names: MethodNames,
    family: str,
    condition: Condition,
    other: Condition,
    outcomes: Outcomes,
    tokens: MeanEstimate | None = None,
    *,
    equal_pairs: bool = False,
) -> Difference:
    """Of what each pair came to under the method and under its reference; tasks weigh the same, or pairs do."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for outcome in outcomes.values():
        counts[outcome] += 1
    points = _points(sample, outcomes, equal_pairs=equal_pairs)
    p, smallest = sign_flip(_by_task(outcomes)) if points.tasks > 1 else (None, None)
    return Difference(
        family=family,
        method=condition[0],
        method_label=names[condition[0]].label,
        reference=other[0],
        reference_label=names[other[0]].label,
        round=condition[1],
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


def _points(sample: TaskSample, outcomes: Outcomes, *, equal_pairs: bool) -> MeanEstimate:
    signs = {pair: 100.0 * (a - b) for pair, (a, b) in outcomes.items()}
    return sample.share(signs, POINTS) if equal_pairs else sample.mean(signs, bounds=POINTS)


def _by_task(outcomes: Outcomes) -> list[Fraction]:
    """Each task's mean difference, exactly."""
    signs_by_task: defaultdict[str, list[int]] = defaultdict(list)
    for (task, _), (a, b) in outcomes.items():
        signs_by_task[task].append(a - b)
    return [Fraction(sum(signs), len(signs)) for signs in signs_by_task.values()]


def _tokens(left: Mapping[Pair, Result], right: Mapping[Pair, Result], sample: TaskSample) -> MeanEstimate | None:
    """Over pairs where the tokens of both are known."""
    ours = values(dict(left), lambda result: result.attempt.tokens)
    theirs = values(dict(right), lambda result: result.attempt.tokens)
    both = [pair for pair in ours if pair in theirs]
    if not both:
        return None
    return sample.change({pair: ours[pair] for pair in both}, {pair: theirs[pair] for pair in both}, of=len(left))


def adjust_family(family: Sequence[Difference]) -> list[Difference]:
    """With Holm's p over the family, and what can be said."""
    adjusted: list[Difference] = []
    values = holm([difference.p for difference in family])
    at_worst = holm([difference.worst.p if difference.worst else difference.p for difference in family])
    for difference, p, least in zip(family, values, at_worst, strict=True):
        against = replace(difference.worst, holm=least) if difference.worst else None
        verdict, says = _judged(difference, against, p, len(family))
        adjusted.append(replace(difference, holm=p, verdict=verdict, says=says, worst=against))
    return adjusted


def _judged(difference: Difference, worst: WorstCase | None, p: float | None, size: int) -> tuple[Verdict, str]:
    """The verdict and its reason."""
    points = difference.points
    if points.value is None:
        return "no claim", "no claim: no pair has both cells scored"
    if p is None or points.interval is None:
        return "no claim", "no claim: one task says nothing about others"
    text = f"{format_range(points.interval, 2)} points"
    if _includes_zero(points.interval):
        return "no claim", f"no claim: the interval includes zero ({text})"
    if points.tasks < FEW_TASKS:
        return "no claim", f"no claim: {points.tasks} tasks are too few, whatever the interval ({text})"
    if p >= LEVEL:
        over = f", adjusted over {count_of(size, 'comparison')}" if size > 1 else ""
        return "no claim", f"no claim: {p_in_words(p)}{over}{_reach(difference, size)}"
    verdict: Verdict = "higher" if points.value > 0 else "lower"
    if worst is not None and not _survives(worst, verdict):
        return "no claim", f"no claim: {_lost(difference, worst, verdict)}"
    return verdict, f"{verdict} by {format_fixed(abs(points.value), 2)} points ({text}; {p_in_words(p)})"


def _survives(worst: WorstCase, verdict: Verdict) -> bool:
    """Whether the claim holds with every cell that has no grade counted against it."""
    value, interval = worst.points.value or 0.0, worst.points.interval
    if interval is None or _includes_zero(interval) or worst.holm is None:
        return False
    return worst.holm < LEVEL and (value > 0) == (verdict == "higher")


def _lost(difference: Difference, worst: WorstCase, verdict: Verdict) -> str:
    """Why a claim does not survive, with the numbers."""
    ours, theirs = ("failures", "passes") if verdict == "higher" else ("passes", "failures")
    sides = [
        (worst.method_unscored, difference.method_label, ours),
        (worst.reference_unscored, difference.reference_label, theirs),
    ]
    text = " and ".join(
        f"{count_of(count, 'unscored cell')} of {label} as {kind}" for count, label, kind in sides if count
    )
    value, interval = worst.points.value or 0.0, worst.points.interval
    p = f", {p_in_words(worst.holm)}" if worst.holm is not None else ""
    reach = f" ({format_range(interval, 2)}{p})" if interval else ""
    return (
        f"{format_fixed(difference.points.value or 0.0, 2, sign=True)} points do not survive counting {text}: "
        f"{format_fixed(value, 2, sign=True)} points{reach}"
    )


def _includes_zero(interval: Interval) -> bool:
    return interval.low <= 0 <= interval.high


def _reach(difference: Difference, size: int) -> str:
    """Said where no outcome of the tasks that differ could have been enough."""
    smallest = difference.smallest_p
    if smallest is None or smallest * size < LEVEL:
        return ""
    differ, before = round(1 - log2(smallest)), "" if smallest >= LEVEL else " before that adjustment"
    least = format_fixed(smallest, 3)
    return f"; even if all {differ} differing tasks pointed one way, p could not be below {least}{before}"
