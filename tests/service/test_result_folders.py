"""Results that can be found again: names, index, one writer, whole files, private ones."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import dense
from dense.errors import DenseError, OutputInUse
from dense.service import private_files
from dense.service.private_files import write_files
from dense.service.result_folders import IndexRow, ResultFolders, folder_name, read_index

ROOT = Path(__file__).parents[2]


def trajectory(path: Path) -> dense.Trajectory:
    return next(dense.read(path))


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    """The same trace in three places, as of three trials."""
    paths = [tmp_path / name / "session.jsonl" for name in ("a", "b", "c")]
    for path in paths:
        path.parent.mkdir()
        shutil.copyfile(ROOT / "examples" / "clean-success" / "session.jsonl", path)
    return paths


def test_names_are_for_people_and_do_not_depend_on_the_order(copies: list[Path], tmp_path: Path) -> None:
    with ResultFolders(tmp_path / "out") as folders:
        names = [folders.name(trajectory(path)) for path in copies]
    with ResultFolders(tmp_path / "other") as folders:
        backwards = [folders.name(trajectory(path)) for path in reversed(copies)]
    assert names == backwards[::-1]
    assert len(set(names)) == 3, "no two inputs share a name"
    assert all("--claude-code--" in name and name.startswith("durations-py") for name in names)


def test_a_second_run_finds_its_folder_from_anywhere(
    copies: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(path: Path) -> str:
        with ResultFolders(tmp_path / "out") as folders:
            read = trajectory(path)
            name = folders.name(read)
            row = IndexRow(str(path), name, "complete", "", read.id, path=os.path.realpath(path))
            folders.update_index([row])
        return name

    monkeypatch.chdir(copies[0].parent)
    first = named(Path("session.jsonl"))
    assert named(copies[0]) == first
    monkeypatch.chdir(copies[1].parent)
    assert named(copies[0]) == first
    assert named(Path("session.jsonl")) != first, "another file of the same relative name"
    assert len(read_index(tmp_path / "out")) == 2


def test_credentials_stay_out_of_names(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab1_" * 24
    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps([{"role": "user", "content": f"Use {key} now"}, {"role": "assistant", "content": "Ok."}])
    )
    assert "ab1" not in folder_name(trajectory(path))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with ResultFolders(tmp_path / "out"):
        code = f"""
import sys
from pathlib import Path
from dense.service.result_folders import ResultFolders
try:
    with ResultFolders(Path({str(tmp_path / "out")!r})): pass
except Exception as error:
    print(type(error).__name__, error)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("OutputInUse ")
    assert f"process {os.getpid()}" in done.stdout
    with ResultFolders(tmp_path / "out"):
        pass
    assert issubclass(OutputInUse, DenseError)


def test_files_are_private(tmp_path: Path) -> None:
    write_files(tmp_path / "x" / "y", {"a": b"1", "run.json": b"{}"})
    for path in (tmp_path / "x", tmp_path / "x" / "y"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "x" / "y").iterdir()} == {0o600}


def test_a_full_disk_leaves_the_old_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "r", {"feedback.txt": b"old", "run.json": b"old"})
    real = private_files._write  # pyright: ignore[reportPrivateUsage]

    def full(path: Path, data: bytes) -> None:
        if "run.json" in path.name:
            raise OSError(28, "No space left on device")
        real(path, data)

    monkeypatch.setattr(private_files, "_write", full)
    with pytest.raises(DenseError, match="No space left on device"):
        write_files(tmp_path / "r", {"feedback.txt": b"new", "run.json": b"new"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == {
        "feedback.txt": b"old",
        "run.json": b"old",
    }

    with pytest.raises(DenseError, match="No space left on device"):
        write_files(tmp_path / "other", {"feedback.txt": b"new", "run.json": b"new"})
    assert not (tmp_path / "other").exists()


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "run.json").write_text("mine")
    (tmp_path / "linked").symlink_to(outside)
    with pytest.raises(DenseError, match="a link"):
        write_files(tmp_path / "linked", {"run.json": b"{}"})
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "run.json").symlink_to(outside / "run.json")
    write_files(folder, {"run.json": b"{}"})
    assert (outside / "run.json").read_text() == "mine"
    assert not (folder / "run.json").is_symlink()


def test_trees_do_not_store_the_trace_again(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{"role": "user", "content": "Print it."}]
    for number in range(40):
        call = {"id": f"c{number}", "function": {"name": "bash", "arguments": json.dumps({"command": f"cat {number}"})}}
        lines += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"line of {number}\n" * 2_000},
        ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(lines))
    command = [sys.executable, "-m", "dense", "distill", str(path), "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row = json.loads(done.stdout)
    folder = tmp_path / "out" / row["folder"]
    assert path.stat().st_size > 900_000
    assert sum(file.stat().st_size for file in folder.iterdir()) < 150_000
    assert len(json.loads((folder / "run.json").read_text())["trace"]) == 64
    assert json.loads((tmp_path / "out" / "index.jsonl").read_text()) == row


def test_a_hash_is_no_name_for_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "1.json"
    source = Path(__file__).parents[1] / "fixtures" / "who-and-when" / "algorithm-generated" / "1.json"
    path.write_bytes(source.read_bytes())
    (read,) = dense.read(path)
    assert read.task is not None
    named = replace(read, task=replace(read.task, name="6e3be83d1949fa52cba03fb1ce4b5b3b"))
    assert folder_name(named).startswith("which-of-the-two-shops-opens--")
