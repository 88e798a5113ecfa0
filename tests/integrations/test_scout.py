"""Inspect Scout scans real logs with our scanner. Installs Scout from PyPI; run with `make test-agents`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from install import python_packages
from pyarrow import parquet  # pyright: ignore[reportMissingTypeStubs]

from dense import distill_sync, read
from dense.tree import leaves

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "fixtures" / "inspect" / "repair" / "logs"


@pytest.mark.agents
@pytest.mark.timeout(600)
def test_scout_writes_our_state_and_issues_into_its_results(tmp_path: Path) -> None:
    program = python_packages("inspect-scout", "inspect-scout==0.6.1", str(ROOT)) / "bin"
    dense = [sys.executable, "-m", "dense", "setup", "scout"]
    scanner = subprocess.run(dense, capture_output=True, text=True, check=True).stdout.strip()
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)}
    command = [str(program / "scout"), "scan", scanner, "-T", str(LOGS)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (results,) = tmp_path.rglob("dense_state.parquet")
    rows = {row["transcript_task_id"]: row for row in parquet.read_table(results).to_pylist()}

    assert len(rows) == 3
    for trajectory in read(LOGS):
        name = trajectory.id.removesuffix("_epoch_1")
        tree = distill_sync(trajectory).reconciled
        assert tree.root.verdict is not None
        row = rows[name]
        metadata = json.loads(row["metadata"])
        assert row["value"] == tree.root.verdict.state
        assert metadata["actions"] == len(list(leaves(tree.root)))
        assert [one["code"] for one in metadata["issues"]] == [i.code for i in tree.issues if i.resolved_at is None]
    (cited,) = json.loads(rows["broken"]["message_references"])
    assert cited["cite"] == "a2"
    assert cited["id"]
