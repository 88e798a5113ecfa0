"""Small experiments for tests of the run loop: a configuration, its tasks, and a executor on a made harness."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from made_harness import MadeHarness, write_task

from refit.experiment.config import ExperimentConfig
from refit.experiment.executor import CellExecutor
from refit.experiment.experiment import start_session
from refit.experiment.feedback import FeedbackMaker
from refit.experiment.identity import facts_of, identity_of
from refit.experiment.plan import Plan, plan_of
from refit.experiment.run import run
from refit.experiment.store.events import EventStore
from refit.experiment.store.lock import writing
from refit.results import Result

METHODS = ("none", "advisor", "self-reflection", "all-at-once", "dense", "verifier-feedback")


def config(**changes: Any) -> ExperimentConfig:
    """An experiment of two tasks."""
    return ExperimentConfig.model_validate(
        {
            "name": "made",
            "tasks": "tasks",
            "recipients": [{"name": "r", "agent": "nop"}],
            "methods": METHODS,
            "repetitions": 2,
            **changes,
        }
    )


def made_plan(base: Path, *, count: int = 2, **changes: Any) -> Plan:
    """The plan, with task folders in `base`."""
    for number in range(1, count + 1):
        if not (base / "tasks" / f"task-{number}").exists():
            write_task(base / "tasks" / f"task-{number}")
    return plan_of(config(**changes), base, base / "experiment")


def opened(plan: Plan, **options: bool) -> EventStore:
    """The experiment's store, joined."""
    store = EventStore(plan.folder)
    tasks = tuple(plan.tasks.values())
    identity, facts = identity_of(plan.config, tasks, plan.base), facts_of(plan.config, tasks, "made")
    start_session(store, plan.config.name, identity, facts, **options)
    return store


def run_all(plan: Plan, harness: MadeHarness) -> tuple[Result, ...]:
    """Runs what is missing, as `dense refit run` does."""
    with writing(plan.folder, "test"), opened(plan) as store:
        executor = CellExecutor(plan, store, harness, FeedbackMaker(plan.config, None), waits=(0.0,))
        asyncio.run(run(executor))
        return executor.state.results
