"""`dense read` as a user runs it: a real process, real files."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import dense

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"


def run(*arguments: object, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dense", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "TERM": "dumb", **env},
        check=False,
    )


def test_golden_table_of_the_examples(golden: Callable[[str, str], None]) -> None:
    names = ("clean-success", "csv-report", "looks-successful", "password-recovery")
    done = run("read", *(f"examples/{name}" for name in names))
    assert done.returncode == 0, done.stderr
    golden("read-examples.txt", done.stdout + "\n" + done.stderr)


def test_golden_table_of_the_fixtures(golden: Callable[[str, str], None]) -> None:
    """Everything at once, as a mixed pile. Names that differ with each recording are drawn together."""
    done = run("read", "tests/fixtures")
    assert done.returncode == 1, "some are constructed so that they cannot be read"
    golden("read-fixtures.txt", _neutral(done.stdout) + "\n" + _neutral(done.stderr))


def _neutral(text: str) -> str:
    text = re.sub(r"\d+ files of no known format.*", "<so many> files of no known format", text)
    return re.sub(r"\S*(?:[0-9a-f]{4,}-){2,}\S*|\S*__\w{7}\S*|\S*\d{4}-\d\d-\d\dT\S*", "<recorded>", text)


def test_json_is_what_python_reads(tmp_path: Path) -> None:
    done = run("read", "--json", "examples")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [json.loads(line)["schema"] for line in lines] == ["dense.trajectory/1"] * 4
    expected = [msgspec.json.encode(trajectory).decode() for trajectory in dense.read("examples")]
    assert lines == expected
    (tmp_path / "out.jsonl").write_text(done.stdout)
    assert run("read", "--json", tmp_path / "out.jsonl").stdout == done.stdout


def test_warnings_name_each_line(tmp_path: Path) -> None:
    example = (ROOT / "examples" / "clean-success" / "session.jsonl").read_text().splitlines()
    path = tmp_path / "session.jsonl"
    path.write_text(
        "\n".join([*example[:3], "{broken", '{"type": "brand-new"}', '{"type": "brand-new"}', *example[3:]])
    )
    done = run("read", path)
    assert done.returncode == 0
    assert f"warning: {path}:4: skipped: not valid JSON" in done.stderr
    assert f"warning: {path}:5-6: skipped: unknown line type 'brand-new'" in done.stderr
    assert done.stdout.splitlines()[1].endswith("3")
    strict = run("read", "--strict", path)
    assert strict.returncode == 1
    assert strict.stderr.startswith(f"error: {path}:4: not valid JSON")


def test_a_bad_path_does_not_keep_the_good_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    done = run("read", tmp_path / "nowhere", tmp_path / "empty.jsonl", "examples")
    assert done.returncode == 1
    assert "4 trajectories" in done.stdout
    assert f"error: {tmp_path}/nowhere: no such file or folder" in done.stderr
    assert f"error: {tmp_path}/empty.jsonl: the file is empty" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_task_can_be_given(tmp_path: Path) -> None:
    trace = FIXTURES / "claude-code" / "stream-json" / "looks.jsonl"
    assert "no task in the trace; give it with --task" in run("read", trace).stderr
    (tmp_path / "task.md").write_text("Look around.\n")
    for option in ("Look around.\n", f"@{tmp_path}/task.md"):
        done = run("read", "--json", "--task", option, trace)
        assert json.loads(done.stdout)["task"] == {"instruction": "Look around.\n", "origin": "option"}
        assert done.stderr == ""
    assert run("read", "--task", "@/nowhere/task.md", trace).stderr.startswith("error: --task @/nowhere/task.md:")


def test_unknown_format_and_forced_format() -> None:
    trace = ROOT / "examples" / "clean-success" / "session.jsonl"
    wrong = run("read", "--format", "nonsense", trace)
    assert (wrong.returncode, wrong.stderr[:30]) == (1, "error: unknown format 'nonsens")
    assert run("read", "--format", "claude-code", trace).returncode == 0
    other = run("read", "--format", "atif", trace)
    assert other.returncode == 1
    assert "Traceback" not in other.stderr


def test_text_of_a_trace_cannot_steer_the_terminal(tmp_path: Path) -> None:
    hostile = "[bold]Do[/bold] \x1b[31mthis\x1b]0;owned\x07 \u202egnp.exe"
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"role": "user", "content": hostile}, {"role": "assistant", "content": "ok"}]))
    done = run("read", path)
    assert "[bold]Do[/bold]" in done.stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", done.stdout + done.stderr)


@pytest.mark.parametrize("command", ["read --json examples", "methods", "convert examples --to atif"])
@pytest.mark.parametrize("reader", ["head -c 100", "true"])
def test_a_closed_pipe_is_no_error(command: str, reader: str) -> None:
    piped = f"set -o pipefail; {sys.executable} -m dense {command} | {reader}"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (reader != "true")


LISTENING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from dense.cli.app import main; main()"
)
"""The command line, with an ear for interrupts: what a shell starts in the background has none, nor its children."""


def test_an_interrupt_shows_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes((ROOT / "examples" / "clean-success" / "session.jsonl").read_bytes())
    line = (ROOT / "examples" / "clean-success" / "session.jsonl").read_bytes().splitlines()[-10:]
    with (tmp_path / "b.jsonl").open("wb") as file:
        for _ in range(20_000):
            file.write(b"\n".join(line) + b"\n")
    command = [sys.executable, "-c", LISTENING, "read", tmp_path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_until_open(process.pid, tmp_path / "b.jsonl")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "a.jsonl" in out
    assert "interrupted" in err
    assert "Traceback" not in err


def _wait_until_open(pid: int, path: Path) -> None:
    for _ in range(3_000):
        descriptors = Path(f"/proc/{pid}/fd")
        if any(os.path.lexists(entry) and Path(entry).resolve() == path for entry in descriptors.iterdir()):
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} was never opened")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["read", "--help"], []])
def test_help_and_version(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    if arguments == ["--version"]:
        assert done.stdout.startswith(f"dense {dense.__version__}")
