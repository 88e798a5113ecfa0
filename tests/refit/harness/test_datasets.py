"""Tasks of datasets: registries and repositories of our own, since tests reach no network."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness.datasets import resolve_dataset

PROGRAM = """
import asyncio, json, sys
from dense.errors import DenseError
from refit.harness.datasets import resolve_dataset

for name in sys.argv[2:]:
    try:
        found = asyncio.run(resolve_dataset(name, sys.argv[1]))
        print(json.dumps([[task, str(folder)] for task, folder in found]))
    except DenseError as error:
        print(json.dumps(str(error)))
"""


def test_tasks_of_a_repository(task: Path, tmp_path: Path) -> None:
    """In a process of its own, since Harbor's cache lies in the home folder that it is imported with."""
    repository, home = tmp_path / "repository", tmp_path / "home"
    (repository / "tasks").mkdir(parents=True)
    home.mkdir()
    subprocess.run(["cp", "-r", task, repository / "tasks" / "greet"], check=True)
    subprocess.run(["cp", "-r", task, repository / "tasks" / "again"], check=True)
    git = ["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "tasks"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run([*git, "config", "uploadpack.allowFilter", "true"], check=True)
    subprocess.run([*git, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    entries = [
        {"name": name, "git_url": f"file://{repository}", "git_commit_id": commit, "path": f"tasks/{name}"}
        for name in ("greet", "again")
    ]
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps([{"name": "ours", "version": "1.0", "description": "", "tasks": entries}]))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, registry, "ours@1.0", "ours", "ours@2.0", "theirs"],
        env={**os.environ, "HOME": str(home), "GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, newest, no_version, no_dataset = map(json.loads, done.stdout.splitlines())
    assert [name for name, _ in first] == ["again", "greet"]
    assert newest == first
    for _, folder in first:
        assert home in Path(folder).parents
        assert (Path(folder) / "tests" / "test.sh").read_bytes() == (task / "tests" / "test.sh").read_bytes()
    assert no_version == "dataset 'ours@2.0': Version 2.0 of dataset ours not found"
    assert no_dataset == "dataset 'theirs': Dataset theirs not found"


def test_tasks_in_folders(task: Path, tmp_path: Path) -> None:
    registry = tmp_path / "registry.json"
    entry = {"name": "greet", "path": str(task)}
    registry.write_text(json.dumps([{"name": "ours", "version": "1", "description": "", "tasks": [entry]}]))
    assert asyncio.run(resolve_dataset("ours@1", registry)) == [("greet", task)]


@pytest.mark.parametrize(
    "text", [None, "{", "[1]", '[{"name": "ours", "version": "1", "description": "", "tasks": []}]']
)
def test_registries_that_cannot_be_used_are_reported(tmp_path: Path, text: str | None) -> None:
    registry = tmp_path / "registry.json"
    if text is not None:
        registry.write_text(text)
    with pytest.raises(DenseError, match=r"^dataset 'ours@1': "):
        asyncio.run(resolve_dataset("ours@1", str(registry)))
