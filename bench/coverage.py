"""Whether the report's intervals cover and its tests keep their level, where the truth is known.

    python bench/coverage.py [--trials N] [--draws N] [--json]

Experiments are made whose tasks come from a known population (passing: logit-normal; tokens: log-normal), three
repetitions each, and go through the report's own code. Worlds: a method that helps; one that is like `none`, so that
run and rerun are the same; one that helps some tasks and harms others, on average nothing; and one with hard tasks.
Told are how often a 95 % interval holds the truth, and how often a method without effect would be said to have one: by
the task-level test that claims rest on, by McNemar's, and by the report's verdict over a family of eight such methods.
Last, a method without effect loses the grades of half its failures, so that its rate is far too high: how often that is
claimed as a gain, with unscored cells counted against it as the report does, and if they were only left out.

Seeds are fixed. Exits with 1 if the intervals of rates and their changes do not cover 93–97 %, those of changes of
tokens 91–97 %, or if a claim without truth is more frequent than 5 % by more than chance. Mean tokens are shown and not
promised: a few tasks have most of them, and with few tasks no interval that we tried holds; compare changes, not
amounts."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from refit.report.model import MeanEstimate, MethodName
from refit.report.statistics.bootstrap import RATE, Pair, TaskSample
from refit.report.statistics.comparisons import PossibleOutcome, adjust_family, contrast, worst_case
from refit.results import RUN0

type Vector = NDArray[np.float64]
type Numbers = dict[str, float]

REPETITIONS = 3
FAMILY = 8
PROMISED = {"rate": (93.0, 97.0), "change": (93.0, 97.0), "tokens": (91.0, 97.0)}
"""Coverage, in percent."""
WORLDS = {
    "helps": (-0.3, 2.5, 0.6, 0.8),
    "like none": (-0.3, 2.5, 0.0, 0.0),
    "uneven": (0.0, 2.0, 0.0, 2.0),
    "hard tasks": (-2.5, 2.0, 0.6, 0.8),
}
"""Mean and spread of the tasks' logits, then of the method's effect on them."""
NULL = ("like none", "uneven")
"""Where the method has no effect on average."""
SIZES = (89, 30, 12)
LOST = 0.5
"""Chance that a failure is never scored, where that is asked."""
NAMES = {name: MethodName(name, name, name, "method") for name in (RUN0, *(f"m{at}" for at in range(FAMILY)))}
TOKENS = (11.0, 1.0, -0.2, 0.3, 0.4)
"""Of the logarithm: mean and spread over tasks, the method's effect and its spread, spread of one run."""


def mean_pass(middle: float, spread: float) -> float:
    """The population's pass rate: a logistic curve over a normal one."""
    grid = np.linspace(-12, 12, 4801)
    density = np.exp(-(grid**2) / 2)
    curve = 1 / (1 + np.exp(-(middle + spread * grid)))
    return float((curve * density).sum() / density.sum())


def truth(world: str) -> Numbers:
    """What an infinite experiment would show, in the report's units."""
    middle, spread, effect, varies = WORLDS[world]
    after = 100 * mean_pass(middle + effect, math.hypot(spread, varies))
    before = 100 * mean_pass(middle, spread)
    ratio = math.exp(TOKENS[2] + TOKENS[3] ** 2 / 2)
    amount = math.exp(TOKENS[0] + TOKENS[2] + (TOKENS[1] ** 2 + TOKENS[3] ** 2 + TOKENS[4] ** 2) / 2)
    return {"rate": after, "change": after - before, "tokens": 100 * (ratio - 1), "amount": amount}


def passes(random: np.random.Generator, logits: Vector) -> NDArray[np.bool_]:
    return random.random((len(logits), REPETITIONS)) < (1 / (1 + np.exp(-logits)))[:, None]


