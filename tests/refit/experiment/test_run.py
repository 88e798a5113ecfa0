"""The run loop: what runs, in which order, once; what passes from one attempt to the next; what is given up."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from made_experiment import METHODS, made_plan, opened, run_all
from made_harness import MadeHarness

from dense.errors import DenseError
from refit.cli.results import status
from refit.experiment.executor import CellExecutor
from refit.experiment.experiment import reopen_invalid
from refit.experiment.feedback import FeedbackMaker
from refit.experiment.run import run
from refit.experiment.store.events import EventStore
from refit.experiment.store.state import fold_events
from refit.harness import AttemptOrder, AttemptResult
from refit.results import RUN0


def test_round_0_is_shared_and_every_method_has_its_own_chain(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, rounds=2)
    harness = MadeHarness()
    results = run_all(plan, harness)
    assert [result.cell for result in results] == list(plan.cells)
    by_round = Counter((result.cell.round, result.cell.method) for result in results)
    assert by_round == {(0, RUN0): 4, **{(n, name): 4 for n in (1, 2) for name in METHODS}}
    assert len({order.name for order in harness.orders}) == len(harness.orders) == len(plan.cells)


def test_none_gets_the_task_alone_and_all_others_a_message_that_ends_with_the_task(tmp_path: Path) -> None:
    harness = MadeHarness()
    run_all(made_plan(tmp_path), harness)
    for order in harness.orders:
        task = (order.task / "instruction.md").read_text()
        if "--none--" in order.name or "--run0--" in order.name:
            assert order.message is None
        else:
            assert order.message is not None and order.message.endswith(task) and order.message != task


def test_the_seed_is_the_same_for_all_methods_of_a_round_and_another_in_the_next(tmp_path: Path) -> None:
    harness = MadeHarness()
    run_all(made_plan(tmp_path, count=1, rounds=2, repetitions=1), harness)
    seeds: dict[str, set[int]] = {}
    for order in harness.orders:
        seeds.setdefault(order.name.split("--")[3], set()).add(order.seed)
    assert [len(found) for found in seeds.values()] == [1, 1, 1]
    assert len(set.union(*seeds.values())) == 3


def test_progress_never_shows_more_running_than_are_left(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, concurrency=3)
    seen: list[tuple[int, int]] = []
    with opened(plan) as store:

        def watch() -> None:
            moment = executor.progress()
            seen.append((moment.running, moment.total - moment.done - moment.invalid))

        executor = CellExecutor(plan, store, MadeHarness(), FeedbackMaker(plan.config, None), watch=watch, waits=(0.0,))
        asyncio.run(run(executor))
    assert max(running for running, _ in seen) == 3 and seen[-1] == (0, 0)
    assert all(running <= left for running, left in seen)


def test_later_rounds_remember_the_last_three_attempts(tmp_path: Path) -> None:
    harness = MadeHarness()
    plan = made_plan(tmp_path, count=1, repetitions=1, rounds=5, methods=["self-reflection"])
    run_all(plan, harness)
    messages = {order.name.split("--")[3]: order.message or "" for order in harness.orders}
    assert [messages[f"round{n}"].count("\nattempt ") for n in range(1, 6)] == [0, 2, 3, 3, 3]
    # What an attempt did is shown in the round after it and the two after that, and never more than once in a message.
    for source in range(5):
        place = plan.folder_of(plan.pairs[0].cell(source, RUN0 if source == 0 else "self-reflection"))
        trace = json.loads((place / "try-1" / "trial" / "agent" / "trajectory.json").read_text())
        command = trace["steps"][-1]["tool_calls"][0]["arguments"]["keystrokes"].strip()
        times = [messages[f"round{n}"].count(command) for n in range(1, 6)]
        assert times == [1 if source < n <= source + 3 else 0 for n in range(1, 6)], source


@pytest.mark.parametrize("is_argument", [True, False, None])
def test_all_methods_of_a_pair_are_delivered_alike(tmp_path: Path, is_argument: bool | None) -> None:
    """The long one among them decides, where the agent cannot take it; `none` has no message."""
    plan = made_plan(tmp_path, repetitions=1, rounds=2, budget="paper", methods=["none", "long_method:Long", "dense"])
    harness = MadeHarness(is_argument=is_argument)
    results = run_all(plan, harness)
    delivered = {
        (result.cell.task, result.cell.round, result.cell.method): result.attempt.delivered for result in results
    }
    for (task, number, method), how in delivered.items():
        if method in ("run0", "none"):
            assert how == ""
        elif is_argument is False:
            assert how == "instruction"
        else:  # only task-1 has a long message
            assert how == ("file" if task == "task-1" else "instruction"), (task, number, method)


def test_a_run_that_stops_does_not_wait_for_messages_that_never_come(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, count=2, repetitions=2, stop_after=1, retries=0, methods=["dense", "advisor", "none"])
    harness = MadeHarness(is_argument=True, fails=lambda order: "broken" if "round1" in order.name else None)
    with pytest.raises(DenseError, match="in a row were not scored"):
        run_all(plan, harness)


def test_what_grades_an_attempt_reaches_only_the_privileged_method(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, rounds=2)
    harness = MadeHarness()
    run_all(plan, harness)
    for order in harness.orders:
        reported = order.message or ""
        assert "SOLUTION-CANARY" not in reported and "TESTS-CANARY" not in reported
        assert ("VERIFIER-CANARY" in reported) == ("verifier-feedback" in order.name), order.name
    for file in (plan.folder / "cells").rglob("*"):
        if file.is_file() and "feedback" in file.parts and "--verifier-feedback" not in str(file):
            assert b"-CANARY" not in file.read_bytes(), file


def test_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    plan = made_plan(tmp_path)
    first, again = MadeHarness(), MadeHarness()
    assert run_all(plan, first) == run_all(plan, again)
    assert again.orders == []


def test_reruns_do_not_wait_for_a_whole_round(tmp_path: Path) -> None:
    """With one slot, the reruns of pairs that have begun come before further pairs are begun."""
    harness = MadeHarness()
    run_all(made_plan(tmp_path, concurrency=1), harness)
    rounds = "".join(order.name.split("--")[3].removeprefix("round") for order in harness.orders)
    assert rounds.count("0") == 4
    assert rounds.rindex("0") > 2 * len(METHODS), rounds  # the last pair's first attempt, after the first pairs' reruns
    assert harness.most_running == 1


def test_attempts_run_at_once_up_to_the_limit(tmp_path: Path) -> None:
    harness = MadeHarness(delay=0.02)
    run_all(made_plan(tmp_path, concurrency=3), harness)
    assert harness.most_running == 3


def test_an_execution_without_a_score_is_tried_again_and_the_first_score_stands(tmp_path: Path) -> None:
    def fails(order: AttemptOrder) -> str | None:
        return "the model is dead" if order.name.endswith("--dense--try-1") else None

    results = run_all(made_plan(tmp_path), MadeHarness(fails=fails))
    assert {result.tries for result in results if result.cell.method == "dense"} == {2}
    assert all(result.attempt.reward is not None for result in results)


def test_what_never_scores_is_invalid_and_what_follows_from_it_too(tmp_path: Path) -> None:
    def fails(order: AttemptOrder) -> str | None:
        return "no luck" if "task-1--rep0--round1--dense" in order.name else None

    plan = made_plan(tmp_path, rounds=2, retries=1)
    results = run_all(plan, MadeHarness(fails=fails))
    invalid = {str(result.cell): result.attempt.ending for result in results if result.attempt.reward is None}
    assert list(invalid) == [
        "r · task-1 · repetition 0 · round 1 · dense",
        "r · task-1 · repetition 0 · round 2 · dense",
    ]
    first, second = invalid.values()
    assert "not scored in 2 executions" in first and "Broken: no luck" in first
    assert "its source is invalid" in second
    assert all(result.attempt.usage is None for result in results if result.attempt.reward is None)


def test_invalid_cells_can_be_tried_again(tmp_path: Path) -> None:
    is_dead = True

    def fails(order: AttemptOrder) -> str | None:
        return "dead" if is_dead and order.name.startswith("r--task-1--rep0--round0") else None

    plan = made_plan(tmp_path, retries=0, stop_after=50)
    before = run_all(plan, MadeHarness(fails=fails))
    assert sum(result.attempt.reward is None for result in before) == 1 + len(METHODS)
    is_dead = False
    with EventStore(plan.folder) as store:
        assert reopen_invalid(store, fold_events(store)) == 1 + len(METHODS)
    after = run_all(plan, MadeHarness(fails=fails))
    assert all(result.attempt.reward is not None for result in after)


def test_nothing_but_failures_stops_the_run_and_says_why(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, count=3, repetitions=3, stop_after=4, concurrency=1, retries=9)
    harness = MadeHarness(fails=lambda _: "the key is refused")
    with pytest.raises(DenseError, match=r"4 executions in a row were not scored.*the key is refused"):
        run_all(plan, harness)
    assert len(harness.orders) == 4
    results = run_all(plan, MadeHarness())  # nothing was given up by it
    assert all(result.attempt.reward is not None for result in results)


def test_what_makes_every_attempt_pointless_stops_the_run(tmp_path: Path) -> None:
    class Missing(MadeHarness):
        async def attempt(self, order: AttemptOrder) -> AttemptResult:
            self.orders.append(order)
            raise DenseError("docker is not there")

    harness = Missing()
    with pytest.raises(DenseError, match="docker is not there"):
        run_all(made_plan(tmp_path, concurrency=1), harness)
    assert len(harness.orders) == 1


def test_an_exception_of_the_harness_is_an_attempt_without_a_score(tmp_path: Path) -> None:
    class Odd(MadeHarness):
        async def attempt(self, order: AttemptOrder) -> AttemptResult:
            if "round1--dense" in order.name:
                raise KeyError("what")
            return await super().attempt(order)

    results = run_all(made_plan(tmp_path, retries=0), Odd())
    odd = {result.attempt.ending for result in results if result.attempt.reward is None}
    assert len(odd) == 1 and "KeyError" in (odd.pop())


def test_a_source_without_a_trace_leaves_methods_that_need_one_invalid(tmp_path: Path) -> None:
    class Traceless(MadeHarness):
        async def attempt(self, order: AttemptOrder) -> AttemptResult:
            made = await super().attempt(order)
            if "round0" in order.name:
                (order.folder / made.trace).write_text('{"schema_version": "ATIF-v1.6", "steps": []}')
            return made

    results = run_all(made_plan(tmp_path, retries=0), Traceless())
    scored = {result.cell.method for result in results if result.attempt.reward is not None}
    assert scored == {RUN0, "none", "advisor"}
    assert all("feedback could not be made in 1 try" in (r.attempt.ending) for r in results if r.attempt.reward is None)


def test_agents_that_ran_out_of_context_are_reported_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Narrow(MadeHarness):
        async def attempt(self, order: AttemptOrder) -> AttemptResult:
            words = "ContextLengthExceededError: too many tokens"
            if "task-1" in order.name:
                return AttemptResult(exception="ContextLengthExceededError", problem=words)
            return await super().attempt(order)

    def fails(order: AttemptOrder) -> str | None:
        return "no disk" if "rep1" in order.name and order.message is not None else None

    plan = made_plan(tmp_path, methods=["none", "advisor"], retries=0, stop_after=99)
    run_all(plan, Narrow(fails=fails))
    status(plan.folder, None)
    reported = capsys.readouterr().out
    assert "invalid, the agent ran out of its model's context: 2\n" in reported
    assert (
        "invalid, its source is invalid: 4\n" in reported and "invalid, not scored for other reasons: 1\n" in reported
    )


def test_cancelling_loses_nothing(tmp_path: Path) -> None:
    plan = made_plan(tmp_path)
    slow = MadeHarness(delay=0.05)
    executor = CellExecutor(plan, opened(plan), slow, FeedbackMaker(plan.config, None))

    async def interrupted() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run(executor), 0.2)

    asyncio.run(interrupted())
    done = sum(executor.state.of(cell).is_done for cell in plan.cells)
    assert 0 < done < len(plan.cells)
    rest = MadeHarness()
    results = run_all(plan, rest)
    assert len(rest.orders) == len(plan.cells) - done
    assert len(results) == len(plan.cells)


@pytest.mark.parametrize("is_lost", [False, True])
def test_rounds_can_be_added_and_remember_what_was_before(tmp_path: Path, is_lost: bool) -> None:
    plan = made_plan(tmp_path, count=1, repetitions=1, rounds=1, methods=["dense"])
    run_all(plan, MadeHarness())
    if is_lost:
        shutil.rmtree(plan.folder_of(plan.pairs[0].cell(1, "dense")) / "feedback")
    longer = made_plan(tmp_path, count=1, repetitions=1, rounds=2, methods=["dense"])
    with opened(longer, extend=True):
        pass
    harness = MadeHarness()
    run_all(longer, harness)
    (order,) = harness.orders
    assert "\nattempt 2 of 2:" in (order.message or "")
