"""The sessions that programs keep at home: which there are, of which project, from when to when.

For each agent with a known home, its sessions are listed without reading whole files: from names, times and the first
lines, or by one query of its database. `readers.read_session` reads one of them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from msgspec import Struct

from dense.errors import NoTrajectory
from dense.readers.files import TraceFile
from dense.readers.folders.continuations import HistoryBase, continued_sessions, history_base, is_forked
from dense.readers.folders.databases import json_value, open_database
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import first_string, obj, objs, string, timestamp
from dense.text.numbers import whole

HEAD_LINES = 30
"""So many lines are searched for the working folder."""
HEAD_BYTES = 1 << 18


class StoredSession(Struct, frozen=True):
    """One session in a program's store."""

    agent: str
    """The program; also the format of its sessions."""
    path: Path
    """The file, folder or database."""
    id: str
    """The program's own ID of the session."""
    changed: float
    """When it was last changed, in seconds since 1970."""
    project: str | None = None
    """The working folder, where the store says it."""
    started: str | None = None
    """When it began, as ISO 8601."""
    is_in_database: bool = False
    """Whether the path holds other sessions too."""


class _Homes:
    """Where homes are, by the environment."""

    def __init__(self, home: Path | None, environment: Mapping[str, str]) -> None:
        self.home = Path.home() if home is None else home
        self.environment = environment

    def at(self, variable: str, *default: str) -> Path:
        given = self.environment.get(variable)
        return Path(given).expanduser() if given else self.home.joinpath(*default)

    @property
    def data(self) -> Path:
        return self.at("XDG_DATA_HOME", ".local", "share")

    def editor(self, name: str) -> Iterator[Path]:
        """Where an editor of Visual Studio Code's family keeps its users' state: on Linux, macOS, Windows."""
        roots = (
            self.at("XDG_CONFIG_HOME", ".config"),
            self.home / "Library" / "Application Support",
            self.at("APPDATA", "AppData", "Roaming"),
        )
        return (root / name / "User" for root in roots)


type _Store = Callable[[_Homes, Path | None], Iterator[StoredSession]]