def by_pair[T](table: NDArray[np.generic], kind: Callable[[float], T]) -> dict[Pair, T]:
    rows = table.tolist()
    return {(f"t{task}", at): kind(value) for task, row in enumerate(rows) for at, value in enumerate(row)}


def trial(
    random: np.random.Generator, sample: TaskSample, world: str
) -> Iterator[tuple[str, MeanEstimate | float | None]]:
    """One experiment: its estimates by name, and the p-values of the change."""
    tasks = len(sample.tasks)
    middle, spread, effect, varies = WORLDS[world]
    logits = random.normal(middle, spread, tasks)
    before = by_pair(passes(random, logits), bool)
    after = by_pair(passes(random, logits + random.normal(effect, varies, tasks)), bool)
    change = contrast(sample, NAMES, RUN0, ("m0", 1), (RUN0, 0), {pair: (after[pair], before[pair]) for pair in after})
    yield "rate", sample.mean({pair: 100.0 * passed for pair, passed in after.items()}, bounds=RATE)
    yield "change", change.points
    yield from tokens(random, sample)
    yield "p", change.p
    yield "mcnemar", change.mcnemar


def tokens(random: np.random.Generator, sample: TaskSample) -> Iterator[tuple[str, MeanEstimate]]:
    tasks = len(sample.tasks)
    middle, spread, effect, varies, noise = TOKENS
    scale = random.normal(middle, spread, tasks)
    less = scale + random.normal(effect, varies, tasks)
    before, after = (np.exp(of[:, None] + random.normal(0, noise, (tasks, REPETITIONS))) for of in (scale, less))
    yield "tokens", sample.change(by_pair(after, float), by_pair(before, float))
    yield "amount", sample.mean(by_pair(after, float))


def covers(estimate: MeanEstimate, value: float) -> bool:
    found = estimate.interval
    return found is not None and found.low - 1e-9 <= value <= found.high + 1e-9


def measure(world: str, size: int, trials: int, draws: int) -> Numbers:
    """Coverage and false positives in percent, of so many experiments."""
    random = np.random.default_rng([size, sorted(WORLDS).index(world)])
    sample = TaskSample([f"t{task}" for task in range(size)], draws)
    true = truth(world)
    hits = dict.fromkeys((*true, "p", "mcnemar"), 0)
    for _ in range(trials):
        for name, found in trial(random, sample, world):
            if isinstance(found, MeanEstimate):
                hits[name] += covers(found, true[name])
            else:
                hits[name] += found is not None and found < 0.05
    return {name: 100 * count / trials for name, count in hits.items()}


def family(world: str, size: int, trials: int, draws: int) -> float:
    """How often any of eight methods without effect is claimed to have one, in percent."""
    random = np.random.default_rng([size, 99, sorted(WORLDS).index(world)])
    sample = TaskSample([f"t{task}" for task in range(size)], draws)
    middle, spread, effect, varies = WORLDS[world]
    wrong = 0
    for _ in range(trials):
        logits = random.normal(middle, spread, size)
        before = by_pair(passes(random, logits), bool)
        found = []
        for at in range(FAMILY):
            after = by_pair(passes(random, logits + random.normal(effect, varies, size)), bool)
            pairs = {pair: (after[pair], before[pair]) for pair in after}
            found.append(contrast(sample, NAMES, RUN0, (f"m{at}", 1), (RUN0, 0), pairs))
        wrong += any(difference.verdict != "no claim" for difference in adjust_family(found))
    return 100 * wrong / trials


