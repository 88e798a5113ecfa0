"""The command, `dense.distill` and REFIT make the same feedback, and refuse the same runs."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from loopback import Loopback, failing, said
from made_experiment import config as made_config
from made_experiment import made_plan, opened
from made_harness import MadeHarness

import dense
from dense.errors import CallFailed, UnansweredCalls
from dense.methods import method
from dense.model import CallLedger, ChatReply, ChatRequest, OpenModel, open_model
from dense.model.prices import UnknownPrices
from dense.service import AnalystChoice, FailedRun, FeedbackRun, RunRecord, make_feedback
from dense.service.files import read_record
from dense.trajectory import Trajectory
from refit.experiment.executor import CellExecutor
from refit.experiment.experiment import reopen_invalid
from refit.experiment.feedback import FeedbackMaker, SourceAttempt
from refit.experiment.run import run
from refit.experiment.store.state import fold_events
from refit.experiment.tasks import TaskFolder

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "examples" / "csv-report" / "trial" / "agent" / "trajectory.json"
TASK = "Summarise sales.csv and draw a chart.\n"


def filled(schema: dict[str, Any]) -> Any:
    """The simplest value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: filled(value) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema["items"]) for _ in range(schema.get("minItems", 0))]
    return {"integer": schema.get("minimum", 0), "boolean": False}.get(str(kind), "words")


async def answer(request: web.Request) -> web.StreamResponse:
    schema = (await request.json()).get("response_format", {}).get("json_schema", {}).get("schema") or {}
    return web.json_response(said(json.dumps(filled(schema))))


def command(out: Path, *options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dense", "distill", str(TRACE), "--task", TASK, "--out", str(out), *map(str, options)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb"},
        check=False,
    )


def trajectory() -> Trajectory:
    return next(iter(dense.read(TRACE, task=TASK)))


def timeless(record: RunRecord) -> dict[str, Any]:
    """The record without what differs between two runs: times, and whether an answer was cached."""
    found = msgspec.to_builtins(record)
    del found["seconds"]
    for entry in (*found["asked"], *found["calls"]):
        for name in ("seconds", "at", "is_cached"):
            entry.pop(name, None)
    return found


async def refit(place: Path, model: OpenModel | None, address: str | None) -> None:
    config = made_config(methods=("dense",), analyst={"model": address} if address else {})
    task = TaskFolder("csv-report", ROOT, TASK, "")
    source = SourceAttempt(TRACE.parents[1], TRACE)
    await FeedbackMaker(config, model).make("dense", source, task, place, ())


def written(folder: Path) -> tuple[str, str, dict[str, Any]]:
    texts = [(folder / name).read_text() for name in ("feedback.txt", "message.txt")]
    return texts[0], texts[1], timeless(read_record(folder / "run.json"))


