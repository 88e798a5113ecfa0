"""How long a large report takes, and how much memory.

    python bench/report.py [--keep FOLDER] [--json]

A made experiment of 4 recipients, 89 tasks, 3 repetitions, 9 methods and 4 rounds (39,516 cells, one in a hundred
invalid) is reported whole, with tables, figures and page, in a process of its own. Told are the seconds on the clock
and of the processor (one of them; on an idle machine they are the same), the peak of its memory, and the ratio to
reading the same results with `json.loads` in the same process. Exits with 1 beyond 60 s of the processor or 1 GB."""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from dense.trajectory import Usage
from refit.report import build, make
from refit.report.write import write_tables
from refit.results import ANALYST, RUN0, AttemptResult, Cell, Experiment, Prices, Result

RECIPIENTS = ("alpha", "beta", "gamma", "delta")
OTHERS = ("none", "advisor", "self-reflection", "all-at-once", "step-by-step", "verifier-feedback")
METHODS = (*OTHERS, "dense", "dense-no-shortcuts", "dense-no-hierarchy")
TASKS, REPETITIONS, ROUNDS = 89, 3, 4
MOST_SECONDS, MOST_MB = 60.0, 1024.0


def made() -> Experiment:
    """The same experiment every time."""
    chance = random.Random(7)
    results: list[Result] = []
    for recipient in RECIPIENTS:
        for task in range(TASKS):
            skill = chance.betavariate(0.6, 0.6)
            size = chance.lognormvariate(11, 1)
            for repetition in range(REPETITIONS):
                cells = [(0, RUN0), *((at, method) for at in range(1, ROUNDS + 1) for method in METHODS)]
                for at, method in cells:
                    cell = Cell(recipient, f"task-{task:02}", repetition, at, method)
                    gain = 0.1 * at * (method.startswith("dense") or method == "verifier-feedback")
                    results.append(_result(chance, cell, min(1.0, skill + gain), size))
    return Experiment(
        name="made for the bench",
        results=tuple(results),
        methods=METHODS,
        recipients=RECIPIENTS,
        privileged=frozenset({"verifier-feedback"}),
        prices={ANALYST: Prices(0.5, 3), **{name: Prices(5, 30) for name in RECIPIENTS}},
        notes=("Made numbers: they say nothing about any method.",),
    )


def _result(chance: random.Random, cell: Cell, skill: float, size: float) -> Result:
    lost = chance.random() < 0.01
    tokens = int(size * chance.lognormvariate(0, 0.4))
    calls = 0 if cell.round == 0 or cell.method in ("none", "self-reflection", "verifier-feedback") else 4000
    return Result(
        cell,
        AttemptResult(
            reward=None if lost else float(chance.random() < skill),
            exception="EnvironmentStartTimeoutError" if lost else None,
            usage=Usage(tokens, tokens // 3, None, tokens // 20, tokens / 4e5),
            tool_calls=chance.randrange(60),
            seconds=chance.uniform(60, 900),
        ),
        feedback=None if cell.round == 0 else Usage(calls * 5, 0, 0, calls),
        feedback_bytes=None if cell.round == 0 else 20_000 + calls,
    )


@contextmanager
def timed(reported: dict[str, float], name: str) -> Generator[None]:
    """Seconds of the processor."""
    started = time.process_time()
    yield
    reported[name] = time.process_time() - started


def run(folder: Path) -> dict[str, float]:
    """Everything in this process, by part."""
    experiment = made()
    lines = [msgspec.json.encode(result) for result in experiment.results]
    reported: dict[str, float] = {"cells": float(len(lines))}
    with timed(reported, "json.loads"):
        for line in lines:
            json.loads(line)
    with timed(reported, "numbers"):
        report = build(experiment)
    with timed(reported, "tables"):
        write_tables(report, folder)
    del report
    started = time.perf_counter()
    with timed(reported, "whole"):
        make(experiment, folder)
    reported["clock"] = time.perf_counter() - started
    reported["ratio"] = reported["whole"] / reported["json.loads"]
    reported["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform == "linux" else 2**20
    )
    return reported


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="leave the report in this folder")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(run(options.inside)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, __file__, "--inside", folder], capture_output=True, text=True, check=False
        )
    if done.returncode:
        sys.exit(done.stderr)
    reported: dict[str, float] = json.loads(done.stdout)
    if options.json:
        print(json.dumps(reported, indent=2))
    else:
        print(
            f"{reported['cells']:,.0f} cells: whole report {reported['whole']:.1f} s of the processor,"
            f" {reported['clock']:.1f} s"
        )
        print(f"numbers {reported['numbers']:.1f} s, tables {reported['tables']:.1f} s, the rest figures and page")
        print(f"{reported['ratio']:.0f} times json.loads of the same results ({reported['json.loads']:.2f} s)")
        print(f"peak memory {reported['peak_mb']:.0f} MB")
    if reported["whole"] > MOST_SECONDS or reported["peak_mb"] > MOST_MB:
        sys.exit(f"more than {MOST_SECONDS:.0f} s or {MOST_MB:.0f} MB")


if __name__ == "__main__":
    main()
