"""Every fixture is found in each plausible place: nested, linked, among other files, packed, in a trial, at home."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from dense.readers import Skipped, Stream, UnreadFile, files_of, read_file
from dense.readers.detect import CONTAINERS
from dense.readers.files import TraceFile

FIXTURES = Path(__file__).parents[1] / "fixtures"
HOMES = {
    "claude-code": ("projects", ".claude/projects"),
    "codex": ("fix/sessions", ".codex/sessions"),
    "gemini-cli": ("fix/tmp", ".gemini/tmp"),
    "opencode": ("fix/opencode.db", ".local/share/opencode/opencode.db"),
    "copilot-cli": ("fix/session-state", ".copilot/session-state"),
    "qwen-code": ("fix/projects", ".qwen/projects"),
    "cursor": (".", ".cursor"),
    "terminal-bench-1": ("run", "runs/2026-01-01__12-00-00"),
    "droid": ("fix/sessions", ".factory/sessions"),
    "cline": ("Code/User/globalStorage", ".config/Code/User/globalStorage"),
    "goose": ("sessions", ".local/share/goose/sessions"),
    "kimi-cli": ("fix/sessions", ".kimi/sessions"),
    "pi": ("fix/sessions", ".pi/agent/sessions"),
    "pochi": ("trial", "jobs/job/task__abcdefg"),
    "atif": ("jobs/basic", "jobs/2026-01-01__12-00-00"),
    "inspect": ("repair/logs", "logs"),
    "openhands": ("repair", ".openhands/conversations"),
    "mini-swe-agent": (".", "swebench/run"),
    "swe-agent": ("repair", "trajectories/me/run/repair"),
    "otel": ("genai", "spans"),
    "tau-bench": (".", "results"),
    "who-and-when": (".", "Who&When"),
    "agentrx": (".", "data"),
    "messages": (".", "my-data"),
}
"""Which part of a format's fixtures is a store of its program, and where that is."""

type Found = list[tuple[str, str, int]]


def found_in(path: Path) -> Found:
    """Format, ID and number of steps of each trajectory below a path."""
    items = [item for file in files_of(path, skipped=Skipped()) for item in read_file(file)]
    streams = [item.collect() for item in items if isinstance(item, Stream)]
    return sorted((one.format, "" if one.format == "messages" else one.id, len(one.steps)) for one in streams)


@cache
def expected(format: str) -> Found:
    found = found_in(FIXTURES / format / HOMES[format][0])
    assert found
    return found


def put(format: str, target: Path) -> None:
    source = FIXTURES / format / HOMES[format][0]
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(source, target)


def at_home(format: str, folder: Path) -> None:
    put(format, folder / HOMES[format][1])


def nested(format: str, folder: Path) -> None:
    put(format, folder / "runs" / "2026-01-01" / "worker 3" / Path(HOMES[format][1]).name)


def linked(format: str, folder: Path) -> None:
    put(format, folder.parent / f"elsewhere-{format}" / Path(HOMES[format][1]).name)
    (folder / "latest").symlink_to(folder.parent / f"elsewhere-{format}", target_is_directory=True)
    (folder / "again").symlink_to(folder / "latest")