def stored_sessions(
    project: Path | None = None,
    *,
    agents: Iterable[str] | None = None,
    home: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> list[StoredSession]:
    """The sessions of all agents, or of these, the last changed first. With a project, only those of its folder.

    A session whose store does not say where it ran is not one of any project. A store that cannot be read has none."""
    folder = None if project is None else project.expanduser().absolute()
    homes = _Homes(home, environment)
    stored: list[StoredSession] = []
    for name in STORES if agents is None else agents:
        try:
            sessions = list(STORES[name](homes, folder))
        except (OSError, ValueError, RecursionError, NoTrajectory):
            continue
        stored += [session for session in sessions if folder is None or _is_same(session.project, folder)]
    return sorted(stored, key=lambda session: (-session.changed, session.agent, session.id))


def _is_same(recorded: str | None, folder: Path) -> bool:
    if recorded is None:
        return False
    return Path(recorded) == folder or os.path.realpath(recorded) == os.path.realpath(folder)


def _dashed(folder: Path) -> str:
    """A working folder as the name of a folder, as Claude Code and its relatives write it."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def _head(path: Path) -> Iterator[dict[str, Any]]:
    """The first records of a file, as far as they are objects; one that was cut off is left out."""
    try:
        with TraceFile(path, path.name).open(1 << 13) as stream:
            size = 0
            for line in islice(stream, HEAD_LINES):
                size += len(line)
                if size > HEAD_BYTES:
                    return
                try:
                    yield obj(decode(line)[0])
                except BadJson:
                    continue
    except (OSError, NoTrajectory):
        return


def _session(
    agent: str,
    path: Path,
    facts: Callable[[dict[str, Any]], tuple[Any, Any, Any]],
    project: str | None = None,
    id: str | None = None,
) -> StoredSession | None:
    """A session in a file. `facts` gives the working folder, the ID and the start that a record states, if it does."""
    try:
        changed = path.stat().st_mtime
    except OSError:
        return None
    started = None
    for record in _head(path):
        folder, name, time = facts(record)
        project, id = project or string(folder), id or string(name)
        started = started or timestamp(time)
        if project and id and started:
            break
    return StoredSession(agent=agent, path=path, id=id or path.stem, changed=changed, project=project, started=started)


def _files(
    agent: str,
    paths: Iterable[Path],
    facts: Callable[[dict[str, Any]], tuple[Any, Any, Any]],
) -> Iterator[StoredSession]:
    for path in paths:
        if (session := _session(agent, path, facts)) is not None:
            yield session


def _lines_with_cwd(record: dict[str, Any]) -> tuple[Any, Any, Any]:
    return record.get("cwd"), record.get("sessionId") or record.get("id"), record.get("timestamp")


def _claude_code(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    root = homes.at("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    for folder in root.glob(_dashed(project) if project else "*"):
        names = [path.name for path in folder.glob("*.jsonl") if not path.name.startswith("agent-")]
        continued = continued_sessions(folder, names)
        yield from _files("claude-code", (folder / name for name in names if name not in continued), _lines_with_cwd)


def _codex(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    del project
    forks: list[HistoryBase] = []

    def facts(record: dict[str, Any]) -> tuple[Any, Any, Any]:
        meta = obj(record.get("payload")) if record.get("type") == "session_meta" else record
        if (base := history_base(record)) is not None:
            forks.append(base)
        is_child = meta.get("parent_thread_id") or obj(obj(meta.get("source")).get("subagent"))
        return None if is_child else meta.get("cwd"), meta.get("id"), meta.get("timestamp")

    root = homes.at("CODEX_HOME", ".codex")
    stored: list[StoredSession] = []
    for folder in ("sessions", "archived_sessions"):
        stored += _files("codex", (root / folder).rglob("rollout-*.jsonl*"), facts)
    return (session for session in stored if not is_forked(session.path, forks))


def _gemini_cli(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    root = homes.home / ".gemini" / "tmp"
    digest = hashlib.sha256(os.fsencode(project or "")).hexdigest()
    for path in root.glob("*/chats/session-*.json*"):
        try:
            folder = (path.parent.parent / ".project_root").read_text(encoding="utf-8").strip() or None
        except (OSError, ValueError):
            folder = None

        def facts(record: dict[str, Any], known: str | None = folder) -> tuple[Any, Any, Any]:
            is_project = project is not None and record.get("projectHash") == digest
            return known or (str(project) if is_project else None), record.get("sessionId"), record.get("startTime")

        yield from _files("gemini-cli", [path], facts)


def _pi(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    del project
    root = homes.at("PI_CODING_AGENT_DIR", ".pi", "agent") / "sessions"
    return _files("pi", root.glob("*/*.jsonl"), _lines_with_cwd)


def _openclaw(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    del project
    paths = (homes.home / ".openclaw" / "agents").glob("*/sessions/*.jsonl")
    return _files("openclaw", (path for path in paths if ".checkpoint." not in path.name), _lines_with_cwd)


def _qwen_code(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    root = homes.home / ".qwen" / "projects"
    return _files("qwen-code", root.glob(f"{_dashed(project) if project else '*'}/chats/*.jsonl"), _lines_with_cwd)


def _copilot_cli(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    del project

    def facts(record: dict[str, Any]) -> tuple[Any, Any, Any]:
        data = obj(record.get("data"))
        return obj(data.get("context")).get("cwd"), data.get("sessionId"), data.get("startTime")

    root = homes.at("COPILOT_HOME", ".copilot") / "session-state"
    return _files("copilot-cli", [*root.glob("*/events.jsonl"), *root.glob("*.jsonl")], facts)


def _droid(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    del project
    root = homes.home / ".factory" / "sessions"
    return _files("droid", root.glob("**/*.jsonl"), _lines_with_cwd)


def _cursor(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    """The conversations in the editor's database; then the transcripts of those that it does not have, which leave the
    results of most calls out. Of a transcript the folder's name is all that says where it ran: the path with dashes."""
    ids: set[str] = set()
    for user in homes.editor("Cursor"):
        for session in _cursor_conversations(user):
            ids.add(session.id)
            yield session
    root = homes.home / ".cursor" / "projects"
    for path in root.glob(f"{_dashed(project).strip('-') if project else '*'}/agent-transcripts/**/*.jsonl"):
        name = str(project) if project else None
        session = _session("cursor", path, _lines_with_cwd, name, path.stem)
        if session is not None and session.id not in ids:
            yield session


def _cursor_conversations(user: Path) -> Iterator[StoredSession]:
    """Conversations of all projects: the list of a workspace (older versions) or of all of them names the folder."""
    path = user / "globalStorage" / "state.vscdb"
    if not path.is_file():
        return
    projects: dict[str, str] = {}
    for listed in sorted(user.glob("workspaceStorage/*/workspace.json")):
        folder = string(_document(listed).get("folder")) or ""
        if folder.startswith("file://"):
            folder_path = url2pathname(urlsplit(folder).path)
            projects |= {
                name: folder_path for name, _ in _composers(listed.with_name("state.vscdb"), "composer.composerData")
            }
    for name, header in _composers(path, "composer.composerHeaders"):
        if folder_path := string(obj(obj(header.get("workspaceIdentifier")).get("uri")).get("fsPath")):
            projects[name] = folder_path
    query = """select substr(key, 14), json_extract(value, '$.createdAt'), json_extract(value, '$.lastUpdatedAt')
        from cursorDiskKV where key >= 'composerData:' and key < 'composerData:~' and json_valid(value)
        and (json_array_length(value, '$.fullConversationHeadersOnly') > 0
             or json_array_length(value, '$.conversation') > 0)"""
    with open_database(path) as database:
        for name, started, changed in database.rows(query):
            project = projects.get(name)
            time = _seconds(changed or started)
            yield StoredSession(
                agent="cursor",
                path=path,
                id=name,
                changed=time,
                project=project,
                started=timestamp(started),
                is_in_database=True,
            )


def _composers(path: Path, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The conversations that a list of the editor names; none if the database has no such list."""
    if not path.is_file():
        return
    try:
        with open_database(path) as database:
            for (value,) in database.rows("select value from ItemTable where key = ?", key):
                for header in objs(obj(json_value(value)).get("allComposers")):
                    yield str(header.get("composerId")), header
    except NoTrajectory:
        return


def _kimi_cli(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    """Sessions lie in a folder that is named by the hash of the working folder."""
    root = homes.at("KIMI_SHARE_DIR", ".kimi") / "sessions"
    hashed = hashlib.md5(os.fsencode(project), usedforsecurity=False).hexdigest() if project else "*"
    for path in root.glob(f"{hashed}/*/wire.jsonl"):
        name = str(project) if project else None
        if session := _session("kimi-cli", path, lambda r: (None, None, r.get("timestamp")), name, path.parent.name):
            yield session


def _opencode(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    query = "select id, directory, time_created, time_updated from session where parent_id is null"
    return _rows("opencode", homes.data / "opencode" / "opencode.db", query, project, "directory")


def _goose(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    query = "select id, working_dir, created_at, updated_at from sessions where 1"
    folder = homes.data / "goose" / "sessions"
    yield from _rows("goose", folder / "sessions.db", query, project, "working_dir")
    yield from _files("goose", folder.glob("*.jsonl"), lambda record: (record.get("working_dir"), None, None))


def _rows(agent: str, path: Path, query: str, project: Path | None, column: str) -> Iterator[StoredSession]:
    if not path.is_file():
        return
    with open_database(path) as database:
        given = {str(project), os.path.realpath(project)} if project is not None else set[str]()
        if given:
            query += f" and {column} in ({', '.join('?' * len(given))})"
        for identity, folder, started, changed in database.rows(query, *given):
            yield StoredSession(
                agent=agent,
                path=path,
                id=str(identity),
                changed=_seconds(changed),
                project=string(folder),
                started=timestamp(started),
                is_in_database=True,
            )


def _seconds(value: Any) -> float:
    try:
        moment = datetime.fromisoformat(timestamp(value) or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _cline(homes: _Homes, project: Path | None) -> Iterator[StoredSession]:
    """The extensions of editors, and the command line of Cline. Only the task's list says where each ran."""
    del project
    roots = [homes.at("CLINE_DIR", ".cline") / "data"]
    for editor in ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"):
        roots += [user / "globalStorage" / name for user in homes.editor(editor) for name in CLINE_EXTENSIONS]
    for root in roots:
        projects = _cline_projects(root)
        for path in root.glob("tasks/*/api_conversation_history.json"):
            name = path.parent.name
            started = timestamp(whole(name))
            yield StoredSession(
                agent="cline",
                path=path,
                id=name,
                changed=path.stat().st_mtime,
                project=projects.get(name),
                started=started,
            )
    for path in roots[0].glob("sessions/*/*.messages.json"):
        facts = _document(path.with_name(f"{path.parent.name}.json"))
        folder, started = string(facts.get("cwd")), timestamp(facts.get("started_at"))
        yield StoredSession(
            agent="cline", path=path, id=path.parent.name, changed=path.stat().st_mtime, project=folder, started=started
        )


def _document(path: Path) -> dict[str, Any]:
    try:
        return obj(TraceFile(path, path.name).document().value)
    except (OSError, NoTrajectory):
        return {}


CLINE_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")


def _cline_projects(root: Path) -> dict[str, str]:
    for name in ("state/taskHistory.json", "taskHistory.json"):
        try:
            listed = TraceFile(root / name, name).document().value
        except (OSError, NoTrajectory):
            continue
        tasks = [obj(task) for task in (listed if isinstance(listed, list) else [])]  # pyright: ignore[reportUnknownVariableType]
        keys = ("cwdOnTaskInitialization", "workspace", "cwd")
        return {str(task.get("id")): cwd for task in tasks if (cwd := first_string(task.get(key) for key in keys))}
    return {}


STORES: dict[str, _Store] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
    "copilot-cli": _copilot_cli,
    "qwen-code": _qwen_code,
    "cursor": _cursor,
    "droid": _droid,
    "cline": _cline,
    "goose": _goose,
    "kimi-cli": _kimi_cli,
    "pi": _pi,
    "openclaw": _openclaw,
}
"""How the sessions of each agent are listed."""
