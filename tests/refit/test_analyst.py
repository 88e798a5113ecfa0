"""Feedback by a language model in an experiment: paid once, counted, and not taken for made where nobody answered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from loopback import Loopback, failing, said
from made_experiment import made_plan, opened
from made_harness import MadeHarness

from dense.errors import DenseError, SpendingLimit
from dense.refit.experiment import reopen_invalid
from dense.refit.feedback import Maker, analyst_model
from dense.refit.laboratory import Laboratory
from dense.refit.plan import Plan
from dense.refit.run import run
from dense.refit.state import state_in, state_of
from dense.results import Result

ADVICE = json.dumps({"strategy": ["Count."], "risks": ["None."], "checklist": ["Look."]})


async def advised(request: web.Request) -> web.StreamResponse:
    return web.json_response(said(ADVICE))


def plan_with(base: Path, address: str, **changes: Any) -> Plan:
    analyst = {"model": f"{address}#m", "prices": {"input": 1000.0, "output": 1000.0}}
    return made_plan(base, analyst=analyst, methods=["none", "advisor"], repetitions=1, **changes)


def run_with_model(plan: Plan, *, again: bool = False) -> tuple[Result, ...]:
    async def go() -> tuple[Result, ...]:
        with opened(plan) as store:
            state = state_of(store)
            if again:
                reopen_invalid(store, state)
            async with analyst_model(plan.config, plan.folder, state.spent.feedback) as model:
                laboratory = Laboratory(plan, store, MadeHarness(), Maker(plan.config, model), waits=(0.0,))
                await run(laboratory)
                return laboratory.state.results

    return asyncio.run(go())


def test_an_answer_is_paid_for_once_and_borne_by_each_result(tmp_path: Path) -> None:
    with Loopback(default=advised) as server:
        results = run_with_model(plan_with(tmp_path, server.url, rounds=2))
        assert len(server.received) == 1  # both tasks ask the same, in both rounds
    usages = [result.feedback for result in results if result.cell.method == "advisor"]
    assert {usage.input for usage in usages if usage is not None} == {100}
    assert [usage.cost_usd for usage in usages if usage is not None] == [pytest.approx(0.11)] * 4


def test_feedback_that_nobody_answered_is_not_made(tmp_path: Path) -> None:
    with Loopback(default=failing(400, "bad param")) as server:
        results = run_with_model(plan_with(tmp_path, server.url, retries=1, stop_after=50))
        dead = [result for result in results if result.cell.method == "advisor"]
        assert [result.reward for result in dead] == [None, None]
        assert all("bad param" in (result.exception or "") for result in dead), dead
        assert all(result.reward is not None for result in results if result.cell.method == "none")
    with Loopback(default=advised) as server:
        # Another address is another analyst: only the server is mended, in reality, and the address stays.
        plan = plan_with(tmp_path / "again", server.url)
        assert all(result.reward is not None for result in run_with_model(plan))


def test_an_analyst_that_is_dead_for_all_stops_the_run(tmp_path: Path) -> None:
    with Loopback(default=failing(400, "bad param")) as server:
        plan = plan_with(tmp_path, server.url, retries=9, stop_after=3, count=6, concurrency=1)
        with pytest.raises(DenseError, match=r"in a row.*bad param"):
            run_with_model(plan)


def test_the_limit_counts_what_was_spent_in_earlier_sessions(tmp_path: Path) -> None:
    with Loopback(default=advised) as server:
        run_with_model(plan_with(tmp_path, server.url, max_usd=100.0))
        state = state_in(tmp_path / "experiment")
        assert state is not None and state.spent.feedback == pytest.approx(0.22)  # as attributed, cached or not
        with pytest.raises(SpendingLimit, match=r"0\.20 USD are spent"):
            run_with_model(plan_with(tmp_path, server.url, max_usd=0.2))
