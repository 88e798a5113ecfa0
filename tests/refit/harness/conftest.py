"""What tests of the harness share: a task of ours, and a model that answers as it is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "model"))
sys.path.insert(0, str(Path(__file__).parent))

from loopback import Loopback, Step

TASK_TOML = """\
schema_version = "1.1"

[task]
name = "dense-tests/greet"

[agent]
timeout_sec = {seconds}

[verifier]
timeout_sec = 30.0
"""
CANARY = "<!-- dense-tests canary GUID 0000 -->\n"
INSTRUCTION = "Write the word hello, and nothing else, to /app/out.txt.\n"
TEST = """\
#!/bin/bash
if [ "$(cat /app/out.txt 2>/dev/null)" = hello ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_task(tmp_path / "tasks" / "greet")


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., Path]:
    """Another task, with other tests or another time limit."""

    def make(name: str, *, test: str = TEST, seconds: float = 60.0) -> Path:
        return write_task(tmp_path / "tasks" / name, test=test, seconds=seconds)

    return make


def write_task(folder: Path, *, test: str = TEST, seconds: float = 60.0) -> Path:
    files = {
        "instruction.md": CANARY + "\n" + INSTRUCTION,
        "task.toml": TASK_TOML.format(seconds=seconds),
        "environment/Dockerfile": "FROM debian:12-slim\nWORKDIR /app\nCOPY seed.txt /app/\n",
        "environment/seed.txt": "seed\n",
        "tests/test.sh": test,
        "solution/solve.sh": "#!/bin/bash\necho hello >/app/out.txt\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "tests" / "test.sh").chmod(0o755)
    return folder


@pytest.fixture
def serve() -> Iterator[Callable[..., Loopback]]:
    """Starts servers that take these steps, and ends them with the test."""
    with ExitStack() as stack:

        def start(*steps: Step, default: Step | None = None) -> Loopback:
            return stack.enter_context(Loopback(*steps, default=default))

        yield start
