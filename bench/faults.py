"""What is kept of a spoiled answer: the faults that models make, one at a time, in the answer about an example.

    python bench/faults.py [--json]

No model is asked. The answer that an engineer wrote by hand about `examples/csv-report` is spoiled in one way at a
time and given to the fast profile; its corrective call gets no reply, so nothing is repaired. The table shows how many
pieces of each kind are left in the tree, next to those of the whole answer. Every tree must hold each action once and
in order; whoever breaks that ends the command with an error."""

from __future__ import annotations

import argparse
import asyncio
import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dense
from dense.analysis.asking.questions import Correction, Question
from dense.errors import AnalystFailed
from dense.service import Distillation, distill
from dense.trajectory import Trajectory
from dense.tree import Shortcut, Subtask, leaves, nodes

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "csv-report"
KINDS = "requirements subtasks shortcuts issues quotes closed products next_steps labels".split()

type Spoil = Callable[[dict[str, Any]], Any]


def _set(path: str, value: object) -> Spoil:
    """Put a value at a place such as `issues.0.quote`."""

    def spoil(answer: dict[str, Any]) -> Any:
        target: Any = answer
        *keys, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        for key in keys:
            target = target[key]
        target[last] = value
        return answer

    return spoil


def _without(*names: str) -> Spoil:
    return lambda answer: {key: value for key, value in answer.items() if key not in names}


def _every_number_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _every_number_as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_every_number_as_text(inner) for inner in value]
    return f"a{value}" if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value


def _cut(share: float) -> Spoil:
    return lambda answer: (text := json.dumps(answer))[: int(len(text) * share)]


def _nested(answer: dict[str, Any]) -> Any:
    deep: Any = answer["subtasks"]
    for _ in range(200):
        deep = [{"title": "deeper", "parts": deep, "completion": "complete"}]
    return {**answer, "subtasks": deep}


FAULTS: dict[str, Spoil] = {
    "nothing": lambda answer: answer,
    "prose and a fence around it": lambda answer: (
        f"Sure!\n```json\n{json.dumps(answer, indent=1)}\n```\nHope it helps {{}}."
    ),
    "thoughts with JSON before it": lambda answer: f'<think>{{"subtasks": []}}</think>{json.dumps(answer)}',
    "numbers as text, `a7`": _every_number_as_text,
    "labels as text": _set("labels", [{"action": "3", "label": "-1"}]),
    "cut off after nine tenths": _cut(0.9),
    "cut off in the middle": _cut(0.5),
    "cut off after a tenth": _cut(0.1),
    "an empty reply": lambda _: "",
    "an empty object": lambda _: {},
    "a list instead of an object": lambda answer: [answer],
    "no subtasks": _without("subtasks"),
    "no root": _without("root"),
    "overlapping cuts": _set("subtasks.1.to", 3),
    "a cut behind the end": _set("subtasks.3.to", 99),
    "the last subtask is missing": lambda answer: {**answer, "subtasks": answer["subtasks"][:-2]},
    "huge numbers": _set("subtasks.2.to", 10**30),
    "negative numbers": _set("issues.1.evidence", [-4]),
    "unknown evidence": _set("issues.1.evidence", [77]),
    "a quote that is in no action": _set("issues.1.quote", "Segmentation fault (core dumped)"),
    "fixed before it was seen": _set("issues.0.fixed_by", [2]),
    "`yes` without an action": _set("requirements.0.by", []),
    "an unknown verdict": _set("subtasks.0.completion", "mostly"),
    "a shortcut of unknown actions": _set("shortcuts.1.from", 40),
    "null everywhere": dict.fromkeys,
    "texts everywhere": lambda answer: dict.fromkeys(answer, "text"),
    "numbers everywhere": lambda answer: dict.fromkeys(answer, 7),
    "lists of nonsense": lambda answer: {key: json.loads('[null, 3, ["x"], {"a": {}}, true]') for key in answer},
    "subtasks nested 200 deep": _nested,
}


class Spoiled:
    """Gives one spoiled answer, and none to the correction."""

    name = "spoiled"

    def __init__(self, reply: Any) -> None:
        self.reply = reply if isinstance(reply, str) else json.dumps(reply)
        self.corrections: list[str] = []

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The spoiled answer."""
        if correction is not None:
            self.corrections += correction.error.splitlines()
            raise AnalystFailed(f"{question.key}: no second answer")
        return self.reply


def example() -> tuple[Trajectory, dict[str, Any]]:
    """The example and the answer about it."""
    (trajectory,) = dense.read(EXAMPLE)
    answers = json.loads((EXAMPLE / "answers.json").read_text())
    return trajectory, answers[f"whole a1 to a{len(trajectory.steps)}"]


def distilled(trajectory: Trajectory, reply: Any) -> tuple[Distillation, list[str]]:
    """What comes of a reply, and what the corrective call said about it."""
    spoiled = Spoiled(reply)
    return asyncio.run(distill(trajectory, spoiled)), spoiled.corrections


def kept(done: Distillation) -> dict[str, int]:
    """How many pieces of each kind the tree holds."""
    tree = done.reconciled
    below = nodes(tree.root)
    single = sum(
        bool(node.facets.dead_ends) + sum(bool(one.instead) for one in node.facets.dead_ends)
        for node in below
        if isinstance(node, Subtask)
    )
    return {
        "requirements": len(tree.requirements),
        "subtasks": sum(
            isinstance(node, Subtask) and bool(node.verdict) and node.verdict.completion != "unknown" for node in below
        ),
        "shortcuts": sum(isinstance(node, Shortcut) for node in below) + single,
        "issues": len(tree.issues),
        "quotes": sum(bool(issue.quote) for issue in tree.issues),
        "closed": sum(issue.resolved_at is not None for issue in tree.issues),
        "products": len(tree.products),
        "next_steps": len(tree.next_steps),
        "labels": sum(bool(leaf.label) for leaf in leaves(tree.root)),
    }


def table() -> dict[str, dict[str, int]]:
    """By fault: what was kept, and how many problems the corrective call named."""
    trajectory, answer = example()
    rows: dict[str, dict[str, int]] = {}
    for name, spoil in FAULTS.items():
        done, problems = distilled(trajectory, spoil(copy.deepcopy(answer)))
        actions = [leaf.action for leaf in leaves(done.reconciled.root)]
        if actions != list(range(1, len(trajectory.steps) + 1)):
            sys.exit(f"{name}: actions are lost or in disorder: {actions}")
        rows[name] = {**kept(done), "named": len(problems)}
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    rows = table()
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'fault':<32}" + "".join(f"{kind[:8]:>9}" for kind in (*KINDS, "named")))
    for name, row in rows.items():
        print(f"{name:<32}" + "".join(f"{row[kind]:>9}" for kind in (*KINDS, "named")))
    print("`named`: lines of the corrective call; `subtasks`: those with a verdict, the root included.")


if __name__ == "__main__":
    main()
