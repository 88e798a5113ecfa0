"""REFIT: the same agent, the same task, a fresh environment and context; each method's feedback is the only channel.

    τ0 = A(x; ∅, s0)          the attempt that all methods of a repetition share
    f  = g(x, τ)              each method's feedback on its own previous attempt
    τ' = A(x; f, s0)          the next attempt, with the feedback of up to K attempts before it

Pairs run independently of each other, and so do the methods of a pair: a cell's feedback is made as soon as its source
has ended. Everything that happens goes through the executor, which knows what was done before."""

from __future__ import annotations

from asyncio import TaskGroup

from dense.message.memory import MemoryItem
from refit.experiment.executor import CellExecutor, RunStopped
from refit.experiment.plan import ComparedPair
from refit.results import Result


async def run(executor: CellExecutor) -> None:
    """Runs what is missing of an experiment; what stops it early is raised when all that was under way has ended."""
    async with TaskGroup() as group:
        for pair in executor.plan.pairs:
            group.create_task(_pair(pair, executor))
    executor.raise_if_stopped()


async def _pair(pair: ComparedPair, executor: CellExecutor) -> None:
    """The shared attempt, then every method's chain on it."""
    try:
        source = await executor.attempt(pair.cell(0), None)
        async with TaskGroup() as group:
            for method in executor.plan.config.arms:
                group.create_task(_chain(pair, method, source, executor))
    except RunStopped:
        return


async def _chain(pair: ComparedPair, method: str, source: Result, executor: CellExecutor) -> None:
    """One method's rounds: feedback on the attempt before, then the next attempt."""
    memory: tuple[MemoryItem, ...] = ()
    try:
        for number in range(1, executor.plan.config.rounds + 1):
            cell = pair.cell(number, method)
            prepared = await executor.feedback(cell, source, memory)
            if prepared is None:  # given up: an invalid source for what would follow
                source = executor.result(cell)
                continue
            memory = prepared.items
            source = await executor.attempt(cell, prepared.message)
    except RunStopped:
        return
