"""A real language model on this machine distills an example by the command. It is tiny: plumbing, no judgement."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from dense.distillation.record import Run, read_reconciled
from dense.tree import leaves

ROOT = Path(__file__).parents[2]


@pytest.mark.local_model
@pytest.mark.timeout(900)
def test_an_example_from_end_to_end(llama: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dense", "distill", "examples/clean-success", "--model", "llamacpp/local"]
    command += ["--base-url", llama, "--small", "--yes", "--out", str(tmp_path)]
    environment = {**os.environ, "LLAMA_API_KEY": "local-test"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    run = msgspec.json.decode((folder / "run.json").read_bytes(), type=Run)
    tree = read_reconciled(folder / "reconciled.json")
    assert [leaf.action for leaf in leaves(tree.root)] == list(range(1, 9))
    answered = [asked for asked in run.asked if not asked.fell_back]
    assert answered, "not one usable answer"
    assert run.totals.calls >= len(run.asked)
    assert (run.totals.usage.output or 0) > 20 * len(answered)
    assert {call.model for call in run.calls if call.error is None} == {"local"}
    task = (ROOT / "examples" / "clean-success" / "task.md").read_text().strip()
    assert (folder / "message.txt").read_text().strip().endswith(task)
