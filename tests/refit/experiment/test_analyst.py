"""Feedback by a language model in an experiment: paid once, counted, and not taken for made where nobody answered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from loopback import USABLE, Loopback, failing, ok, said
from made_experiment import made_plan, opened
from made_harness import MadeHarness

from dense.errors import DenseError, SpendingLimit
from dense.service.record import RunRecord
from refit.cli.results import status
from refit.experiment.executor import CellExecutor
from refit.experiment.experiment import reopen_invalid
from refit.experiment.feedback import FeedbackMaker, SourceAttempt, analyst_model
from refit.experiment.plan import Plan
from refit.experiment.run import run
from refit.experiment.store.state import fold_events, load_state
from refit.results import Result

OWN = """
from dense.methods import FeedbackDraft, list_report, text_items
from dense.model.chat import ChatRequest, Message

class Mine:
    name, sees, calls = "mine", "trajectory", "1"

    async def feedback(self, trajectory, context):
        reply = await context.model.complete(ChatRequest("", (Message("user", "How many?"),)))
        return FeedbackDraft(list_report(text_items("number", [str(int(reply.text))])))
"""
ADVICE = json.dumps({"strategy": ["Count."], "risks": ["None."], "checklist": ["Look."]})


async def advised(request: web.Request) -> web.StreamResponse:
    return web.json_response(said(ADVICE))


def answering(*texts: str) -> Loopback:
    """Says these in turn, then gives advice."""
    return Loopback(*(ok(text) for text in texts), default=advised)


def records(plan: Plan) -> list[RunRecord]:
    """Of all tries at feedback that failed."""
    found = sorted((plan.folder / "cells").glob("*/feedback-failed-*/failed.json"))
    return [msgspec.json.decode(path.read_bytes(), type=RunRecord) for path in found]


def plan_with(base: Path, address: str, methods: tuple[str, ...] = ("none", "advisor"), **changes: Any) -> Plan:
    analyst = {"model": f"{address}#m", "prices": {"input": 1000.0, "output": 1000.0}}
    return made_plan(base, analyst=analyst, methods=methods, repetitions=1, **changes)


def run_with_model(plan: Plan, *, again: bool = False, extend: bool = False) -> tuple[Result, ...]:
    async def go() -> tuple[Result, ...]:
        with opened(plan, extend=extend) as store:
            state = fold_events(store)
            if again:
                reopen_invalid(store, state)
            async with analyst_model(plan.config, plan.folder, state.spent.feedback) as model:
                executor = CellExecutor(plan, store, MadeHarness(), FeedbackMaker(plan.config, model), waits=(0.0,))
                await run(executor)
                return executor.state.results

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
        assert [result.attempt.reward for result in dead] == [None, None]
        assert all("bad param" in result.attempt.ending for result in dead), dead
        assert all(result.attempt.reward is not None for result in results if result.cell.method == "none")
    with Loopback(default=advised) as server:
        # Another address is another analyst: only the server is mended, in reality, and the address stays.
        plan = plan_with(tmp_path / "again", server.url)
        assert all(result.attempt.reward is not None for result in run_with_model(plan))


def test_an_analyst_that_is_dead_for_all_stops_the_run(tmp_path: Path) -> None:
    with Loopback(default=failing(400, "bad param")) as server:
        plan = plan_with(tmp_path, server.url, retries=9, stop_after=3, count=6, concurrency=1)
        with pytest.raises(DenseError, match=r"in a row.*bad param"):
            run_with_model(plan)


def test_an_answer_that_cannot_be_used_is_asked_for_anew(tmp_path: Path) -> None:
    """The question and its correction are answered with words that say nothing: another try must get other answers."""
    with answering("Well.", "Well, well.") as server:
        plan = plan_with(tmp_path, server.url, count=1)
        results = run_with_model(plan)
        assert all(result.attempt.reward is not None for result in results), results
        assert len(server.received) == 3
    (failed,) = records(plan)
    assert "no usable advice" in failed.failure


def test_a_cell_given_up_for_its_answers_can_be_tried_again(tmp_path: Path) -> None:
    with answering("Well.", "Well, well.") as server:
        plan = plan_with(tmp_path, server.url, count=1, retries=0)
        given_up = [result for result in run_with_model(plan) if result.attempt.reward is None]
        assert [result.cell.method for result in given_up] == ["advisor"]
        assert "in 1 try; the last: no usable advice came back: " in given_up[0].attempt.ending
        assert all(result.attempt.reward is not None for result in run_with_model(plan, again=True))
        assert len(server.received) == 3


def test_a_good_answer_that_came_meanwhile_is_kept(tmp_path: Path) -> None:
    """Two cells ask the same and get the same useless answers; what one of them gets then is the other's too."""
    with answering("Well.", "Well, well.") as server:
        assert all(result.attempt.reward is not None for result in run_with_model(plan_with(tmp_path, server.url)))
        assert len(server.received) == 3


