"""`dense distill` without a model and without answers: the built-in rules judge, and the tree is shown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*arguments: object, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dense", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "118", **env},
        check=False,
    )


def test_golden_trees_of_the_examples(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")  # a link would make names depend on this checkout's place
    done = run("distill", "examples", "--out", "out/demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    golden("distill-examples.txt", done.stdout)
    assert done.stderr == ""


def test_golden_tree_of_one_example(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    """The README shows it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")  # a link would make names depend on this checkout's place
    done = run("distill", "examples/password-recovery", "--out", "out/demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    golden("distill-example.txt", "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines()) + "\n")


def test_what_is_written(tmp_path: Path) -> None:
    done = run("distill", ROOT / "examples" / "looks-successful", "--out", tmp_path, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert sorted(path.name for path in folder.iterdir()) == [
        "feedback.txt",
        "message.txt",
        "reconciled.json",
        "run.json",
        "tree.json",
    ]
    record = json.loads((folder / "run.json").read_text())
    assert record["analyst"] == "rules"
    assert record.get("fallbacks", 0) == 0
    assert "check_speed.py" in (folder / "message.txt").read_text()


def test_no_key_is_looked_for_and_no_network_is_used(tmp_path: Path) -> None:
    """With a proxy that nobody answers, and no key."""
    environment = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    done = run("distill", ROOT / "examples" / "clean-success", "--out", tmp_path, cwd=ROOT, **environment)
    assert done.returncode == 0, done.stderr


def test_many_trajectories_are_a_line_each(tmp_path: Path) -> None:
    done = run("distill", ROOT / "tests" / "fixtures" / "mini-swe-agent", "--out", tmp_path, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["input", "folder", "state", "first", "open", "issue"]
    rows = [json.loads(line) for line in (tmp_path / "index.jsonl").read_text().splitlines()]
    assert len(rows) > 5
    assert [line.split()[1] for line in lines[1:]] == [row["folder"] for row in rows]


def test_hostile_text_never_reaches_the_terminal(tmp_path: Path) -> None:
    attack = "\x1b]0;owned\x07\x1b[2J\u202e"
    messages = [
        {"role": "user", "content": f"Write `/app/x{attack}.txt` and `/app/y.txt`."},
        {
            "role": "assistant",
            "content": attack,
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": f"bash{attack}", "arguments": json.dumps({"command": f"python {attack}.py"})},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": f"Traceback (most recent call last):\nKeyError: {attack}"},
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(messages))
    done = run("distill", trace, "--out", tmp_path / "out", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr
