"""One method in one round, for one recipient: every number of its row.

All numbers of a row are over the same pairs: those that are graded now and were graded in round 0. What is unknown of
them is left out of a mean, and the mean says of how many it is; nothing unknown becomes a zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from refit.measures import AVERAGED, feedback_tokens
from refit.report.grid import FIRST, Condition, ResultGrid, values
from refit.report.model import MeanEstimate, MethodName, MethodRow, Ranks, RecordedCost, StandardCost, Transition
from refit.report.prices import usd
from refit.report.statistics.bootstrap import POINTS, RATE, Pair, TaskSample
from refit.results import Prices, Result

type Results = dict[Pair, Result]


class TokenRates(Struct, frozen=True):
    """What tokens cost."""

    recipient: Prices | None = None
    """Those of the recipient's model."""
    analyst: Prices | None = None
    """Those of the model that wrote the feedback."""


def method_row(
    grid: ResultGrid, sample: TaskSample, name: MethodName, condition: Condition, rates: TokenRates
) -> MethodRow:
    """Everything about a method in a round, ranks excepted."""
    results, first = grid.paired(condition), grid.scored(FIRST)
    is_first = condition == FIRST
    source = {pair: first[pair] for pair in results if pair in first}
    against = not is_first and bool(source)
    known = values(results, lambda result: result.attempt.tool_calls)
    before = _mean_passed(sample, source) if against else None
    return MethodRow(
        method=name.method,
        label=name.label,
        role=name.role,
        round=condition[1],
        counts=grid.counts(condition),
        passes=sum(bool(result.attempt.passed) for result in results.values()),
        passed=sample.mean(values(results, _passed), bounds=RATE),
        change=sample.mean(_changes(results, source), bounds=POINTS) if against else None,
        source_passed=before,
        means={measure.name: _mean(sample, results, measure.average) for measure, _ in AVERAGED},
        tokens=_mean(sample, results, lambda result: result.attempt.tokens),
        tokens_change=None if is_first else _tokens_change(sample, results, first),
        partial=sum(result.attempt.is_partial for result in results.values()),
        is_generated=is_generated(results.values()),
        without_tools=sum(calls == 0 for calls in known.values()) if known else None,
        cost=_cost(sample, results, first, condition[1], rates),
        recorded=_recorded(sample, results),
        transition=transition(results, source) if against else None,
        ranks=Ranks(),
    )


def _passed(result: Result) -> float | None:
    return None if result.attempt.passed is None else 100.0 * result.attempt.passed


def _mean_passed(sample: TaskSample, results: Results) -> float | None:
    return sample.mean(values(results, _passed)).value


def _changes(results: Results, source: Results) -> dict[Pair, float]:
    """Of each pair, in points."""
    return {pair: 100.0 * (bool(results[pair].attempt.passed) - bool(source[pair].attempt.passed)) for pair in results}


def _mean(sample: TaskSample, results: Results, take: Callable[[Result], float | None]) -> MeanEstimate:
    return sample.mean(values(results, take), of=len(results))


def _tokens_change(sample: TaskSample, results: Results, first: Results) -> MeanEstimate:
    """Against the row of the baseline as it is shown: all graded first attempts."""
    tokens = values(results, lambda result: result.attempt.tokens)
    return sample.change(tokens, values(first, lambda result: result.attempt.tokens), of=len(results))


def is_generated(results: Iterable[Result]) -> bool | None:
    """Whether any call was made for feedback; None where that is nowhere recorded."""
    known = [tokens for result in results if (tokens := feedback_tokens(result)) is not None]
    return any(known) if known else None


def _cost(sample: TaskSample, results: Results, first: Results, round: int, rates: TokenRates) -> StandardCost | None:
    if rates.recipient is None:
        return None
    is_first = round == 0
    execution = values(results, lambda result: usd(result.attempt.usage, rates.recipient))
    feedback = dict.fromkeys(results, 0.0) if is_first else values(results, lambda result: _made(result, rates))
    total = {pair: cost + feedback[pair] for pair, cost in execution.items() if pair in feedback}
    base = values(first, lambda result: usd(result.attempt.usage, rates.recipient))
    workflow = total if is_first else {pair: cost + base[pair] for pair, cost in total.items() if pair in base}
    of = len(results)
    return StandardCost(
        execution=sample.mean(execution, of),
        feedback=sample.mean(feedback, of) if is_generated(results.values()) else MeanEstimate(),
        total=sample.mean(total, of),
        total_change=None if is_first else sample.change(total, base, of),
        workflow=sample.mean(workflow, of) if round <= 1 else MeanEstimate(),
        uncached=sum(
            result.attempt.usage is not None and result.attempt.usage.cache_read is None for result in results.values()
        ),
    )


def _made(result: Result, rates: TokenRates) -> float | None:
    """USD of one feedback. Where no call was made it is zero, whatever a call would cost."""
    return 0.0 if feedback_tokens(result) == 0 else usd(result.feedback, rates.analyst)


def _recorded(sample: TaskSample, results: Results) -> RecordedCost | None:
    execution = _mean(sample, results, lambda result: result.attempt.usage.cost_usd if result.attempt.usage else None)
    feedback = _mean(sample, results, lambda result: result.feedback.cost_usd if result.feedback else None)
    return RecordedCost(execution, feedback) if execution.known or feedback.known else None


def transition(results: Results, source: Results) -> Transition:
    """Pairs by what they were before and are now."""
    counts = {(was, now): 0 for was in (True, False) for now in (True, False)}
    tools: list[int] = []
    for pair, result in results.items():
        kind = bool(source[pair].attempt.passed), bool(result.attempt.passed)
        counts[kind] += 1
        if kind == (True, False) and result.attempt.tool_calls is not None:
            tools.append(result.attempt.tool_calls)
    is_recorded = any(result.attempt.tool_calls is not None for result in results.values())
    return Transition(
        retained=counts[True, True],
        regressed=counts[True, False],
        repaired=counts[False, True],
        failed=counts[False, False],
        regressed_without_tools=sum(calls == 0 for calls in tools) if is_recorded else None,
    )


def rank(numbers: Sequence[float | None], *, most_is_best: bool = False) -> list[int | None]:
    """1 for the best, 2 for the second; equal ones share. Equal is equal to twelve digits: the same counts, added in
    another order, are the same rate."""
    cleaned = [None if number is None else float(f"{number:.12g}") for number in numbers]
    order = sorted({number for number in cleaned if number is not None}, reverse=most_is_best)
    places = {number: position for position, number in enumerate(order, start=1)}
    return [None if number is None else places[number] for number in cleaned]


def with_ranks(rows: Sequence[MethodRow]) -> list[MethodRow]:
    """With ranks among the rows given, which are those of one table; privileged ones have none."""
    open_rows = [row for row in rows if row.role != "privileged"]
    costs = [row.cost for row in open_rows]
    columns = zip(
        rank([row.passed.value for row in open_rows], most_is_best=True),
        rank([row.tokens.value for row in open_rows]),
        rank([cost and cost.execution.value for cost in costs]),
        rank([cost and cost.feedback.value for cost in costs]),
        rank([cost and cost.total.value for cost in costs]),
        strict=True,
    )
    ranks = {row.method: Ranks(*column) for row, column in zip(open_rows, columns, strict=True)}
    return [replace(row, ranks=ranks.get(row.method, Ranks())) for row in rows]