def among_other_files(format: str, folder: Path) -> None:
    put(format, folder / Path(HOMES[format][1]).name)
    (folder / "README.md").write_text("# Notes\n")
    (folder / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    (folder / "empty.jsonl").touch()
    (folder / "data.csv").write_text("a,b\n1,2\n")
    (folder / "nowhere").symlink_to(folder / "missing")
    for name in (".git", "node_modules"):
        (folder / name).mkdir()
        put("messages", folder / name / "messages")


def in_a_trial(format: str, folder: Path) -> None:
    """As an agent leaves its files in a trial of Harbor that was killed before the trajectory was written."""
    trial = folder / "jobs" / "job" / "task__abcdefg"
    put(format, trial / "agent" / "sessions" / Path(HOMES[format][1]).name)
    (trial / "config.json").write_text(json.dumps({"trial_name": "task__abcdefg", "task": {"path": "tasks/task"}}))
    (trial / "result.json").write_text(json.dumps({"trial_name": "task__abcdefg", "verifier_result": {"rewards": {}}}))
    (trial / "verifier").mkdir()
    (trial / "verifier" / "ctrf.json").write_text('{"results": {"tests": []}}')
    (trial / "agent" / "trajectory.json").touch()


LAYOUTS: list[Callable[[str, Path], None]] = [at_home, nested, linked, among_other_files, in_a_trial]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("format", HOMES)
def test_every_layout(format: str, layout: Callable[[str, Path], None], tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    layout(format, folder)
    assert found_in(folder) == expected(format)


def test_all_formats_are_laid_out() -> None:
    from dense.readers import READERS

    assert set(READERS) - set(HOMES) == {"dense", "openclaw"}


def single_files() -> list[Path]:
    """One file of each format that can be packed by itself."""
    chosen: dict[str, Path] = {}
    for format in HOMES:
        for file in files_of(FIXTURES / format):
            if isinstance(file, TraceFile) and file.shape not in CONTAINERS and format not in chosen:
                items = list(read_file(file))
                if items and not any(isinstance(item, UnreadFile) for item in items):
                    chosen[format] = file.path
    return list(chosen.values())


@pytest.mark.parametrize("path", single_files(), ids=lambda path: path.relative_to(FIXTURES).parts[0])
def test_packed_and_under_any_name(path: Path, tmp_path: Path) -> None:
    """By its content alone: compressed, with another suffix, with none."""
    original = [len(item.collect().steps) for item in read_file(TraceFile(path, "x")) if isinstance(item, Stream)]
    for name, data in {
        "a.gz": gzip.compress(path.read_bytes()),
        "b.txt": path.read_bytes(),
        "c": path.read_bytes(),
    }.items():
        (tmp_path / name).write_bytes(data)
        assert sorted(steps for _, _, steps in found_in(tmp_path / name)) == sorted(original), name


@pytest.mark.parametrize("path", single_files(), ids=lambda path: path.relative_to(FIXTURES).parts[0])
def test_as_other_programs_write_it(path: Path, tmp_path: Path) -> None:
    """With a byte order mark, in UTF-16, with CRLF, blank lines, a line that was cut off, NUL bytes at the end."""
    data = path.read_bytes()
    lines = data.replace(b"\r\n", b"\n")
    original = sorted(steps for _, _, steps in found_in(path))
    for name, changed in {
        "bom": b"\xef\xbb\xbf" + data,
        "utf16": data.decode().encode("utf-16"),
        "crlf": lines.replace(b"\n", b"\r\n"),
        "blank": b"\n \n" + lines.replace(b"\n", b"\n\n"),
        "cut": data + b'{"type": "assistant", "mess',
        "nul": data + b"\0" * 512,
    }.items():
        (tmp_path / name).write_bytes(changed)
        assert sorted(steps for _, _, steps in found_in(tmp_path / name)) == original, name


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip", ".bz2", ".xz"])
def test_an_archive_is_to_be_unpacked(suffix: str, tmp_path: Path) -> None:
    """Half of a member must not pass for the trace."""
    path = tmp_path / f"traces{suffix}"
    source = FIXTURES / "messages"
    if suffix in (".bz2", ".xz"):
        path.write_bytes({".bz2": bz2, ".xz": lzma}[suffix].compress(b"{}\n"))
    elif suffix == ".zip":
        shutil.make_archive(str(path.with_suffix("")), "zip", source)
    else:
        with tarfile.open(path, "w:gz" if suffix == ".tar.gz" else "w") as archive:
            archive.add(source, "messages")
    [item] = read_file(TraceFile(path, path.name))
    assert isinstance(item, UnreadFile) and "unpack it and give its folder" in item.reason and "\n" not in item.reason
