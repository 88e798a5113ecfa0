"""The example on a real Docker daemon: graded as in the sandbox, killed and resumed, nothing left running.

`make test-docker` runs it. It takes the daemon that DOCKER_HOST or the machine offers; else scripts/docker-engine
starts one for the time of the test, and where that cannot be, the tests are skipped with its reason."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_example import EXAMPLE, command, run, scored_once, table, written

from dense.errors import DenseError
from refit.harness.sandbox import preflight_now

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1500)]
ENGINE = EXAMPLE.parents[1] / "scripts" / "docker-engine"
IMAGE = "debian:12-slim"
PATIENCE = 120.0
"""Seconds until a container is there, or gone, on a busy machine."""
CONFIG = yaml.safe_load((EXAMPLE / "docker.yaml").read_text())
SMALL: dict[str, Any] = {
    "tasks": {"path": "tasks", "names": ["csv-report", "merge-ledgers"]},
    "methods": ["none", "dense"],
    "repetitions": 1,
    "concurrency": 3,
}


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[None]:
    """A daemon with the compose plugin and the image that the tasks start from."""
    if answers("docker", "info") and answers("docker", "compose", "version"):
        if not answers("docker", "image", "inspect", IMAGE) and not answers("docker", "pull", IMAGE):
            pytest.skip(f"the Docker daemon here has no image {IMAGE} and cannot pull it")
        yield
        return
    started = subprocess.run([ENGINE, "start"], capture_output=True, text=True, timeout=900, check=False)
    if started.returncode:
        pytest.skip(started.stderr.strip() or f"{ENGINE.name} failed with {started.returncode}")
    settings = dict(word.split("=", 1) for word in shlex.split(started.stdout.split(";")[0])[1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DOCKER_CONTEXT", raising=False)
        for name, value in settings.items():
            patch.setenv(name, value)
        yield
    subprocess.run([ENGINE, "stop"], timeout=120, check=True)


def answers(*words: str) -> bool:
    try:
        return subprocess.run(words, capture_output=True, timeout=120, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def projects() -> list[str]:
    """The compose projects of containers and networks that are there."""
    label = '{{.Label "com.docker.compose.project"}}'
    found: list[str] = []
    for listing in (["ps", "--all"], ["network", "ls"]):
        shown = ["docker", *listing, "--filter", "label=com.docker.compose.project", "--format", label]
        found += subprocess.run(shown, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    return found


def wait_until(holds: Any, process: subprocess.Popen[bytes] | None = None) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert process is None or process.poll() is None, "the run ended by itself"
        assert time.monotonic() < end
        time.sleep(0.1)


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def keepers(folder: Path) -> list[int]:
    """The processes that clean up after runs whose temporary files are in this folder."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"dense-keeper" in words and any(word.startswith(bytes(folder)) for word in words):
            found.append(int(entry.parent.name))
    return found


def test_the_docker_file_is_the_example() -> None:
    example = yaml.safe_load((EXAMPLE / "refit.yaml").read_text())
    differing = {key for key in {*example, *CONFIG} if example.get(key) != CONFIG.get(key)}
    assert differing == {"name", "environment", "concurrency"}


def test_killed_and_resumed_it_is_graded_as_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert projects() == [], "containers of somebody else: run the test on a daemon of its own"
    docker = written(tmp_path / "docker", **SMALL, environment=CONFIG["environment"])
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))

    killed = start(docker)
    wait_until(projects, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait(30)
    wait_until(lambda: projects() == [] and not list(temporary.iterdir()))

    ended = start(docker)
    wait_until(projects, ended)
    ended.terminate()
    assert ended.wait(90) == 1
    assert projects() == [] and not list(temporary.iterdir())

    lost = start(docker)  # with its keeper: only the next run can clean up
    wait_until(projects, lost)
    for keeper in keepers(temporary):
        os.kill(keeper, signal.SIGKILL)
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait(30)
    assert projects()

    results = run(docker)
    assert projects() == []
    scored_once(docker)
    assert len(results) == 6 and all(result.attempt.reward is not None for result in results)
    try:
        preflight_now(("tmux",))
    except DenseError as error:
        pytest.skip(f"on Docker it ran; no sandbox on this machine to compare with: {error}")
    sandboxed = run(written(tmp_path / "sandbox", **SMALL))
    assert {result.cell: result.attempt.reward for result in results} == {
        result.cell: result.attempt.reward for result in sandboxed
    }
    fields = (1, 2, 3)  # without the reward and the feedback, which quotes host names
    assert {cell: tuple(row[n] for n in fields) for cell, row in table(results).items()} == {
        cell: tuple(row[n] for n in fields) for cell, row in table(sandboxed).items()
    }


def test_a_missing_compose_plugin_is_found_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = written(tmp_path / "docker", **SMALL, environment="docker")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    if answers("docker", "compose", "version"):
        pytest.skip("the compose plugin is installed for the whole machine")
    done = subprocess.run(command(docker), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1 and "install Docker's compose plugin" in done.stderr
    assert not list((docker / "out").glob("cells/*"))


def test_the_reason_of_a_failed_build_is_shown(tmp_path: Path) -> None:
    changes = {**SMALL, "tasks": "tasks", "methods": ["none"], "retries": 0, "environment": CONFIG["environment"]}
    folder = written(tmp_path / "docker", **changes)
    (folder / "tasks").unlink()
    task = folder / "tasks" / "csv-report"
    for name in ("instruction.md", "task.toml", "tests/test.sh"):
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_bytes((EXAMPLE / "tasks" / "csv-report" / name).read_bytes())
    (task / "environment").mkdir()
    (task / "environment" / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN seq 1 500 && nothing-like-this --at-all\n")
    subprocess.run(command(folder), capture_output=True, timeout=300, check=False)
    shown = subprocess.run(
        [*command(folder)[:4], "status", str(folder / "out")], capture_output=True, text=True, timeout=60, check=False
    ).stdout
    assert "nothing-like-this --at-all" in " ".join(shown.split())
    assert projects() == []
