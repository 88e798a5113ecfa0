"""Real processes: a dead worker costs one row, a stopped or killed run goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_traces import made_trace, ran_batch, rows, write_traces

from dense.batch.engines.local import LocalEngine
from dense.batch.run import BatchRequest, run_batch
from dense.batch.spec import BatchSpec, WorkLimits
from dense.cli.session.version import code_commit

HOSTILE = "hostile_reader:Hostile"
SPEC = BatchSpec(commit=code_commit(), format=HOSTILE)
"""As the command line makes it."""


def _ran(tmp_path: Path, bad: str, seconds: float) -> list[str]:
    file = tmp_path / "rows.jsonl"
    tasks = ["Count a.txt.", bad, "Count b.txt."]
    file.write_text("".join(json.dumps(made_trace(task)) + "\n" for task in tasks))
    limits = WorkLimits(seconds=seconds)
    request = BatchRequest((str(file),), str(tmp_path / "out"), BatchSpec(format=HOSTILE), limits)
    assert run_batch(request, LocalEngine(2)).rows == 3
    found = sorted(rows(tmp_path / "out"), key=lambda row: int(row["part"].removeprefix("byte ")))
    return [row["error"] for row in found]


def test_a_worker_that_dies_costs_one_row(tmp_path: Path) -> None:
    assert _ran(tmp_path, "kill me", 600) == ["", "the process that analysed it was ended by SIGKILL", ""]


@pytest.mark.slow
def test_a_worker_that_hangs_costs_one_row(tmp_path: Path) -> None:
    assert _ran(tmp_path, "take long", 20) == ["", "the process that analysed it took longer than 20 s (--timeout)", ""]


def _batch(tmp_path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dense", "batch", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "SLOW_TRACES": str(tmp_path / "begun")}
    (tmp_path / "begun").write_text("")
    return subprocess.Popen(
        [*command, "--format", HOSTILE, "--workers", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True,
    )  # fmt: skip


def _write_slow_traces(folder: Path, count: int) -> None:
    write_traces(folder, count)
    for path in folder.iterdir():
        path.write_text(path.read_text().replace("Count the words", "be slow and count the words"))


def _wait_for(tmp_path: Path, count: int) -> None:
    """Until so many traces were begun."""
    end = time.monotonic() + 60
    while (tmp_path / "begun").read_text().count("\n") < count:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_stopped_and_a_killed_run_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM: what was finished is written. SIGKILL of the whole group: only whole parts are there. Then the rest."""
    _write_slow_traces(tmp_path / "in", 150)  # more than a partition
    stopped = _batch(tmp_path)
    _wait_for(tmp_path, 5)
    stopped.send_signal(signal.SIGTERM)
    _, errors = stopped.communicate(timeout=60)
    assert stopped.returncode == 130 and "the same command goes on from there" in errors
    first = len(rows(tmp_path / "out"))
    assert 0 < first < 150
    killed = _batch(tmp_path)
    _wait_for(tmp_path, 5)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=60)
    assert first <= len(rows(tmp_path / "out")) < 150
    before = len(rows(tmp_path / "out"))
    monkeypatch.setenv("SLOW_TRACES", str(tmp_path / "begun"))
    last = ran_batch(tmp_path / "out", tmp_path / "in", spec=SPEC)
    found = rows(tmp_path / "out")
    assert len(found) == len({row["key"] for row in found}) == 150
    assert (last.rows, last.failed) == (150 - before, 0)


def test_workers_end_with_a_killed_parent_and_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL of the parent alone: no worker goes on, no trace gets an error, and the next run makes all rows."""
    _write_slow_traces(tmp_path / "in", 40)
    killed = _batch(tmp_path)
    _wait_for(tmp_path, 3)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=30)  # the workers hold its output streams open
    begun = (tmp_path / "begun").read_text()
    assert begun.count("\n") < 40
    assert rows(tmp_path / "out") == []
    monkeypatch.setenv("SLOW_TRACES", str(tmp_path / "begun"))
    assert ran_batch(tmp_path / "out", tmp_path / "in", spec=SPEC).failed == 0
    ran_batch(tmp_path / "undisturbed", tmp_path / "in", spec=SPEC)
    assert rows(tmp_path / "out") == rows(tmp_path / "undisturbed")
