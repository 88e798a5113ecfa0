"""Small experiments for tests of the run loop: a configuration, its tasks, and a laboratory on a made harness."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from made_harness import MadeHarness, write_task

from dense.refit.config import Config
from dense.refit.experiment import join
from dense.refit.feedback import Maker
from dense.refit.identity import facts_of, identity_of
from dense.refit.laboratory import Laboratory
from dense.refit.lock import writing
from dense.refit.plan import Plan, plan_of
from dense.refit.run import run
from dense.refit.store import Store
from dense.results import Result

METHODS = ("none", "advisor", "self-reflection", "all-at-once", "dense", "verifier-feedback")


def config(**changes: Any) -> Config:
    """An experiment of two tasks."""
    return Config.model_validate(
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


def opened(plan: Plan, **options: bool) -> Store:
    """The experiment's store, joined."""
    store = Store(plan.folder)
    tasks = tuple(plan.tasks.values())
    identity, facts = identity_of(plan.config, tasks, plan.base), facts_of(plan.config, tasks, "made")
    join(store, plan.config.name, identity, facts, **options)
    return store


def run_all(plan: Plan, harness: MadeHarness) -> tuple[Result, ...]:
    """Runs what is missing, as `dense refit run` does."""
    with writing(plan.folder, "test"), opened(plan) as store:
        laboratory = Laboratory(plan, store, harness, Maker(plan.config, None), waits=(0.0,))
        asyncio.run(run(laboratory))
        return laboratory.state.results
