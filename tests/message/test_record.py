"""The record: gaps are marked, what is replaced is left out, the same trace gives the same message."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dense
from dense.options import FeedbackOptions
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

EXAMPLES = Path(__file__).parents[2] / "examples"


def report(*steps: Step, budget: int = 2_000) -> str:
    trajectory = Trajectory("test", "t", Source("x"), task=Task("Find the seed."), steps=steps)
    return dense.distill_sync(trajectory, options=FeedbackOptions(budget=budget)).feedback.report


def step(command: str, output: str, said: str = "") -> Step:
    return Step(Source("x"), said, calls=(ToolCall("bash", {"command": command}),), observations=(Observation(output),))


def test_what_is_left_out_between_lines_is_marked_and_counted() -> None:
    lines = [f"filler line number {number}" for number in range(300)]
    lines[150] = "the decisive seed is 0x7f3a91"
    text = report(step("dump", "\n".join(lines)), step("decode 0x7f3a91", "ok"))
    shown = re.search(r"> (\d+)/300\n(.*?)\n\w{5}\|", text, re.DOTALL)
    assert shown and "the decisive seed is 0x7f3a91" in shown[2] and "…" in shown[2].split("\n")
    assert int(shown[1]) == sum(line != "…" for line in shown[2].split("\n"))


def test_a_line_comes_with_its_call() -> None:
    text = report(step("inspect --deep vault.bin", "seed 0x7f3a91"), step("decode 0x7f3a91", "ok"))
    assert re.search(r"a1 \$ inspect --deep vault\.bin\n\w{5}\| > seed 0x7f3a91", text)


@pytest.mark.parametrize("name", ["looks-successful/rollout.jsonl", "password-recovery/recovery.traj.json"])
def test_the_message_does_not_depend_on_the_order_of_sets(name: str) -> None:
    def message(seed: int) -> bytes:
        command = [sys.executable, "-m", "dense", "distill", str(EXAMPLES / name), "--budget", "3000"]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        return subprocess.run(command, capture_output=True, check=True, env=environment).stdout

    assert message(1) == message(2)
