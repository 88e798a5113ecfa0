"""What is left when the owner of a sandbox is killed: no process, and after the next start no folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from refit.harness.sandbox import sweep
from refit.harness.sandbox.state_folder import StateFolder

OWNER = """
import asyncio, sys
from pathlib import Path
from refit.harness.sandbox import Sandbox, SandboxSettings

async def main():
    sandbox = await Sandbox.start(SandboxSettings(is_rootless=sys.argv[2] == "True", parent=Path(sys.argv[1])))
    await sandbox.run(["bash", "-c", "(setsid sleep 36061 >/dev/null 2>&1 &)"])
    busy = asyncio.create_task(sandbox.run(["sleep", "36061"]))
    await sandbox.run(["bash", "-c", "mkdir -m 000 /closed; touch /usr/mark 2>/dev/null; true"])
    print("ready", flush=True)
    await busy

asyncio.run(main())
"""


def left_over() -> list[str]:
    """Processes of this machine, in a sandbox or not, that the killed owner's sandbox ran."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if line.split(None, 1)[1] == "sleep 36061"]


def wait_for(count: int, seconds: float) -> int:
    """How many there are, once there are so many or the time is up."""
    deadline = time.monotonic() + seconds
    while (found := len(left_over())) != count and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_a_killed_owner_leaves_nothing(is_rootless: bool, states: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(states), str(is_rootless)], stdout=subprocess.PIPE, text=True
    ) as owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == "ready\n"
            assert wait_for(2, 30) == 2
            (folder,) = states.iterdir()
            assert sweep(states) == [], "its owner lives"
        finally:
            owner.kill()
    assert wait_for(0, 5) == 0
    assert sweep(states) == [folder]
    assert list(states.iterdir()) == []


def test_the_owner_is_on_record(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    assert (state.folder / "owner").read_text() == f"pid {os.getpid()}\n"
    assert sweep(tmp_path) == []
    (state.folder / "deep").mkdir()
    (state.folder / "deep").chmod(0)
    state.remove()
    state.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_to_sweep(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("stays")
    (tmp_path / "dense-sandbox-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "dense-sandbox-file").write_text("stays")
    (tmp_path / ".dense-sandbox-new").mkdir()
    assert sweep(tmp_path) == []
    os.utime(tmp_path / ".dense-sandbox-new", (0, 0))
    assert [path.name for path in sweep(tmp_path)] == [".dense-sandbox-new"]
    if os.geteuid() == 0:
        (tmp_path / "dense-sandbox-other").mkdir()
        os.chown(tmp_path / "dense-sandbox-other", 65534, 65534)
        assert sweep(tmp_path) == []
    assert (tmp_path / "elsewhere" / "file").read_text() == "stays"


@pytest.mark.parametrize("content", ["", "nonsense"])
def test_a_damaged_record_does_not_matter(tmp_path: Path, content: str) -> None:
    (tmp_path / "dense-sandbox-x").mkdir()
    (tmp_path / "dense-sandbox-x" / "owner").write_text(content)
    assert len(sweep(tmp_path)) == 1
