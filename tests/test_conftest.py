"""A test that leaves a connection open fails, and no other does in its place."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import socket, threading, time
import pytest
import tests.conftest

held = []
tests.conftest.CLOSING_SECONDS = 0.5

@pytest.fixture(scope="module")
def server():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()

def test_held(server):
    held.append(socket.create_connection(server))

def test_lost(server):
    cycle = [socket.create_connection(server)]
    cycle.append(cycle)

def test_closed(server):
    socket.create_connection(server).close()

def test_closed_by_a_thread(server):
    late = socket.create_connection(server)
    def close():
        time.sleep(0.1)
        late.close()
    threading.Thread(target=close).start()

def test_that_has_no_part_in_it():
    held.pop().close()
"""


def test_whoever_leaves_a_socket_fails(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("open files are looked up where Linux shows them")
    file = tmp_path / "test_leaving.py"
    file.write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest", "-p", "no:xdist", file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "5 passed, 2 errors" in done.stdout, done.stdout
    assert sorted(re.findall(r"^ERROR .*::(\w+)", done.stdout, re.MULTILINE)) == ["test_held", "test_lost"]
    reported = re.findall(
        r"leaves sockets open: \['socket:\S+'\]; of these something still holds (\[.*?\])", done.stdout
    )
    assert [held != "[]" for held in reported[:2]] == [True, False], done.stdout
