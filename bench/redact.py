"""Which planted secrets are found, which strings are wrongly taken for one, and how fast.

    python bench/redact.py [--json] [--only recall|speed] [--misses]

Recall and precision by class, on the packed set that `redaction/make_set.py` writes: each secret is in the output of a
command in a small trace, and counts as found if it is nowhere in the redacted trace. A string to keep counts as a false
hit if anything of its trace changes. Exits with 1 below the goals: 90 % of all secrets, 85 % of passwords, at most 1 %
of false hits, 50 MB a second.

Speed in megabytes a second and as a ratio to a plain `re.sub` of one pattern, on the texts of the corpus traces (our
own fixtures many times where the corpus is not there) and on the source of Python's standard library, the best of
several rounds for both sides, alternating, in CPU seconds. Both are free of credentials, as nearly all texts are."""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import zstandard

import dense
from dense.redact import redact, redact_text
from dense.redact.walk import texts_of
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
FIXTURES = ROOT / "tests" / "fixtures"
ROUNDS = 7
SLOWEST = 50.0
"""Megabytes a second."""
SET = Path(__file__).parent / "redaction" / "set.json.zst"
LEAST_FOUND, LEAST_PASSWORDS, MOST_FALSE = 0.90, 0.85, 0.01
HERE = Source("planted.json", line=1)
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


class Counted:
    """How many of a class there are, and how many were treated as they should be."""

    def __init__(self) -> None:
        self.count = self.right = 0

    @property
    def share(self) -> float:
        return self.right / self.count if self.count else 1.0


def planted() -> list[dict[str, str]]:
    raw = zstandard.ZstdDecompressor().decompress(SET.read_bytes())
    return [json.loads(line) for line in raw.decode().split("\n")]


def trace_of(item: dict[str, str]) -> Trajectory:
    """A small run in whose output the text is."""
    call = ToolCall("bash", {"command": "make"}, "call_1")
    seen = Observation(f"build ok\n{item['text']}\nexit\n", "call_1")
    steps = (
        Step(HERE, message="Let me look.", calls=(call,), observations=(seen,)),
        Step(HERE, message=item.get("said", "Done.")),
    )
    return Trajectory("native", "planted", HERE, task=Task(item.get("task", "Fix the failing build.")), steps=steps)


def is_right(item: dict[str, str]) -> bool:
    trace = trace_of(item)
    redacted, _ = redact(trace, environment={})
    if item["class"] == "keep":
        return redacted is trace
    return not any(item["secret"] in text for text in texts_of(redacted))


def measure_recall() -> tuple[dict[str, dict[str, Counted]], list[dict[str, str]]]:
    """By class and half; and the items that were treated wrongly."""
    table: dict[str, dict[str, Counted]] = {}
    wrong: list[dict[str, str]] = []
    for item in planted():
        row = table.setdefault(item["class"], {"rules": Counted(), "documents": Counted()})
        right = is_right(item)
        row[item["half"]].count += 1
        row[item["half"]].right += right
        wrong += [] if right else [item]
    return table, wrong


def total(rows: Iterable[dict[str, Counted]]) -> tuple[int, int]:
    counted = [cell for row in rows for cell in row.values()]
    return sum(cell.right for cell in counted), sum(cell.count for cell in counted)


def print_recall(table: dict[str, dict[str, Counted]]) -> list[str]:
    """The table; and which goals are missed."""
    secrets = {name: row for name, row in table.items() if name != "keep"}
    print(f"{'class':<14}{'found':>12}{'share':>8}{'  rules half':>16}{'  documents half':>18}")
    for name, row in secrets.items():
        right, count = total([row])
        halves = [f"{cell.right}/{cell.count}" for cell in row.values()]
        print(f"{name:<14}{f'{right}/{count}':>12}{right / count:>8.1%}{halves[0]:>16}{halves[1]:>18}")
    right, count = total(secrets.values())
    kept, keep = total([table["keep"]])
    false = keep - kept
    precision = right / (right + false)
    print(f"{'all':<14}{f'{right}/{count}':>12}{right / count:>8.1%}")
    print(f"strings to keep: {false} of {keep} changed ({false / keep:.1%}); precision {precision:.1%}")
    passwords, asked = total([table["password"]])
    goals = {
        "recall": right / count >= LEAST_FOUND,
        "recall of passwords": passwords / asked >= LEAST_PASSWORDS,
        "false hits": false / keep <= MOST_FALSE,
    }
    return [goal for goal, is_met in goals.items() if not is_met]


def print_speed(numbers: dict[str, dict[str, float]]) -> list[str]:
    print(f"{'texts':<16}{'MB':>8}{'MB/s':>8}{'re.sub of one pattern = 1':>28}")
    for name, row in numbers.items():
        print(f"{name:<16}{row['megabytes']:>8.1f}{row['per_second']:>8.0f}{row['ratio']:>28.1f}")
    return [f"speed on {name}" for name, row in numbers.items() if row["per_second"] < SLOWEST]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--only", choices=("recall", "speed"), help="measure this alone")
    parser.add_argument("--misses", action="store_true", help="name the items that were treated wrongly")
    options = parser.parse_args()
    logging.disable()
    missed: list[str] = []
    if options.only != "speed":
        table, wrong = measure_recall()
        if options.json:
            print(json.dumps({name: total([row]) for name, row in table.items()}, indent=2))
        else:
            missed += print_recall(table)
        for item in wrong if options.misses else ():
            print(f"  {item['class']}, {item['half']}: {item['name']}")
    if options.only != "recall":
        numbers = {"traces": measure_traces(), "source code": measure_sources()}
        missed += [] if options.json else print_speed(numbers)
        if options.json:
            print(json.dumps(numbers, indent=2))
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