def lossy(size: int, trials: int, draws: int) -> Numbers:
    """How often a method without effect that loses the grades of its failures is claimed to have one, in percent."""
    random = np.random.default_rng([size, 7])
    sample = TaskSample([f"t{task}" for task in range(size)], draws)
    middle, spread, _, _ = WORLDS["like none"]
    claims = {"claimed": 0, "if left out": 0}
    for _ in range(trials):
        logits = random.normal(middle, spread, size)
        before, after = (by_pair(passes(random, logits), bool) for _ in range(2))
        lost = by_pair(random.random((size, REPETITIONS)) < LOST, bool)
        kept = {pair: (passed, before[pair]) for pair, passed in after.items() if passed or not lost[pair]}
        found = contrast(sample, NAMES, RUN0, ("m0", 1), (RUN0, 0), kept)
        ours = {pair: PossibleOutcome(passed, passed or pair not in kept) for pair, passed in after.items()}
        theirs = {pair: PossibleOutcome(passed, passed) for pair, passed in before.items()}
        guarded = replace(found, worst=worst_case(sample, found.points, ours, theirs))
        for name, difference in (("claimed", guarded), ("if left out", found)):
            claims[name] += adjust_family([difference])[0].verdict != "no claim"
    return {name: 100 * count / trials for name, count in claims.items()}


def false_claims(losses: dict[str, Numbers], trials: int) -> Iterator[str]:
    """Where grades that went with failing make a claim."""
    for size, row in losses.items():
        if row["claimed"] > 5 + 300 * math.sqrt(0.05 * 0.95 / trials):
            yield f"{size} tasks, failures lose their grades: {row['claimed']:.1f} % false claims"


def problems(reported: dict[str, dict[str, Numbers]], trials: int) -> Iterator[str]:
    """What is outside of what is promised."""
    for world, sizes in reported.items():
        for size, row in sizes.items():
            for name, (low, high) in PROMISED.items():
                if not low <= row[name] <= high and is_promised(name, int(size)):
                    yield f"{world}, {size} tasks: the interval of the {name} covers {row[name]:.1f} %"
            if world in NULL:
                for name, runs in (("p", trials), ("family", max(1, trials // 8))):
                    most = 5 + 300 * math.sqrt(0.05 * 0.95 / runs)
                    if row[name] > most:
                        yield f"{world}, {size} tasks: {row[name]:.1f} % false positives by {name}"


def is_promised(name: str, size: int) -> bool:
    """Of a dozen tasks, nothing is promised about tokens."""
    return size > 12 or name != "tokens"


def show(reported: dict[str, dict[str, Numbers]]) -> None:
    print("coverage of 95 % intervals, and false positives at 5 % where the method has no effect (all in percent)")
    print("world       tasks    rate  change  tokens  amount  by tasks  McNemar  claims")
    for world, sizes in reported.items():
        for size, row in sizes.items():
            cells = "".join(f"{row[name]:>8.1f}" for name in ("rate", "change", "tokens", "amount"))
            tests = f"{row['p']:>10.1f}{row['mcnemar']:>9.1f}{row['family']:>8.1f}" if world in NULL else ""
            print(f"{world:<12}{size:>6}{cells}{tests}")
    print(f"claims: any of {FAMILY} methods without effect is said to have one")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1500, help="experiments for each world and size")
    parser.add_argument("--draws", type=int, default=2000, help="draws for each interval")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    started = time.monotonic()
    reported: dict[str, dict[str, Numbers]] = {}
    for world in WORLDS:
        reported[world] = {}
        for size in SIZES:
            row = measure(world, size, options.trials, options.draws)
            if world in NULL:
                row["family"] = family(world, size, max(1, options.trials // 8), options.draws)
            reported[world][str(size)] = row
    few = max(1, options.trials // 8)
    losses = {str(size): lossy(size, few, options.draws) for size in SIZES}
    if options.json:
        print(json.dumps({**reported, "failures lose their grades": losses}, indent=2))
    else:
        show(reported)
        for size, row in losses.items():
            print(f"half the failures lose their grades, {size:>2} tasks: {row['claimed']:.1f} % claims,", end=" ")
            print(f"{row['if left out']:.1f} % if they were only left out")
        print(f"{time.monotonic() - started:.0f} s")
    if found := [*problems(reported, options.trials), *false_claims(losses, few)]:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
