"""Sessions that started and have not ended. An agent that was killed reports no end: the next session finds it here."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from dense.integrations.queue import plain_name
from dense.integrations.state import now, project_key, read_json, state_folder, write_json
from dense.readers.json_value import seq

RUNNING = "running"
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "env", "dense-hook"})
"""Programs that only start the hook: the agent is above them."""
MAX_UNKNOWN_SECONDS = 86_400
"""After this time a session counts as ended if its process cannot be looked up (no `/proc`)."""


def note_start(item: dict[str, Any]) -> None:
    """Remember that a session runs, and the process of its agent."""
    write_json(_path(str(item["session_id"])), {**item, "process": _agent_process(), "started": time.time()})


def note_end(session: str) -> float:
    """Forget a session whose end was reported; gives when it started, 0 if that is not known."""
    started = float(read_json(_path(session)).get("started") or 0)
    _path(session).unlink(missing_ok=True)
    return started


def take_abandoned(folder: str) -> list[dict[str, Any]]:
    """The project's sessions whose agent is gone without a report of their end; each is given once."""
    abandoned: list[dict[str, Any]] = []
    for path in sorted((state_folder() / RUNNING).glob("*.json")):
        item = read_json(path)
        if project_key(str(item.get("cwd") or "/")) != project_key(folder) or _is_alive(item):
            continue
        try:
            path.unlink()
        except FileNotFoundError:  # another session that starts now has taken it
            continue
        abandoned.append({**item, "ended": now()})
    return abandoned


def _path(session: str) -> Path:
    return state_folder() / RUNNING / f"{plain_name(session)}.json"


def _agent_process() -> list[int]:
    """The number and start time of the first process above the hook that is no shell; empty without `/proc`."""
    number = os.getppid()
    for _ in range(8):
        name, parent, started = _process(number)
        if name not in SHELLS:
            return [number, started] if name else []
        number = parent
    return []


def _is_alive(item: dict[str, Any]) -> bool:
    process = seq(item.get("process"))
    if len(process) == 2:
        return _process(int(process[0]))[2] == process[1]
    return time.time() - float(item.get("started") or 0) < MAX_UNKNOWN_SECONDS


def _process(number: int) -> tuple[str, int, int]:
    """Name, parent and start time of a process; nothing and zeros if it is gone."""
    try:
        text = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
        name, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        return ("", 0, 0) if fields[0] == "Z" else (name, int(fields[1]), int(fields[19]))
    except (OSError, ValueError, IndexError):
        return "", 0, 0