@pytest.mark.parametrize("is_model", [False, True], ids=["rules", "model"])
def test_three_ways_give_the_same(tmp_path: Path, is_model: bool) -> None:
    async def others(address: str | None) -> tuple[str, str, dict[str, Any]]:
        place = tmp_path / "refit"
        place.mkdir()
        if address is None:
            await refit(place, None, None)
            done = await dense.distill(trajectory())
        else:
            async with open_model(address) as model:
                await refit(place, model, address)
                done = await dense.distill(trajectory(), model=model)
        return done.feedback.report, done.feedback.message, timeless(done.record)

    with Loopback(default=answer) as server:
        address = f"{server.url}#m" if is_model else None
        done = command(tmp_path / "out", *(("--model", address, "--yes") if address else ()))
        assert done.returncode == 0, done.stderr
        by_python = asyncio.run(others(address))
    (folder,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert written(folder) == by_python
    assert written(tmp_path / "refit" / "feedback") == by_python
    assert (by_python[2]["totals"]["calls"] > 0) == is_model


DEAD_WORDS = r"(\d+) of (\d+) calls to \S+ failed for good; the last error: .*bad param"


def test_failed_calls_fail_the_command(tmp_path: Path) -> None:
    with Loopback(answer, default=failing(400, "bad param")) as server:
        options = ("--model", f"{server.url}#m", "--yes", "--concurrency", 1, "--profile", "paper")
        done = command(tmp_path, *options)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
        assert [path.name for path in folder.iterdir()] == ["failed.json"]
        record = read_record(folder / "failed.json")
        assert record.failure in done.stderr
        assert f"{record.totals.failed} of {record.totals.calls} calls to " in record.failure
        answered = len(server.received)
    assert record.totals.calls - record.totals.failed == 1 < answered


def test_what_was_answered_before_calls_failed_is_not_asked_again(tmp_path: Path) -> None:
    fails = True

    async def moody(request: web.Request) -> web.StreamResponse:
        return await (failing(400, "bad param") if fails and len(server.received) > 1 else answer)(request)

    with Loopback(default=moody) as server:
        options = ("--model", f"{server.url}#m", "--yes", "--concurrency", 1, "--profile", "paper")
        assert command(tmp_path, *options).returncode == 1
        fails = False
        done = command(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    assert "(1 from the cache, 0 failed)" in done.stdout
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (folder / "run.json").is_file() and not (folder / "failed.json").exists()


def test_failed_calls_raise_in_python() -> None:
    async def go(address: str) -> None:
        async with open_model(address) as model:
            await dense.distill(trajectory(), model=model, profile="paper")

    with (
        Loopback(answer, default=failing(400, "bad param")) as server,
        pytest.raises(UnansweredCalls, match=DEAD_WORDS),
    ):
        asyncio.run(go(f"{server.url}#m"))


def test_failed_calls_leave_a_cell_of_refit_unscored_and_retriable(tmp_path: Path) -> None:
    async def go(is_again: bool) -> tuple[float | None, str]:
        plan = made_plan(tmp_path, count=1, analyst={"model": f"{server.url}#m"}, methods=("dense",), repetitions=1)
        with opened(plan) as store:
            async with open_model(f"{server.url}#m") as model:
                if is_again:
                    reopen_invalid(store, fold_events(store))
                executor = CellExecutor(plan, store, MadeHarness(), FeedbackMaker(plan.config, model), waits=(0.0,))
                await run(executor)
            (result,) = [result for result in executor.state.results if result.cell.method == "dense"]
            return result.attempt.reward, result.attempt.ending

    fails = True

    async def moody(request: web.Request) -> web.StreamResponse:
        return await (failing(400, "bad param") if fails else answer)(request)

    with Loopback(default=moody) as server:
        reward, problem = asyncio.run(go(False))
        assert reward is None
        assert "failed for good; the last error: " in problem and "bad param" in problem
        fails = False
        assert asyncio.run(go(True))[0] is not None
    (record, *_) = sorted((tmp_path / "experiment" / "cells").glob("*/feedback-failed-*/failed.json"))
    assert read_record(record).failure in problem


class Moody:
    """A model that fails, too long, at every first prompt of a label; then answers."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    async def complete(self, request: ChatRequest) -> ChatReply:
        if request.label not in self.seen:
            self.seen.add(request.label)
            raise CallFailed("too long", is_too_long=True)
        return ChatReply(json.dumps(filled(request.schema or {})), dense.Usage(), "stop", "m", 0.0)


class OwnPrompts:
    """A method with a prompt of its own that carries on without an answer."""

    name, sees, calls = "own", "trajectory", "1"

    def __init__(self, label: str) -> None:
        self.label = label

    async def feedback(self, trajectory: Trajectory, context: Any) -> None:
        for _ in range(2):
            try:
                await context.model.complete(ChatRequest("", (), label=self.label))
            except CallFailed:
                continue


def made(chosen: Any, model: OpenModel) -> FeedbackRun | FailedRun:
    return asyncio.run(make_feedback(chosen, trajectory(), AnalystChoice(model)))


def opened_model(model: Any) -> OpenModel:
    return OpenModel("made", model, CallLedger(UnknownPrices()))


def test_a_shorter_prompt_that_is_answered_is_no_failure() -> None:
    run = made(method("dense-no-hierarchy"), opened_model(Moody()))
    assert isinstance(run, FeedbackRun), run
    assert run.record.totals.failed == 1


def test_a_methods_own_call_counts_unless_its_label_was_answered_later() -> None:
    assert isinstance(made(OwnPrompts("mine"), opened_model(Moody())), FeedbackRun)
    failed = made(OwnPrompts(""), opened_model(Moody()))
    assert isinstance(failed, FailedRun)
    assert str(failed.error) == "1 of 2 calls to made failed for good; the last error: too long"