def test_feedback_that_was_made_is_made_again_from_the_same_answers(tmp_path: Path) -> None:
    """An unusable answer that a method got along without is part of what it made: nothing is asked anew for it."""
    with Loopback(default=ok(USABLE)) as server:
        plan = plan_with(tmp_path, server.url, count=1, methods=("dense",))
        run_with_model(plan)
        (folder,) = (plan.folder / "cells").glob("*--dense")
        message, asked = (folder / "message.txt").read_bytes(), len(server.received)
        (folder / "message.txt").unlink()

        async def go() -> None:
            async with analyst_model(plan.config, plan.folder) as model:
                source = next((plan.folder / "cells").glob("*--run0/try-1/trial"))
                attempt = SourceAttempt(source, source / "agent" / "trajectory.json")
                await FeedbackMaker(plan.config, model).make("dense", attempt, plan.tasks["task-1"], folder, ())

        asyncio.run(go())
        assert (folder / "message.txt").read_bytes() == message
        assert len(server.received) == asked == 2


def test_rules_never_stand_in_for_a_model(tmp_path: Path) -> None:
    """An answer of which nothing can be used is no feedback: it is asked for anew, and then the cell is given up."""
    with Loopback(*(ok("Well.") for _ in range(2)), default=ok(USABLE)) as server:
        plan = plan_with(tmp_path, server.url, count=1, methods=("dense",))
        assert all(result.attempt.reward is not None for result in run_with_model(plan))
        assert len(server.received) == 4
    (failed,) = records(plan)
    assert (failed.instead, "could be used" in failed.failure) == (None, True)
    with Loopback(default=ok("Well.")) as server:
        plan = plan_with(tmp_path / "never", server.url, count=1, methods=("dense",), retries=1)
        given_up = [result for result in run_with_model(plan) if result.attempt.reward is None]
    assert [result.cell.method for result in given_up] == ["dense"]


def test_answers_to_a_method_s_own_prompts_are_asked_for_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_prompting_method.py").write_text(OWN)
    with Loopback(ok("no number"), default=ok("7")) as server:
        plan = plan_with(tmp_path, server.url, count=1, methods=("own_prompting_method:Mine",))
        assert all(result.attempt.reward is not None for result in run_with_model(plan))
        assert len(server.received) == 2
    (failed,) = records(plan)
    assert failed.failure.startswith("ValueError: ") and "own_prompting_method.py:" in failed.failure


def test_failed_feedback_leaves_a_record_of_what_was_asked_and_paid(tmp_path: Path) -> None:
    with Loopback(default=ok("Well.")) as server:
        plan = plan_with(tmp_path, server.url, count=1, retries=1)
        run_with_model(plan)
    found = records(plan)
    assert [(run.method, run.fallbacks, len(run.calls)) for run in found] == [("advisor", 1, 2)] * 2
    assert all(run.totals.usd == pytest.approx(0.22) and run.asked[0].problems for run in found)
    state = load_state(plan.folder)
    assert state is not None and state.spent.feedback == pytest.approx(0.44)


def test_an_analyst_without_a_usable_answer_stops_the_run(tmp_path: Path) -> None:
    with Loopback(default=ok("Well.")) as server:
        plan = plan_with(tmp_path, server.url, retries=9, stop_after=3, count=1, concurrency=1)
        with pytest.raises(DenseError, match=r"in a row.*no usable advice"):
            run_with_model(plan)


def test_the_limit_counts_what_was_paid_in_earlier_sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Loopback(default=advised) as server:
        run_with_model(plan_with(tmp_path, server.url, max_usd=100.0))
        state = load_state(tmp_path / "experiment")
        assert state is not None
        # Two cells bear 0.11 USD each, and one call was paid for.
        borne = [result.feedback.cost_usd for result in state.results if result.feedback and result.cell.round]
        assert sum(usd or 0.0 for usd in borne) == pytest.approx(0.22)
        assert state.spent.feedback == pytest.approx(0.11)
        status(tmp_path / "experiment", None)
        assert "0.11 USD for feedback; max_usd: 0.11 USD of 100.00 USD for feedback\n" in capsys.readouterr().out
        run_with_model(plan_with(tmp_path, server.url, max_usd=0.05))  # nothing is left to be asked
        with pytest.raises(SpendingLimit, match=r"stopped at \$0\.1100 of \$0\.2000"):
            more = plan_with(tmp_path, server.url, max_usd=0.2, methods=("none", "advisor", "all-at-once"))
            run_with_model(more, extend=True)


def test_what_was_paid_before_a_kill_is_counted(tmp_path: Path) -> None:
    """The call is answered, and the run ends before its feedback is made."""
    with Loopback(ok("Well."), default=ok("never", delay=60)) as server:
        plan = plan_with(tmp_path, server.url, count=1)

        async def go() -> None:
            with opened(plan) as store:
                async with analyst_model(plan.config, plan.folder) as model:
                    executor = CellExecutor(plan, store, MadeHarness(), FeedbackMaker(plan.config, model), waits=(0.0,))
                    running = asyncio.create_task(run(executor))
                    while len(server.received) < 2:
                        await asyncio.sleep(0.01)
                    running.cancel()
                    await asyncio.gather(running, return_exceptions=True)

        asyncio.run(go())
    state = load_state(plan.folder)
    assert state is not None and state.spent.feedback == pytest.approx(0.11)
