"""Killed with SIGKILL at any moment and run again, it comes to the same table, and no scored cell runs twice."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import pytest
from made_experiment import made_plan, opened, run_all
from made_harness import MadeHarness
from msgspec.structs import replace

from refit.cli.results import status
from refit.experiment.store.events import EventStore, ExecutionEnded, ExecutionStarted
from refit.experiment.store.lock import holder_of
from refit.experiment.store.state import fold_events

KILLS = 20


def run_slowly(folder: Path) -> None:
    """The experiment in a process of its own."""
    plan = made_plan(folder, rounds=2)
    run_all(plan, MadeHarness(delay=0.02, log=folder / "log.txt"))


def test_killed_twenty_times_it_comes_to_the_same_table(tmp_path: Path) -> None:
    chance = random.Random(20)
    whole = made_plan(tmp_path / "whole", rounds=2)
    expected = run_all(whole, MadeHarness())
    killed = made_plan(tmp_path / "killed", rounds=2)
    processes = get_context("forkserver")  # a fork of this process would take its threads' locks along
    processes.set_forkserver_preload(["made_experiment"])
    for _ in range(KILLS):
        process = processes.Process(target=run_slowly, args=(tmp_path / "killed",))
        process.start()
        process.join(chance.uniform(0.05, 0.3))
        assert process.is_alive(), "it ended before it was killed: make it slower"
        process.kill()
        process.join()
    assert holder_of(killed.folder) is None
    results = run_all(killed, MadeHarness(log=tmp_path / "killed" / "log.txt"))
    assert [replace(result, tries=1) for result in results] == list(expected)
    scored = Counter(
        entry.cell
        for entry in EventStore(killed.folder)
        if isinstance(entry.event, ExecutionEnded) and entry.event.attempted.is_scored
    )
    assert set(scored) == set(killed.cells) and set(scored.values()) == {1}
    # An execution whose record was complete is taken up, not repeated.
    executed = Counter(
        line.rpartition("--try-")[0] for line in (tmp_path / "killed" / "log.txt").read_text().splitlines()
    )
    assert set(executed.values()) == {1}


def test_a_score_that_was_not_noted_before_the_kill_is_taken_up(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, methods=["none"], repetitions=1, count=1)
    run_all(plan, MadeHarness())
    # The store as it was just before the last event was written.
    short = made_plan(tmp_path / "copy", methods=["none"], repetitions=1, count=1)
    shutil.copytree(plan.folder / "cells", short.folder / "cells")
    copy = EventStore(short.folder)
    entries = list(EventStore(plan.folder))
    assert isinstance(entries[-1].event, ExecutionEnded)
    copy.extend([(entry.event, entry.cell) for entry in entries[:-1]])
    assert not fold_events(copy).of(plan.cells[-1]).is_done
    again = MadeHarness()
    assert len(run_all(short, again)) == 2
    assert again.orders == []


def test_an_execution_that_was_killed_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In tries, in the cost and in the status: once as long as it is only known to be gone, once when it is noted."""
    plan = made_plan(tmp_path, methods=["none"], repetitions=1, count=1)
    cell = plan.cells[0]
    with opened(plan) as store:
        store.append(ExecutionStarted(1), cell)
        assert fold_events(store).killed == 0, "it may still run"
    with opened(plan) as store:
        state = fold_events(store)
    assert (state.killed, state.spent.unknown, state.running) == (1, 1, frozenset())
    first, _ = run_all(plan, MadeHarness())
    assert (first.cell, first.tries) == (cell, 2)
    with EventStore(plan.folder) as store:
        state = fold_events(store)
    assert (state.killed, state.spent.unknown) == (1, 1), "what was under way when it was killed is unknown"
    assert state.spent.attempts == pytest.approx(0.01 + 0.01 + 0.001)
    status(plan.folder, None)
    assert "killed with their run: 1 execution\n" in capsys.readouterr().out


@pytest.mark.parametrize("left", ["feedback", "feedback.new", "message.txt"])
def test_half_written_feedback_is_made_anew(tmp_path: Path, left: str) -> None:
    plan = made_plan(tmp_path, methods=["dense"], repetitions=1, count=1)
    cell = plan.pairs[0].cell(1, "dense")
    place = plan.folder_of(cell) / left
    if left == "message.txt":
        place.parent.mkdir(parents=True)
        place.write_text("half")
    else:
        place.mkdir(parents=True)
        (place / "feedback.txt").write_text("half")
    harness = MadeHarness()
    run_all(plan, harness)
    message = (plan.folder_of(cell) / "message.txt").read_text()
    assert harness.orders[-1].message == message != "half"
    assert sorted(path.name for path in plan.folder_of(cell).iterdir()) == ["feedback", "message.txt", "try-1"]
