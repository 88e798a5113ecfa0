"""Solved at least once: pairs that passed in some round up to each, over pairs that are matched among all methods.

A pair counts only if every method has a grade for it in every round, so that all lines have the same denominator and
start from the same point. Pairs are weighted equally, as in the paper; tasks are still what is resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from refit.report.grid import FIRST, Condition, ResultGrid
from refit.report.model import CumulativeLine, CumulativePoint, Difference
from refit.report.statistics.bootstrap import Pair, TaskSample
from refit.report.statistics.comparisons import (
    MethodNames,
    PossibleOutcome,
    adjust_family,
    contrast,
    ours_among,
    worst_case,
)
from refit.results import RUN0


def solved(grid: ResultGrid, methods: Sequence[str]) -> tuple[dict[str, list[dict[Pair, bool]]], int]:
    """For each method, by round from 0: whether each matched pair was solved by then; and how many pairs are not."""
    methods = [
        method for method in methods if any((method, round) in grid.planned for round in range(1, 1 + grid.last))
    ]
    chains = {method: _chain(grid, method) for method in methods}
    matched = set(grid.scored(FIRST))
    every = set(grid.planned.get(FIRST, frozenset[Pair]()))
    for chain in chains.values():
        for condition in chain:
            matched &= set(grid.scored(condition))
    pairs = sorted(matched)
    rounds: dict[str, list[dict[Pair, bool]]] = {}
    for method, chain in chains.items():
        so_far = dict.fromkeys(pairs, False)
        rounds[method] = []
        for condition in chain:
            results = grid.of(condition)
            so_far = {pair: was or bool(results[pair].attempt.passed) for pair, was in so_far.items()}
            rounds[method].append(so_far)
    return rounds, len(every) - len(pairs)


def _chain(grid: ResultGrid, method: str) -> list[Condition]:
    last = max(round for name, round in grid.planned if name == method)
    return [FIRST, *((method, at) for at in range(1, 1 + last))]


def lines(
    solved_by_method: Mapping[str, Sequence[Mapping[Pair, bool]]], sample: TaskSample, names: MethodNames
) -> list[CumulativeLine]:
    """A line for each method; none where no pair is matched."""
    return [
        CumulativeLine(
            method=method,
            label=names[method].label,
            role=names[method].role,
            points=tuple(_point(round, solved_by, sample) for round, solved_by in enumerate(rounds)),
        )
        for method, rounds in solved_by_method.items()
        if rounds and rounds[0]
    ]


def _point(round: int, solved_by: Mapping[Pair, bool], sample: TaskSample) -> CumulativePoint:
    share = sample.share({pair: 100.0 * was for pair, was in solved_by.items()})
    return CumulativePoint(round, sum(solved_by.values()), share)


def differences(
    solved_by_method: Mapping[str, Sequence[Mapping[Pair, bool]]],
    grid: ResultGrid,
    sample: TaskSample,
    names: MethodNames,
) -> list[Difference]:
    """After the last round: `dense` less each other; without `dense`, each less the first control that there is."""
    last = grid.last
    ends = {method: rounds[-1] for method, rounds in solved_by_method.items() if len(rounds) == last + 1 and rounds[-1]}
    control = next((name for name in ("none", "self-reflection") if name in ends), None)
    ours = ours_among(ends)
    if last < 2 or len(ends) < 2 or (ours is None and control is None):
        return []
    others = [name for name in ends if name not in (ours, RUN0)]
    pairs = [(ours, name) for name in others if ours is not None]
    if ours is None:
        pairs = [(name, control) for name in others if control is not None and name != control]
    possible = {method: _possible(grid, method) for method in ends}
    contrasts: list[Difference] = []
    for method, reference in pairs:
        outcomes = {pair: (was, ends[reference][pair]) for pair, was in ends[method].items()}
        conditions = (method, last), (reference, last)
        difference = contrast(sample, names, "cumulative", *conditions, outcomes, equal_pairs=True)
        against = worst_case(sample, difference.points, possible[method], possible[reference], equal_pairs=True)
        contrasts.append(replace(difference, worst=against))
    return adjust_family(contrasts)


def _possible(grid: ResultGrid, method: str) -> dict[Pair, PossibleOutcome]:
    """Whether each pair whose first attempt has a grade may have been solved in the end, by rounds without one too."""
    chain = [(grid.of(condition), grid.scored(condition)) for condition in _chain(grid, method)]
    outcomes: dict[Pair, PossibleOutcome] = {}
    for pair in grid.scored(FIRST):
        is_solved = any(bool(scored[pair].attempt.passed) for _, scored in chain if pair in scored)
        is_known = is_solved or all(pair in scored for _, scored in chain)
        is_run = is_solved or all(pair in results for results, _ in chain)
        outcomes[pair] = PossibleOutcome(is_solved, is_solved or not is_known, is_run)
    return outcomes
