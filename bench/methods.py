"""What each method costs: calls, tokens and estimated USD on real traces, as ratios to all-at-once.

    python bench/methods.py [PATH] [--context TOKENS] [--json]

No model is asked. Every prompt is the real one, measured at four bytes a token. Answers have an ordinary size: DENSE's
fast profile gets what the built-in rules draft in the form of its answer (three answers that were written by hand have
0.67, 0.86 and 1.19 times that size), the others an outline (stretches of about seven nodes). Prices are those
of the paper's feedback model, 0.50 and 3 USD for a million tokens in and out, and nothing is taken off for what
providers cache: step-by-step would profit from that most. The paper measured 10.1 for DENSE and 8.7 for step-by-step.
PATH is the corpus where it is there, else the examples.

The window decides how much of a long trace a prompt can show, so the figures hold for one window: that of the paper's
feedback model (Gemini), or `--context`. Those of the window that other providers' models are taken to have follow."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from dense.methods import METHODS, method
from dense.model import DEFAULT_CONTEXT_WINDOW, PROVIDERS, GivenPrices
from dense.options import FeedbackOptions, Profile
from dense.readers import Stream, read_streams
from dense.service.estimate import CostEstimate, estimate
from dense.trajectory import Trajectory, Usage

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
PRICES = GivenPrices(0.50, 3.0, source="the paper")
MOST_ALL, MOST_LONG = 1.3, 1.0
"""What DENSE's fast profile may cost, against all-at-once: over all traces, over the long ones."""
LONG = 30
"""From so many actions on a trace is a long one."""

type Rows = dict[str, CostEstimate]


chosen: list[str] = list(METHODS)
"""The methods that are measured."""


def variants() -> Iterator[tuple[str, str, Profile]]:
    """Every chosen method; those that build a tree in both profiles."""
    for name in chosen:
        is_tree = name.startswith("dense") and name != "dense-no-hierarchy"
        yield name, name, "fast"
        if is_tree and len(chosen) == len(METHODS):
            yield f"{name} (paper)", name, "paper"


def trajectories(path: Path) -> Iterator[Trajectory]:
    for item in read_streams(path):
        if isinstance(item, Stream):
            found = item.collect()
            if found.task is not None and found.steps:
                yield found


def measure(trajectory: Trajectory, context: int) -> Rows:
    """What each method would take for one trajectory, of a model with this window."""
    rows: Rows = {}
    for shown, name, profile in variants():
        work = estimate(method(name), trajectory, FeedbackOptions(context=context, profile=profile), PRICES, "")
        rows[shown] = asyncio.run(work)
    return rows


def total(found: list[Rows], name: str) -> CostEstimate:
    rows = [rows[name] for rows in found]
    usage = sum((row.usage for row in rows), Usage(0, None, None, 0))
    return CostEstimate(sum(row.calls for row in rows), usage, sum(row.usd or 0.0 for row in rows))


def summary(found: list[Rows]) -> dict[str, dict[str, float]]:
    """Means for a trace, and the ratio of what all traces cost."""
    base = total(found, "all-at-once").usd or 1.0
    means: dict[str, dict[str, float]] = {}
    for name, _, _ in variants():
        row = total(found, name)
        means[name] = {
            "calls": row.calls / len(found),
            "input": (row.usage.input or 0) / len(found),
            "output": (row.usage.output or 0) / len(found),
            "usd": (row.usd or 0.0) / len(found),
            "ratio": (row.usd or 0.0) / base,
        }
    return means


def show(title: str, rows: dict[str, dict[str, float]]) -> None:
    print(f"{title}\n{'method':<28}{'calls':>8}{'tokens in':>12}{'out':>9}{'USD':>10}{'ratio':>8}")
    for name, row in rows.items():
        tokens = f"{row['input']:>12,.0f}{row['output']:>9,.0f}"
        print(f"{name:<28}{row['calls']:>8.1f}{tokens}{row['usd']:>10.4f}{row['ratio']:>8.2f}")
    print()


def figures(path: Path, context: int) -> dict[str, dict[str, dict[str, float]]]:
    """All traces, and the long ones."""
    measured = [(len(trajectory.steps), measure(trajectory, context)) for trajectory in trajectories(path)]
    every = [rows for _, rows in measured]
    long = [rows for steps, rows in measured if steps >= LONG] or every
    return {f"all {len(every)} traces": summary(every), f"{len(long)} traces of {LONG}+ actions": summary(long)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=Path, default=CORPUS if CORPUS.is_dir() else ROOT / "examples")
    parser.add_argument(
        "--context", type=int, default=PROVIDERS["gemini"].context_window, help="the model's window, in tokens"
    )
    parser.add_argument("--only", nargs="*", metavar="METHOD", help="these methods besides all-at-once and dense")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    if options.only is not None:
        chosen[:] = [name for name in METHODS if name in {"all-at-once", "dense", *options.only}]
    figures_by_window = {
        context: figures(options.path, context) for context in dict.fromkeys((options.context, DEFAULT_CONTEXT_WINDOW))
    }
    if options.json:
        print(json.dumps(figures_by_window, indent=2))
    else:
        for context, titled in figures_by_window.items():
            for title, rows in titled.items():
                show(f"window of {context:,} tokens, {title}", rows)
    over = [
        f"{ratio:.2f} on {title}, window {context:,}"
        for context, titled in figures_by_window.items()
        for (title, rows), most in zip(titled.items(), (MOST_ALL, MOST_LONG), strict=True)
        if (ratio := rows["dense"]["ratio"]) > most
    ]
    if over:
        sys.exit(f"dense (fast) ÷ all-at-once is above {MOST_ALL} (all) or {MOST_LONG} (long): {'; '.join(over)}")


if __name__ == "__main__":
    main()
