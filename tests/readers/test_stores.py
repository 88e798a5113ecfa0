"""The sessions that programs keep at home, listed without reading them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_within

from dense.readers import Stream, read_session, stored_sessions
from dense.readers.folders.stores import STORES

FIXTURES = Path(__file__).parents[1] / "fixtures"
APP = Path("/app")
LAYOUT = {
    "claude-code": ("claude-code/projects", ".claude/projects"),
    "codex": ("codex/fix/sessions", ".codex/sessions"),
    "gemini-cli": ("gemini-cli/fix/tmp", ".gemini/tmp"),
    "opencode": ("opencode/fix/opencode.db", ".local/share/opencode/opencode.db"),
    "copilot-cli": ("copilot-cli/fix/session-state", ".copilot/session-state"),
    "qwen-code": ("qwen-code/fix/projects", ".qwen/projects"),
    "pi": ("pi/fix", ".pi/agent"),
    "droid": ("droid/fix/sessions", ".factory/sessions"),
    "kimi-cli": ("kimi-cli/fix/sessions", ".kimi/sessions"),
    "cline": ("cline/fix/data", ".cline/data"),
    "goose": ("goose/sessions", ".local/share/goose/sessions"),
    "cursor": ("cursor/projects", ".cursor/projects"),
}
"""Where recorded sessions are among the fixtures, and where the program has them."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for source, target in LAYOUT.values():
        to = tmp_path / target
        to.parent.mkdir(parents=True, exist_ok=True)
        path = FIXTURES / source
        if path.is_dir():
            shutil.copytree(path, to, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(path, to)
    return tmp_path


@pytest.mark.parametrize("agent", LAYOUT)
def test_sessions_of_a_project(home: Path, agent: str) -> None:
    found = stored_sessions(APP, agents=[agent], home=home, environment={})
    assert found
    assert {one.agent for one in found} == {agent}
    for one in found:
        assert one.project == "/app"
        assert one.changed > 0
        assert agent == "cursor" or (one.started and one.started.startswith("20"))
        (read,) = [item for item in read_session(one) if isinstance(item, Stream)]
        assert read.format == agent
        assert read.id == one.id or one.id in str(read.source)


def test_sessions_of_another_project_are_not_listed(home: Path) -> None:
    assert stored_sessions(Path("/elsewhere"), home=home, environment={}) == []


def test_the_last_changed_comes_first(home: Path) -> None:
    for number, path in enumerate(sorted((home / ".claude" / "projects").glob("*/*.jsonl"))):
        os.utime(path, (1e9 + number, 1e9 + number))
    times = [one.changed for one in stored_sessions(APP, agents=["claude-code"], home=home, environment={})]
    assert times == sorted(times, reverse=True)
    assert len(times) == 4


def test_homes_by_the_environment(home: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.move(home / ".claude", moved)
    assert not stored_sessions(APP, agents=["claude-code"], home=home, environment={})
    assert stored_sessions(APP, agents=["claude-code"], home=home, environment={"CLAUDE_CONFIG_DIR": str(moved)})


def test_no_store_is_no_error(tmp_path: Path) -> None:
    assert stored_sessions(home=tmp_path, environment={}) == []
    assert set(LAYOUT) <= set(STORES)


def test_a_damaged_store_has_no_sessions(home: Path) -> None:
    (home / ".local/share/opencode/opencode.db").write_bytes(b"SQLite format 3\0broken")
    (home / ".codex/sessions/rollout-x.jsonl").write_bytes(b"\xff\n{")
    assert not stored_sessions(APP, agents=["opencode"], home=home, environment={})
    assert stored_sessions(agents=["codex"], home=home, environment={})


@pytest.mark.parametrize("version", ["of the workspace", "of all workspaces"])
@pytest.mark.parametrize("system", [".config", "Library/Application Support", "AppData/Roaming"])
def test_conversations_in_the_database_of_cursor(tmp_path: Path, system: str, version: str) -> None:
    """Constructed as public descriptions of the editor's state have it: the list names the folder of each."""
    user = tmp_path / system / "Cursor" / "User"
    (user / "globalStorage").mkdir(parents=True)
    path = user / "globalStorage" / "state.vscdb"
    shutil.copyfile(FIXTURES / "cursor" / "globalStorage" / "state.vscdb", path)
    with sqlite3.connect(path) as database:
        [(name,), _] = database.execute("select substr(key, 14) from cursorDiskKV where key like 'composerData:%'")
        database.execute("insert into cursorDiskKV values ('composerData:damaged', '{')")
    header: dict[str, Any] = {"composerId": name}
    if version == "of the workspace":
        path, key = user / "workspaceStorage" / "0a1b" / "state.vscdb", "composer.composerData"
        path.parent.mkdir(parents=True)
        (path.parent / "workspace.json").write_text('{"folder": "file:///my%20app"}')
    else:
        key, header["workspaceIdentifier"] = "composer.composerHeaders", {"uri": {"fsPath": "/my app"}}
    with sqlite3.connect(path) as database:
        database.execute("create table if not exists ItemTable (key text unique on conflict replace, value blob)")
        database.execute("insert into ItemTable values (?, ?)", [key, json.dumps({"allComposers": [header]})])
    transcript = tmp_path / ".cursor/projects/my-app/agent-transcripts" / name / f"{name}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text('{"role": "user", "message": {"content": "x"}}\n')
    [one] = stored_sessions(Path("/my app"), home=tmp_path, environment={})
    assert (one.agent, one.id, one.project, one.is_in_database) == ("cursor", name, "/my app", True)
    assert one.changed > 1e9 and one.started
    [read] = [item for item in read_session(one) if isinstance(item, Stream)]
    assert read.id == name and len(read.collect().steps) == 5
    assert stored_sessions(APP, home=tmp_path, environment={}) == []


def test_a_thousand_sessions_of_a_database_within_two_seconds(home: Path) -> None:
    path = home / ".local/share/opencode/opencode.db"
    with sqlite3.connect(path) as database:
        columns = [row[1] for row in database.execute("pragma table_info(session)")]
        values = ", ".join("'s' || value" if name == "id" else name for name in columns)
        database.execute(_many(values))
    found = stored_sessions(APP, agents=["opencode"], home=home, environment={})
    assert len(found) == 1000
    assert_within(2, lambda: stored_sessions(APP, agents=["opencode"], home=home, environment={}))


def _many(values: str) -> str:
    numbers = "with recursive n(value) as (select 1 union all select value + 1 from n where value < 999)"
    return f"insert into session {numbers} select {values} from session, n"


def test_a_thousand_session_files_within_two_seconds(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-app"
    folder.mkdir(parents=True)
    line: dict[str, Any] = {"type": "user", "cwd": "/app", "timestamp": "2026-01-01T00:00:00Z", "message": {}}
    for number in range(1000):
        (folder / f"{number}.jsonl").write_text(json.dumps(line | {"sessionId": str(number)}) + "\n" + "x" * 20_000)
    assert len(stored_sessions(APP, home=tmp_path, environment={})) == 1000
    assert_within(2, lambda: stored_sessions(APP, home=tmp_path, environment={}))
