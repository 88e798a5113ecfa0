"""The example experiment as a user runs it: Harbor's terminus-2, the sandbox, the scripted model, real verifiers."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from dense.errors import DenseError
from refit.experiment.experiment import experiment_of
from refit.experiment.store.events import EventStore, ExecutionEnded
from refit.harness.sandbox import preflight_now
from refit.results import Cell, Result

KILLS = 20
EXAMPLE = Path(__file__).parents[3] / "examples" / "refit"


@pytest.fixture(scope="module", autouse=True)
def sandboxed() -> None:
    try:
        preflight_now(("tmux",))
    except DenseError as error:
        pytest.skip(f"no sandbox on this machine: {error}")


def written(folder: Path, **changes: Any) -> Path:
    """The example's file with changes, beside links to its tasks and its model."""
    folder.mkdir(parents=True)
    for entry in EXAMPLE.iterdir():
        if entry.name != "refit.yaml":
            (folder / entry.name).symlink_to(entry)
    config = yaml.safe_load((EXAMPLE / "refit.yaml").read_text()) | changes
    (folder / "refit.yaml").write_text(yaml.safe_dump(config))
    return folder


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "dense", "refit", "run", str(folder / "refit.yaml"), "--out", str(folder / "out")]


def run(folder: Path) -> tuple[Result, ...]:
    done = subprocess.run(command(folder), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return experiment_of(folder / "out").results


def table(results: tuple[Result, ...]) -> dict[Cell, tuple[Any, ...]]:
    """What must not depend on how often a run was killed. A loaded machine may make the agent wait a turn longer, which
    shows in its tokens and nowhere else."""
    return {
        result.cell: (
            result.attempt.reward,
            result.attempt.ending,
            result.attempt.delivered,
            result.attempt.received,
            result.feedback,
        )
        for result in results
    }


def scored_once(folder: Path) -> None:
    with EventStore(folder / "out") as store:
        entries = list(store)
    scores = Counter(
        entry.cell for entry in entries if isinstance(entry.event, ExecutionEnded) and entry.event.attempted.is_scored
    )
    assert set(scores.values()) == {1}


def killed(folder: Path, times: int, seconds: tuple[float, float], seed: int) -> int:
    """Starts the run and kills it, so many times; how often it was in the midst of its work."""
    chance, midst = random.Random(seed), 0
    for _ in range(times):
        process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(*seconds))
        midst += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    return midst


def left_behind(folder: Path) -> list[str]:
    """Processes that still know of the experiment."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in words and "pytest" not in words:
                found.append(words)
    return found


SMALL: dict[str, Any] = {
    "tasks": {"path": "tasks", "names": ["csv-report", "split-password"]},
    "methods": ["none", "dense"],
    "repetitions": 1,
}


def test_it_runs_and_each_agent_was_given_what_the_store_says(tmp_path: Path) -> None:
    folder, again = written(tmp_path / "whole", **SMALL), written(tmp_path / "killed", **SMALL)
    with ThreadPoolExecutor(1) as beside:  # agents wait for their terminals most of the time
        whole = beside.submit(run, folder)
        assert killed(again, 3, (4.0, 12.0), seed=3)
        results = whole.result()
    assert len(results) == 6 and all(result.attempt.reward is not None for result in results)
    out = folder / "out"
    for result in results:
        steps = json.loads((out / result.attempt.trace).read_text())["steps"]
        if result.cell.method == "dense":
            assert (result.attempt.delivered, result.attempt.received) == ("instruction", "same")
            assert (out / result.message).read_text().strip() in steps[0]["message"]
        else:
            assert "dense-feedback" not in steps[0]["message"] and result.message == ""
        assert result.attempt.tokens and result.attempt.tool_calls
    assert table(run(again)) == table(results)
    scored_once(again)
    assert left_behind(again) == []
    damaged_run_goes_on(folder, results)


def damaged_run_goes_on(folder: Path, results: tuple[Result, ...]) -> None:
    """Each page but the first of its store in turn is damaged, and what the error says is done."""
    store, page = folder / "out" / "store.sqlite", 4096
    whole, advised = store.read_bytes(), 0
    trials = sorted(path for path in (folder / "out" / "cells").glob("*/try-*/*") if path.name != "task")
    for at in (page, len(whole) // page // 2 * page, len(whole) - page):
        store.write_bytes(whole[:at] + b"\xa5" * page + whole[at + page :])
        done = subprocess.run(command(folder), capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            (advice,) = re.findall(r"`(rm .*?)`", done.stdout + done.stderr)
            subprocess.run(["sh", "-ec", advice], check=True)
            assert table(run(folder)).keys() == table(results).keys()
            advised += 1
        assert sorted(path for path in (folder / "out" / "cells").glob("*/try-*/*") if path.name != "task") == trials
    assert advised >= 2


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_killed_at_twenty_random_moments_the_whole_example_comes_to_the_same_table(tmp_path: Path) -> None:
    whole, again = written(tmp_path / "whole"), written(tmp_path / "killed")
    expected = run(whole)
    assert len(expected) == 96
    docs = (EXAMPLE.parents[1] / "docs" / "refit.md").read_text()
    passed = Counter(result.cell.method for result in expected if result.attempt.passed)
    for method, label in (
        ("run0", "Baseline"),
        ("none", "None"),
        ("self-reflection", "Self-reflection"),
        ("dense", "DENSE"),
    ):
        shown = re.search(rf"^ {label}\b[^0-9\n]*(\d+)/12 ", docs, re.MULTILINE)
        assert shown is not None and int(shown[1]) == passed[method], method
    # A kill every few seconds: most of that is start-up, so the run cannot finish before the twentieth.
    assert killed(again, KILLS, (2.0, 7.0), seed=20) == KILLS, "the run ended before it was killed: kill it sooner"
    assert table(run(again)) == table(expected)
    scored_once(again)
    assert left_behind(again) == []
