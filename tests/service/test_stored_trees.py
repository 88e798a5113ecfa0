"""The files of a large trace are small, and say what they left out."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from dense.service import distill_sync
from dense.service.feedback import FeedbackRun
from dense.service.files import RECONCILED, TREE, read_reconciled, read_tree, write_run
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import leaves

ROOT = Path(__file__).parents[2]
MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "dense", *sys.argv[1:]], check=True, capture_output=True)
print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Runs `dense` and prints the most memory that it had, in bytes."""


def trace(size: int) -> Trajectory:
    here = Source("trace.json", line=1)
    steps = tuple(
        Step(
            here,
            message=f"step {number}",
            calls=(ToolCall("bash", {"command": f"cat {number}.txt"}, "c"),),
            observations=(Observation("a line of text\n" * (size // 1500), "c"),),
        )
        for number in range(100)
    )
    return Trajectory("native", "large", here, task=Task("Read the files."), steps=steps)


def test_a_large_one_is_shortened_and_complete(tmp_path: Path) -> None:
    made = distill_sync(trace(9_000_000))
    files = {TREE: made.source, RECONCILED: made.reconciled}
    write_run(tmp_path, FeedbackRun("dense", made.feedback, made.record, files=files))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1_000_000
    for read, whole in (
        (read_tree(tmp_path / TREE), made.source),
        (read_reconciled(tmp_path / RECONCILED), made.reconciled),
    ):
        assert [leaf.id for leaf in leaves(read.root)] == [leaf.id for leaf in leaves(whole.root)]
        assert len(leaves(read.root)[0].step.observations[0].text) < 2_000
    assert "characters left out" in leaves(read_reconciled(tmp_path / RECONCILED).root)[0].step.observations[0].text


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_300_megabytes_take_less_than_twice_their_size_in_memory_and_5_megabytes_on_the_disk(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "bench"))
    rules = importlib.import_module("rules")
    path = tmp_path / "large.traj.json"
    rules.Made().write(path, 3000, 310_000_000)
    idle, peak = (
        int(subprocess.run([sys.executable, "-c", MEASURED, *arguments], check=True, capture_output=True).stdout)
        for arguments in (["--version"], ["distill", str(path), "--out", str(tmp_path / "out")])
    )
    size = path.stat().st_size
    assert size > 295_000_000
    assert peak - idle <= 1.8 * size
    assert sum(file.stat().st_size for file in (tmp_path / "out").rglob("*") if file.is_file()) <= 5_000_000
