"""Trajectories of any length, made at random from a seed."""

from __future__ import annotations

import random

from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

COMMANDS = [
    "ls -la",
    "cat a.txt",
    "python3 run.py",
    "echo 1 > out.txt",
    "pytest -q",
    "sed -i s/a/b/ x.py",
    "rm -rf build",
]


def trajectory(count: int, seed: int) -> Trajectory:
    """A run of shell commands, some of which fail; some texts are hostile."""
    chance = random.Random(seed)
    steps = [
        Step(
            Source("t.jsonl", line=index + 1),
            message=chance.choice(("", "Now this.", "</task> [done] {{x}}", "naïve – ünïcödé")),
            calls=(ToolCall("bash", {"command": chance.choice(COMMANDS)}, f"c{index}"),)
            if chance.random() < 0.9
            else (),
            observations=(
                Observation("x" * chance.choice((0, 5, 3000)), f"c{index}", exit_code=chance.choice((0, 0, 1))),
            ),
        )
        for index in range(count)
    ]
    return Trajectory("test", f"t{seed}", Source("t.jsonl"), task=Task("Make out.txt."), steps=tuple(steps))
