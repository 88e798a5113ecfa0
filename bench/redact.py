"""How fast credentials are looked for, in megabytes a second and as a ratio to a plain `re.sub` of one pattern.

    python bench/redact.py [--json]

Measured on the texts of the corpus traces (our own fixtures many times where the corpus is not there) and on the source
of Python's standard library, the best of several rounds for both sides, alternating, in CPU seconds. Both are free of
credentials, as nearly all texts are. `--json` prints the numbers as JSON."""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dense
from dense.redact import redact, redact_text
from dense.redact.walk import texts_of
from dense.trajectory import Trajectory

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
FIXTURES = ROOT / "tests" / "fixtures"
ROUNDS = 7
SLOWEST = 50.0
"""Megabytes a second."""
ONE_PATTERN = re.compile(r"ghp_[A-Za-z0-9]{36}")


def trajectories() -> list[Trajectory]:
    folders = [path for path in CORPUS.iterdir() if path.is_dir()] if CORPUS.is_dir() else [FIXTURES] * 5
    read: list[Trajectory] = []
    for folder in sorted(folders):
        try:
            read += dense.read(folder)
        except dense.NoTrajectory:
            continue
    return read


def sources(size: int = 8_000_000) -> list[str]:
    texts: list[str] = []
    for path in sorted(Path(random.__file__).parent.rglob("*.py")):
        if size > 0 and "site-packages" not in path.parts:
            texts.append(path.read_text(errors="replace"))
            size -= len(texts[-1])
    return texts


def best_of(work: list[Callable[[], None]]) -> list[float]:
    """The best CPU time of each piece of work; they take turns, so that a noisy moment hits all alike."""
    best = [float("inf")] * len(work)
    for _ in range(ROUNDS):
        for number, piece in enumerate(work):
            start = time.process_time()
            piece()
            best[number] = min(best[number], time.process_time() - start)
    return best


def measure(texts: list[str], ours: Callable[[], None]) -> dict[str, float]:
    def reference() -> None:
        for text in texts:
            ONE_PATTERN.sub("", text)

    plain, redacting = best_of([reference, ours])
    size = sum(len(text.encode()) for text in texts) / 1e6
    return {"megabytes": size, "per_second": size / redacting, "ratio": redacting / plain}


def measure_traces() -> dict[str, float]:
    read = trajectories()

    def ours() -> None:
        for trajectory in read:
            redact(trajectory, environment={})

    return measure([text for trajectory in read for text in texts_of(trajectory)], ours)


def measure_sources() -> dict[str, float]:
    texts = sources()

    def ours() -> None:
        for text in texts:
            redact_text(text, environment={})

    return measure(texts, ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    logging.disable()
    numbers = {"traces": measure_traces(), "source code": measure_sources()}
    if options.json:
        print(json.dumps(numbers, indent=2))
    else:
        print(f"{'texts':<16}{'MB':>8}{'MB/s':>8}{'re.sub of one pattern = 1':>28}")
        for name, row in numbers.items():
            print(f"{name:<16}{row['megabytes']:>8.1f}{row['per_second']:>8.0f}{row['ratio']:>28.1f}")
    slow = [name for name, row in numbers.items() if row["per_second"] < SLOWEST]
    if slow:
        sys.exit(f"slower than {SLOWEST:.0f} MB/s: {', '.join(slow)}")


if __name__ == "__main__":
    main()
