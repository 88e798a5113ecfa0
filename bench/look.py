"""Whether the model gets to see the step at which people say that a run went wrong.

    python bench/look.py MANIFEST [--look TOKENS] [--json]

For runs with a labelled step (see `exposure.py`: who-and-when and agentrx of the manifest): whether the prompts of the
fast profile hold the text of the labelled step. What counts is what the agent said or called there and the telling
lines of what came back (those that report errors and results, see `dense.text.clip`). A step is seen if lines that make
up at least nine tenths of that text are in the prompt. Runs that fit one call must reach 0.95; others are reported.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agreement import BadManifest, LeftOut, manifest
from exposure import FORMATS, labelled_run, labelled_step

from dense.analysis.actions.action import Actions
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.one_call import Whole, Window, render_one_call
from dense.analysis.one_call.prompt import record_room
from dense.analysis.one_call.windows import split_windows
from dense.cli.text import printable
from dense.options import DEFAULT_LOOK_TOKENS
from dense.service.drafting import clean
from dense.text.clip import TELLING
from dense.text.search import contains_any
from dense.trajectory import Trajectory

LEAST = 0.95
"""The share of labelled steps that prompts of runs that fit one call must show."""
SEEN_SHARE = 0.9
"""A step is seen if lines that make up so much of its telling text are in the prompt."""


def prompts(trajectory: Trajectory, actions: Sequence[TranscriptAction], look: int) -> list[tuple[str, int, int]]:
    """The prompts of the calls that see actions, each with its first and last action."""
    windows = split_windows(actions, record_room(trajectory.task, look))
    found: list[tuple[str, int, int]] = []
    for number, window in enumerate(windows, 1):
        question = (
            Whole(task=trajectory.task, look_tokens=look, actions=tuple(window))
            if len(windows) == 1
            else Window(
                task=trajectory.task,
                look_tokens=look,
                actions=tuple(window),
                number=number,
                count=len(windows),
                total=actions[-1].last,
            )
        )
        found.append((render_one_call(question).messages[0].text, window[0].first, window[-1].last))
    return found


def telling_lines(action: TranscriptAction) -> list[str]:
    """What the agent said or called, and the lines of the outputs that report something; long lines by their ends."""
    calls = [f"{block.head} {block.text}" for block in action.blocks if block.kind == "call"]
    own = "\n".join(calls) if calls else action.says
    outputs = [block.text for block in action.blocks if block.kind == "output"]
    lines = own.split("\n")
    lines += [line for text in outputs for line in text.split("\n") if contains_any(line.lower(), TELLING)]
    return [squeezed for line in lines if (squeezed := " ".join(line.split()))]


def seen_share(lines: Sequence[str], prompt: str) -> float:
    """The share of these lines, by length, that a prompt holds; of a clipped line both ends count."""
    shown = " ".join(prompt.split())
    total = sum(map(len, lines)) or 1
    return sum(len(line) for line in lines if line in shown or _ends_in(line, shown)) / total


def _ends_in(line: str, shown: str) -> bool:
    return len(line) > 240 and re.sub(r"^\W+", "", line)[:80] in shown and line[-60:] in shown


def examine(rows: Sequence[Any], folder: Path, look: int) -> dict[str, Any]:
    """All labelled runs: how many fit one call, how many labelled steps their prompts show."""
    found: dict[str, list[tuple[str, float]]] = {"one call": [], "windows": []}
    seen: set[bytes] = set()
    for row in rows:
        if row.fields.get("format") not in FORMATS or row.path is None:
            continue
        run = labelled_run(folder / row.path)
        if isinstance(run, LeftOut) or run.digest in seen:
            continue
        seen.add(run.digest)
        number = labelled_step(run.trajectory, run.label, run.records)
        if number is None:
            continue
        trajectory, _ = clean(run.trajectory)
        actions = Actions(trajectory.steps).transcript
        action = next(one for one in actions if one.first <= number <= one.last)
        texts = prompts(trajectory, actions, look)
        prompt = next(text for text, first, last in texts if first <= number <= last)
        group = "one call" if len(texts) == 1 else "windows"
        found[group].append((f"{row.path} a{number}", seen_share(telling_lines(action), prompt)))
    return {
        name: {
            "runs": len(cases),
            "seen": sum(share >= SEEN_SHARE for _, share in cases) / len(cases) if cases else None,
            "mean_share": sum(share for _, share in cases) / len(cases) if cases else None,
            "not_seen": [f"{case}: {share:.2f}" for case, share in cases if share < SEEN_SHARE],
        }
        for name, cases in found.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the shares; fail if the prompts of runs that fit one call show too little."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, help="a JSON object on each line, with path and format")
    parser.add_argument("--look", type=int, default=DEFAULT_LOOK_TOKENS, help="what one call sees, in tokens")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        rows = manifest(options.manifest)
    except BadManifest as error:
        print(f"look: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    found = examine(rows, options.manifest.absolute().parent, options.look)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, row in found.items():
            shares = f"seen {row['seen']:.3f}, mean share of the text {row['mean_share']:.3f}" if row["runs"] else "-"
            print(f"{name:<10}{row['runs']:>5} runs   {shares}")
            for case in row["not_seen"]:
                print(f"    not seen: {printable(case)}")
    share = found["one call"]["seen"]
    if share is not None and share < LEAST:
        sys.exit(f"prompts of runs that fit one call show {share:.3f} of the labelled steps; at least {LEAST}")


if __name__ == "__main__":
    main()
