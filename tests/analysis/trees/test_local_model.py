"""A real language model on this machine distills a trace by the command. It is tiny: plumbing, no judgement."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from dense.service.files import read_reconciled
from dense.service.record import RunRecord
from dense.tree import leaves

ROOT = Path(__file__).parents[3]


SHORT = "tests/fixtures/who-and-when/algorithm-generated/1.json"
WHOLE = "examples/clean-success"


@pytest.mark.local_model
@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(
    ("trace", "actions", "task"),
    [
        (SHORT, 3, "Which of the two shops opens earlier on Sundays?"),
        (WHOLE, 8, (ROOT / WHOLE / "task.md").read_text().strip()),
    ],
)
def test_a_trace_from_end_to_end(llama: str, tmp_path: Path, trace: str, actions: int, task: str) -> None:
    command = [sys.executable, "-m", "dense", "distill", trace, "--model", "llamacpp/local"]
    command += ["--base-url", llama, "--small", "--yes", "--out", str(tmp_path)]
    environment = {**os.environ, "LLAMA_API_KEY": "local-test"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    run = msgspec.json.decode((folder / "run.json").read_bytes(), type=RunRecord)
    tree = read_reconciled(folder / "reconciled.json")
    assert [leaf.action for leaf in leaves(tree.root)] == list(range(1, actions + 1))
    assert [asked.key for asked in run.asked] == [f"whole a1 to a{actions}"]
    assert 1 <= run.totals.calls <= 4  # a cut answer is asked for once more with twice the room
    assert (run.totals.usage.output or 0) > 20
    assert (run.totals.usage.input or 0) < 4 * 8_000
    assert {call.model for call in run.calls if call.error is None} == {"local"}
    assert (folder / "message.txt").read_text().strip().endswith(task)
