"""REFIT: the same agent, the same task, a fresh environment and context; each method's feedback is the only channel.

    τ0 = A(x; ∅, s0)          the attempt that all methods of a repetition share
    f  = g(x, τ)              each method's feedback on its own previous attempt
    τ' = A(x; f, s0)          the next attempt, with the feedback of up to K attempts before it

Pairs run independently of each other, and so do the methods of a pair: a cell's feedback is made as soon as its source
has ended. Everything that happens goes through the laboratory, which knows what was done before."""

from __future__ import annotations

from asyncio import TaskGroup

from dense.deliver.memory import Item
from dense.refit.laboratory import Laboratory, Stopped
from dense.refit.plan import Pair
from dense.results import Result


async def run(laboratory: Laboratory) -> None:
    """Runs what is missing of an experiment; what stops it early is raised when all that was under way has ended."""
    async with TaskGroup() as group:
        for pair in laboratory.plan.pairs:
            group.create_task(_pair(pair, laboratory))
    laboratory.raise_if_stopped()


async def _pair(pair: Pair, laboratory: Laboratory) -> None:
    """The shared attempt, then every method's chain on it."""
    try:
        source = await laboratory.attempt(pair.cell(0), None)
        async with TaskGroup() as group:
            for method in laboratory.plan.config.methods:
                group.create_task(_chain(pair, method, source, laboratory))
    except Stopped:
        return


async def _chain(pair: Pair, method: str, source: Result, laboratory: Laboratory) -> None:
    """One method's rounds: feedback on the attempt before, then the next attempt."""
    memory: tuple[Item, ...] = ()
    try:
        for number in range(1, laboratory.plan.config.rounds + 1):
            cell = pair.cell(number, method)
            prepared = await laboratory.feedback(cell, source, memory)
            if prepared is None:  # given up: an invalid source for what would follow
                source = laboratory.result(cell)
                continue
            memory = prepared.items
            source = await laboratory.attempt(cell, prepared.message)
    except Stopped:
        return
