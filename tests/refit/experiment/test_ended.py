"""A run that is killed leaves nothing running and nothing in the folder of temporary files."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_example import SMALL, command, run, scored_once, written

from dense.errors import DenseError
from refit.experiment.store.lock import holder_of
from refit.harness.sandbox import preflight_now

KILLS = 30
PATIENCE = 20.0
"""Seconds for a sandbox's processes and the keeper's removal on a busy machine."""
PR_SET_CHILD_SUBREAPER = 36


@pytest.fixture(autouse=True)
def orphans_are_ours() -> Iterator[None]:
    """Orphans become children of this process, so that none can be overlooked."""
    try:
        preflight_now(("tmux",))
    except DenseError as error:
        pytest.skip(f"no sandbox on this machine: {error}")
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    yield
    prctl(PR_SET_CHILD_SUBREAPER, 0)


def descendants(root: int) -> list[int]:
    """Processes below one that have not ended; the dead among our own children are collected."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        pid = int(stat.parent.name)
        if state != "Z":
            children.setdefault(int(parent), []).append(pid)
        elif int(parent) == os.getpid():
            os.waitpid(pid, os.WNOHANG)
    found, left = list[int](), [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def left_behind(known: set[int], temporary: Path) -> list[str]:
    """What is there in vain: processes, and entries of the folder of temporary files."""
    end = time.monotonic() + PATIENCE
    while True:
        pids = [pid for pid in descendants(os.getpid()) if pid not in known]
        left = [f"process {pid}" for pid in pids] + [str(path) for path in temporary.iterdir()]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def start(folder: Path, temporary: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )


def wait_for(process: subprocess.Popen[bytes], is_there: object) -> None:
    end = time.monotonic() + 60
    while not callable(is_there) or not is_there():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.timeout(240)
def test_killing_the_group_leaves_nothing(tmp_path: Path) -> None:
    folder, temporary = written(tmp_path / "run", **SMALL), tmp_path / "tmp"
    temporary.mkdir()
    known = set(descendants(os.getpid()))
    for number in (signal.SIGKILL, signal.SIGTERM):
        process = start(folder, temporary)
        wait_for(process, lambda: any(temporary.glob("dense-run-*/dense-sandbox-*/space/layers")))
        os.killpg(process.pid, number)
        code = process.wait(30)
        assert code == (-signal.SIGKILL if number == signal.SIGKILL else 1)
        assert left_behind(known, temporary) == []
    assert holder_of(folder / "out") is None


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_thirty_kills_at_random_moments_leave_nothing(tmp_path: Path) -> None:
    """Start-up included; the group, the run, or any of its processes. What a killed keeper or supervisor leaves is
    for the next run to clean up."""
    folder, temporary = written(tmp_path / "run"), tmp_path / "tmp"
    temporary.mkdir()
    known, chance = set(descendants(os.getpid())), random.Random(30)
    for turn in range(KILLS):
        process = start(folder, temporary)
        time.sleep(chance.uniform(0.0, 2.5) if turn % 3 == 0 else chance.uniform(2.5, 9.0))
        match turn % 5:
            case 0 | 1:
                os.killpg(process.pid, signal.SIGKILL)
            case 2:
                process.kill()
            case 3:
                process.terminate()
            case _:
                victims = descendants(process.pid)
                if victims:
                    os.kill(chance.choice(victims), signal.SIGKILL)
                time.sleep(0.5)
                process.kill()
        process.wait(60)
        if turn % 5 != 4:
            assert left_behind(known, temporary) == [], f"turn {turn}"
    run(folder)  # after the last kill was of any process
    scored_once(folder)
    # The last run had the machine's own folder; one more with this one sweeps what killed keepers left.
    done = subprocess.run(
        command(folder), env={**os.environ, "TMPDIR": str(temporary)}, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    assert left_behind(known, temporary) == []


def test_a_server_whose_supervisor_was_killed_is_ended_by_the_next_run(tmp_path: Path) -> None:
    from refit.harness import supervisor

    record, mark = tmp_path / "server.pid", tmp_path / "pids"
    code = (
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(mark)!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\ntime.sleep(600)\n"
    )
    known = set(descendants(os.getpid()))
    starter = subprocess.Popen(
        [sys.executable, supervisor.__file__, str(record), sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(starter, lambda: mark.exists() and len(mark.read_text().split()) == 2)
    starter.kill()
    starter.communicate()
    server, child = map(int, mark.read_text().split())
    end = time.monotonic() + 10
    while server in descendants(os.getpid()) and time.monotonic() < end:  # it dies with its supervisor
        time.sleep(0.05)
    assert [pid for pid in descendants(os.getpid()) if pid not in known] == [child]
    record.write_text(record.read_text().rpartition(" ")[0] + " another-start-of-the-machine")
    kept = record.read_text()
    supervisor.end_recorded(record)
    assert child in descendants(os.getpid()), "the record is of another start of the machine"
    record.write_text(kept.replace("another-start-of-the-machine", supervisor.boot_id()))
    supervisor.end_recorded(record)
    end = time.monotonic() + 10
    while child in descendants(os.getpid()) and time.monotonic() < end:
        time.sleep(0.05)
    assert child not in descendants(os.getpid()) and not record.exists()
