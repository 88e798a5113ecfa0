"""Sessions that wait to be distilled: one file each, written whole, removed when the result is there."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from dense.integrations.state import project_key, read_json, state_folder, write_json

QUEUE, FAILED, PROJECTS = "queue", "failed", "projects"
LESSONS = "lessons.txt"
"""The lessons that hold in a project, a line each: in its folder."""


def plain_name(session: str) -> str:
    """A session's ID as a file name."""
    return re.sub(r"[^\w-]+", "-", session, flags=re.ASCII).strip("-")[:80] or "session"


def enqueue(item: dict[str, Any]) -> Path:
    """Store a session for the worker; a second one of the same session replaces the first."""
    path = state_folder() / QUEUE / f"{plain_name(str(item['session_id']))}.json"
    write_json(path, {**item, "queued": time.time()})
    return path


def pending() -> list[Path]:
    """The waiting sessions, oldest first."""
    return sorted((state_folder() / QUEUE).glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name))


def is_waiting(folder: str) -> bool:
    """Whether a session of this project waits."""
    key = project_key(folder)
    return any(project_key(str(read_json(path).get("cwd") or "/")) == key for path in pending())


def project_folder(folder: str) -> Path:
    """Where the results of a project are."""
    return state_folder() / PROJECTS / project_key(folder)
