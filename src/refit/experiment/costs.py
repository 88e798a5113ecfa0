"""What an experiment would take, before it is run: attempts of the recipients and calls of the analyst, by traces like
those to come.

Nothing is known of attempts that were not made. The attempts that are already there are the best example; otherwise
the user may name traces; otherwise only numbers of attempts and of feedbacks are reported."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from dense.errors import DenseError
from dense.methods import method
from dense.model import GivenPrices, PriceSource, highest_prices_of, resolve
from dense.readers import read
from dense.service.estimate import CostEstimate, estimate
from dense.trajectory import Trajectory, Usage
from refit.experiment.config import RecipientConfig
from refit.experiment.experiment import listed_prices
from refit.experiment.plan import Plan
from refit.experiment.store.state import format_usd, load_state
from refit.report.prices import usd
from refit.results import Cell, total_of

MAX_EXAMPLE_TRACES = 12
"""So many examples are looked at."""


def describe_costs(plan: Plan, like: Path | None) -> Iterator[str]:
    """Lines on what the feedback would take, and on recipients if attempts show it."""
    config = plan.config
    state = load_state(plan.folder)
    left = [cell for cell in plan.cells if state is None or not state.of(cell).is_done]
    if not left:
        yield "nothing is left to run"
        return
    examples = list(_examples(plan, like))
    yield from _recipients(plan, left, examples if like is not None else [], like)
    wanted = Counter(cell.method for cell in left if cell.round and cell.method != "none")
    if config.analyst.options.model is None:
        yield f"feedback: {wanted.total()} times by the built-in rules: no call, no cost"
        return
    if not examples:
        yield (
            f"feedback: {wanted.total()} times by {config.analyst.options.model}; calls and cost are unknown "
            "before an attempt was made: name traces like those to come with --like"
        )
        return
    where = f"of {like}" if like else "of round 0"
    yield f"by {len(examples)} traces {where}:"
    total: float | None = 0.0
    for name, times in wanted.items():
        if ":" in name:
            yield f"  {name}, {times} times: unknown; a plan does not import a method of your own"
            total = None
            continue
        cost, each = _estimated(plan, name, examples), times / len(examples)
        yield f"  {name}, {times} times: {cost.calls * each:,.0f} calls, {_usd(cost.usd, each)}"
        total = None if total is None or cost.usd is None else total + cost.usd * each
    yield f"  together: {'price unknown' if total is None else f'about {format_usd(total)}'}"
    if config.max_usd is not None:
        paid = state.spent.feedback if state is not None else 0.0
        enough = "" if total is None or paid + total <= config.max_usd else ": not enough, the run would stop"
        yield f"  max_usd: {format_usd(config.max_usd)}, of which {format_usd(paid)} are paid{enough}"


def _usd(usd: float | None, times: float) -> str:
    return "price unknown" if usd is None else f"about {format_usd(usd * times)}"


def _estimated(plan: Plan, name: str, examples: Sequence[Trajectory]) -> CostEstimate:
    """What a method takes on all examples together."""
    arm, given = plan.config.arms[name], plan.config.analyst.prices
    options = plan.config.options_of(arm, plan.base)
    spec = resolve(options.model or "", base_url=options.base_url, environment=os.environ)
    known = GivenPrices(given.input, given.output, given.cache_read, given.cache_write) if given else None
    prices: PriceSource = highest_prices_of(spec, known)
    at, total = datetime.now(UTC).isoformat(), CostEstimate(0, Usage(0, None, None, 0), 0.0)
    for trajectory in examples:
        cost = asyncio.run(estimate(method(arm.method), trajectory, options, prices, at))
        usd = None if total.usd is None or (cost.usd is None and cost.calls) else total.usd + (cost.usd or 0.0)
        total = CostEstimate(total.calls + cost.calls, total.usage + cost.usage, usd)
    return total


def _examples(plan: Plan, like: Path | None) -> Iterator[Trajectory]:
    if like is not None:
        yield from islice((trajectory for trajectory in read(like) if trajectory.steps), MAX_EXAMPLE_TRACES)
        return
    state = load_state(plan.folder)
    results = state.results if state is not None else ()
    traces = [result.attempt.trace for result in results if result.cell.round == 0 and result.attempt.trace]
    for trace in traces[:MAX_EXAMPLE_TRACES]:
        try:
            yield next(iter(read(plan.folder / trace)))
        except (DenseError, StopIteration):
            continue


def _recipients(plan: Plan, cells: Sequence[Cell], like: Sequence[Trajectory], named: Path | None) -> Iterator[str]:
    """What attempts of each recipient will take: as those so far did; else as traces like them did, at its prices."""
    state = load_state(plan.folder)
    results = state.results if state is not None else ()
    for recipient in plan.config.recipients:
        own = [result for result in results if result.cell.recipient == recipient.name]
        left = sum(cell.recipient == recipient.name for cell in cells)
        costs = [
            result.attempt.usage.cost_usd
            for result in own
            if result.attempt.usage and result.attempt.usage.cost_usd is not None
        ]
        if costs:
            known = f"about {format_usd(left * sum(costs) / len(costs))} by the {len(costs)} so far"
        else:
            known = _by_examples(recipient, left, like, named)
        yield f"{recipient.name}: {left} attempts to make, {known}"


def _by_examples(recipient: RecipientConfig, attempts: int, like: Sequence[Trajectory], named: Path | None) -> str:
    """The cost of attempts that are like these traces, and how it is estimated."""
    used = [usage for trajectory in like if (usage := trajectory.usage) is not None and total_of(usage) is not None]
    if not used:
        what = f"the traces of {named} record no tokens" if like else "name traces like those to come with --like"
        return f"cost unknown before the first: {what}"
    tokens = sum(total_of(usage) or 0 for usage in used) / len(used)
    prices = recipient.prices.prices if recipient.prices is not None else listed_prices(recipient.model or "")
    by = f"by the {tokens:,.0f} tokens that each of {len(used)} traces of {named} took"
    if prices is None:
        return f"price unknown; {by}, {attempts * tokens:,.0f} tokens: give `prices`"
    each = sum(usd(usage, prices) or 0.0 for usage in used) / len(used)
    rates = f"{prices.input:g} and {prices.output:g} USD a million ({prices.source})"
    return f"about {format_usd(attempts * each)} {by}, at {rates}"
