"""`dense convert` as a user runs it: to the output, to a file, to a folder, from a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import dense

ROOT = Path(__file__).parents[2]
PI = ROOT / "tests" / "fixtures" / "pi"
SESSION = ROOT / "examples" / "clean-success" / "session.jsonl"


def run(*arguments: object, input: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dense", "convert", *map(str, arguments)]
    return subprocess.run(command, input=input, capture_output=True, text=True, check=False)


def test_a_pipe_gives_the_same_document_as_the_file() -> None:
    named, piped = run(SESSION, "--to", "atif"), run("-", "--to", "atif", input=SESSION.read_text())
    assert named.returncode == piped.returncode == 0
    assert named.stdout == piped.stdout
    assert json.loads(named.stdout)["schema_version"] == "ATIF-v1.7"
    own = run("-", "--to", "dense", input=SESSION.read_text()).stdout
    assert json.loads(own)["source"] == {"path": "standard input"}


def test_a_folder_gives_a_file_each_that_a_second_run_writes_again(tmp_path: Path) -> None:
    done = run(PI, "--to", "atif", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == len(list(dense.read(PI))) == 3
    assert all(str(file) in done.stdout for file in files)
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert sorted(len(trajectory.steps) for trajectory in dense.read(tmp_path / "out")) == [2, 4, 7]
    run(PI, "--to", "atif", "--out", tmp_path / "out")
    assert sorted((tmp_path / "out").iterdir()) == files


def test_one_document_holds_one_trajectory(tmp_path: Path) -> None:
    refused = run(PI, "--to", "messages", "--out", tmp_path / "all.json")
    assert refused.returncode == 2
    assert "there are 3 trajectories; name a folder or a .jsonl file" in refused.stderr
    assert not (tmp_path / "all.json").exists()
    done = run(PI, "--to", "messages", "--out", tmp_path / "all.jsonl")
    assert done.returncode == 0
    assert [len(trajectory.steps) for trajectory in dense.read(tmp_path / "all.jsonl")] == [2, 4, 7]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no trace")
    done = run(tmp_path, "--to", "atif")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no trace found" in done.stderr and "docs/add-a-reader.md" in done.stderr
    missing = run(tmp_path / "none.json", "--to", "atif")
    assert missing.returncode == 1
    assert "no such file or folder" in missing.stderr
    assert run(SESSION, "--to", "xml").returncode == 2
