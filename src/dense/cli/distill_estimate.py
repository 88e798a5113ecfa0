"""`dense distill --estimate`, and the question before a run that costs money."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

import typer

from dense.cli.distill_run import TraceInputs, failure_line
from dense.cli.text import SafeConsole, shortened
from dense.errors import DenseError, MissingInput
from dense.methods import method
from dense.model import highest_prices_of, resolve
from dense.options import FeedbackOptions
from dense.redact import clean_line
from dense.service.estimate import CostEstimate, estimate
from dense.service.turns import select_turn
from dense.trajectory import Trajectory, Usage

CONFIRM_ABOVE_USD = 1.0
"""A run that costs more asks first."""


def print_estimate(traces: TraceInputs, options: FeedbackOptions) -> None:
    """Print what a run would cost. Trajectories that cannot be estimated become problems of `traces`."""
    out = SafeConsole(highlight=False, soft_wrap=True)
    if options.model is None:
        who = "the built-in rules answer" if options.answers is None else f"{options.answers} answers"
        count = _trajectories(sum(1 for _ in traces))
        out.print(f"estimate for {count}: 0 calls, 0 USD: {who}", markup=False)
        return
    _, failures, _ = _estimate_all(traces, options, out, is_each_shown=True)
    traces.problems += failures


def confirm_cost(traces: Iterable[Trajectory], options: FeedbackOptions) -> None:
    """Print the estimate to the error stream; if it is above the limit or unknown, ask whether to go on."""
    out = SafeConsole(highlight=False, stderr=True, soft_wrap=True)
    total, failures, is_known = _estimate_all(traces, options, out, is_each_shown=False)
    if failures:  # the run itself reports each of them
        out.print(
            f"without {len(failures)} that could not be estimated; the first: {clean_line(failures[0])}", markup=False
        )
    if not is_known:
        _confirm("the cost is unknown: the method cannot be estimated")
    elif total.usd is not None and total.usd > CONFIRM_ABOVE_USD:
        _confirm(f"this would cost about {total.usd:.2f} USD")


def _estimate_all(
    traces: Iterable[Trajectory], options: FeedbackOptions, out: SafeConsole, *, is_each_shown: bool
) -> tuple[CostEstimate, list[str], bool]:
    """The sum over all trajectories, the failures, and whether these cost nothing."""
    prices = highest_prices_of(resolve(options.model or "", base_url=options.base_url, environment=os.environ))
    at, chosen = datetime.now(UTC).isoformat(), method(options.chosen_method)
    total, count, failures, is_known = CostEstimate(0, Usage(0, None, None, 0), None), 0, list[str](), True
    for trajectory in traces:
        try:
            if options.turn is not None:
                trajectory = select_turn(trajectory, options.turn)
            cost = asyncio.run(estimate(chosen, trajectory, options, prices, at))
        except Exception as error:
            # A run without its input fails before it costs anything. Any other failure may be due to the outlined
            # replies, or come after calls that are paid for.
            failures.append(failure_line(error, chosen, trajectory))
            is_known = is_known and (isinstance(error, MissingInput) or not trajectory.steps)
            continue
        count += 1
        usd = cost.usd if total.usd is None else total.usd if cost.usd is None else total.usd + cost.usd
        total = CostEstimate(total.calls + cost.calls, total.usage + cost.usage, usd)
        if is_each_shown:
            out.print(f"{shortened(str(trajectory.source), 70)}: {_describe(cost)}", markup=False)
    out.print(f"estimate for {_trajectories(count)}: {_describe(total)}", markup=False)
    return total, failures, is_known


def _confirm(cost: str) -> None:
    """Go on only if somebody is there and says so."""
    if not sys.stdin.isatty():
        raise DenseError(f"{cost}; confirm with --yes, or set a limit with --max-usd")
    typer.confirm(f"{cost}; go on?", abort=True, err=True)


def _trajectories(count: int) -> str:
    return f"{count} {'trajectory' if count == 1 else 'trajectories'}"


def _describe(cost: CostEstimate) -> str:
    usd = "price unknown" if cost.usd is None else f"{cost.usd:.4f} USD"
    return f"{cost.calls} calls, about {cost.usage.input:,} tokens in, {cost.usage.output:,} out, {usd}"
