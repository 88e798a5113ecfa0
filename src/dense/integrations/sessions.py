"""The sessions of a project: the newest one, and a list with state and first open issue from a small index.

The index is a file in the state folder. A session that has not changed since it was distilled is not read again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from dense.errors import DenseError
from dense.integrations.state import project_root, read_json, state_folder, write_atomically
from dense.readers import StoredSession, UnreadFile, read_session, stored_sessions
from dense.readers.folders.stores import STORES
from dense.redact import MAX_LABEL_CHARS, clean_line
from dense.service import distill_sync
from dense.service.turns import TurnChoice, select_turn
from dense.text.clip import clip_end
from dense.text.terminal import plain_line
from dense.trajectory import Trajectory
from dense.tree import open_issues
from dense.version import __version__

INDEX = "index.json"
MAX_INDEXED = 5_000
MAX_TASK_CHARS = 1_000


class SessionSummary(Struct, frozen=True):
    """One session in the list."""

    session: StoredSession
    state: str
    """The state of its last request; `unread` if it cannot be read."""
    issue: str
    """Its first open issue, or why it cannot be read."""
    task: str
    """What was asked last."""


def project_sessions(folder: Path, agent: str | None = None) -> list[StoredSession]:
    """The sessions of a folder, or of the repository that it is in; newest first."""
    agents = [agent] if agent else None
    try:
        here = stored_sessions(folder, agents=agents)
        root = project_root(str(folder))
        sessions = here if root == folder.resolve() else [*here, *stored_sessions(root, agents=agents)]
    except KeyError:
        raise DenseError(f"--agent {agent}: no store is known; known are {', '.join(STORES)}") from None
    unique = {(session.agent, session.id, session.path): session for session in sessions}
    return sorted(unique.values(), key=lambda session: (-session.changed, session.agent, session.id))


def last_session(folder: Path, agent: str | None = None) -> StoredSession:
    """The newest session of a project."""
    sessions = project_sessions(folder, agent)
    if not sessions:
        whose = f"{agent} session" if agent else "session of a coding agent"
        raise DenseError(f"no {whose} is stored for {folder}: name a trace with `dense distill PATH`")
    return sessions[0]


def session_trajectory(session: StoredSession, turn: TurnChoice = "last") -> Trajectory:
    """The trajectory of a stored session: of its last request, of one of them, or of all."""
    problem = f"{session.path}: no trajectory in it"
    for item in read_session(session):
        if isinstance(item, UnreadFile):
            problem = item.reason
            continue
        trajectory = item.collect()
        if trajectory.id == session.id or not session.is_in_database:
            return select_turn(trajectory, turn)
    raise DenseError(problem)


def summaries(sessions: Iterable[StoredSession]) -> list[SessionSummary]:
    """State and first open issue of each session, from the index where it is up to date."""
    path = state_folder() / INDEX
    index = read_json(path)
    known: dict[str, Any] = index if index.get("version") == __version__ else {"version": __version__}
    results: list[SessionSummary] = []
    is_new = False
    for session in sessions:
        key = clean_line(f"{session.agent} {session.id} {session.path}")
        entry = cast("list[Any]", known.get(key) or [None])
        if entry[0] != session.changed:
            entry, is_new = [session.changed, *_distilled(session)], True
            known[key] = entry
        results.append(SessionSummary(_shown(session), *map(str, entry[1:4])))
    if is_new:
        kept = dict([*known.items()][-MAX_INDEXED:]) | {"version": __version__}
        write_atomically(path, json.dumps(kept))
    return results


def _shown(session: StoredSession) -> StoredSession:
    """The session as a list may name it."""
    return replace(session, id=clean_line(session.id, MAX_LABEL_CHARS), path=Path(clean_line(str(session.path))))


def _distilled(session: StoredSession) -> tuple[str, str, str]:
    try:
        trajectory = session_trajectory(session)
        done = distill_sync(trajectory, environment="same")
    except DenseError as error:
        return "unread", clean_line(str(error)), ""
    tree, task = done.reconciled, done.assessment.trajectory.task
    issue = next((issue.text for issue in open_issues(tree)), "")
    state = tree.root.verdict.state if tree.root.verdict is not None else "unknown"
    return state, issue, clip_end(plain_line(" ".join((task.instruction if task else "").split())), MAX_TASK_CHARS)
