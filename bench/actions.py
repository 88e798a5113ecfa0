"""How fast commands are understood, as a ratio to `shlex.split` of the same texts in the same run.

    python bench/actions.py [--json]

Texts are the ordinary commands (one line) of the corpus where it is there, else of our examples and fixtures; best of
several rounds for both sides, in turns, in CPU seconds. Exits with an error above the limit."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dense.analysis.actions.step_effects import commands, effects
from dense.readers import Stream, read_streams
from dense.trajectory import Source, Step, ToolCall

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
ROUNDS = 9
LIMIT_MILLISECONDS = 0.2


def texts() -> list[str]:
    """The commands of one line, each once."""
    found: dict[str, None] = {}
    for folder in [CORPUS] if CORPUS.is_dir() else [ROOT / "examples", ROOT / "tests" / "fixtures"]:
        for item in read_streams(folder):
            if isinstance(item, Stream):
                for step in item.collect().steps:
                    found |= dict.fromkeys(text for text in commands(step) if "\n" not in text.strip())
    return list(found)


def split(found: list[str]) -> None:
    for text in found:
        try:
            shlex.split(text)
        except ValueError:
            text.split()


def understand(steps: list[Step]) -> None:
    for step in steps:
        effects(step)


def best_of(work: list[Callable[[], None]]) -> list[float]:
    """The best CPU time of each piece of work; they take turns, so that a noisy moment hits all alike."""
    best = [float("inf")] * len(work)
    for _ in range(ROUNDS):
        for number, piece in enumerate(work):
            start = time.process_time()
            piece()
            best[number] = min(best[number], time.process_time() - start)
    return best


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--json", action="store_true")
    as_json = arguments.parse_args().json
    found = texts()
    steps = [Step(Source("x"), calls=(ToolCall("bash", {"command": text}),)) for text in found]
    ours, theirs = best_of([lambda: understand(steps), lambda: split(found)])
    figures = {
        "commands": len(found),
        "milliseconds_per_command": ours / len(found) * 1000,
        "ratio_to_shlex": ours / theirs,
        "limit_milliseconds": LIMIT_MILLISECONDS,
    }
    if as_json:
        print(json.dumps(figures))
    else:
        print(f"{len(found)} commands of one line: {figures['milliseconds_per_command']:.3f} ms each", end="")
        print(f" (at most {LIMIT_MILLISECONDS}), {figures['ratio_to_shlex']:.1f} × shlex.split")
    return int(figures["milliseconds_per_command"] > LIMIT_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
