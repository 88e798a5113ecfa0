"""`dense last` and `dense sessions` on stores as the programs leave them, in a home of the test's own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dense.cli.app import app
from dense.integrations import sessions, state

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two sessions of Claude Code."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DENSE_STATE_DIR", str(tmp_path / "state"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    store = tmp_path / "home" / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in str(folder))
    store.mkdir(parents=True)
    (source,) = (EXAMPLES / "looks-successful").rglob("*.jsonl")
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    for number, name in enumerate(("old", "new")):
        changed = [{**line, "cwd": str(folder), "sessionId": name} for line in lines]
        (store / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
        os.utime(store / f"{name}.jsonl", (1_700_000_000 + number, 1_700_000_000 + number))
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_last_prints_the_message_of_the_newest_session(project: Path) -> None:
    done = run("last")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("[dense-feedback-")
    assert "new" in done.stderr
    assert "[dense-feedback-" not in run("last", "--report").stdout


def test_a_folder_below_belongs_to_the_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".git").mkdir()
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert run("last").exit_code == 0


def test_sessions_are_listed_newest_first_and_read_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [json.loads(line) for line in run("sessions", "--json").stdout.splitlines()]
    assert [one["id"] for one in listed] == ["new", "old"]
    assert all(one["state"] in ("complete", "incomplete", "unknown", "broken") for one in listed)
    monkeypatch.setattr(sessions, "session_trajectory", None)  # reading anything again would fail
    assert run("sessions").exit_code == 0
    assert (state.state_folder() / sessions.INDEX).stat().st_mode & 0o077 == 0


def test_no_session_is_an_error_for_people(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for command in ("last", "sessions"):
        assert "stored for" in str(run(command).exception)
    monkeypatch.chdir(project)
    assert "no store is known; known are claude-code, codex," in str(run("last", "--agent", "nobody").exception)


def test_the_page_of_the_newest_session(project: Path) -> None:
    done = run("view", "--last", "--turn", "all", "--out", "page.html")
    assert done.exit_code == 0, done.output
    assert (project / "page.html").stat().st_size > 10_000
    assert run("view", "--last", "--agent", "codex").exit_code != 0  # none of its sessions is stored
    for command in ("view", "show"):
        nothing = run(command)
        assert nothing.exit_code != 0
        assert "--last" in str(nothing.exception)


def test_the_newest_session_in_the_terminal(project: Path) -> None:
    done = run("show", "--last", "--plain")
    assert done.exit_code == 0 and "message for the next attempt" in done.output, done.output
    assert "exclude each other" in str(run("show", "--last", "x.jsonl").exception)
