"""From a path to the files that hold traces.

A folder is walked once, links included, loops cut. Some folders are one thing: a Harbor trial, the events of an
OpenHands conversation. Some files belong to another and are read with it: sub-agents of a Claude Code session,
continuations of an ATIF trajectory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from dense.errors import NoTrajectory
from dense.readers.files import EventFolder, TraceFile, first_value
from dense.readers.formats.codex import parent_of
from dense.readers.json_value import obj
from dense.readers.notices import Notices

PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", "tool-results"})
ATIF_PART = re.compile(r"trajectory\.(?:cont-\d+|summarization-.+)\.json")
EVENT_FILE = re.compile(r"event-\d+.*\.json")
OPENCLAW_CHECKPOINT = re.compile(r"(?P<session>.+)\.checkpoint\..+\.jsonl")


def traces(path: Path, *, strict: bool = False) -> Iterator[TraceFile | EventFolder]:
    """The files below a path that may hold traces, in the order of their names."""
    if not path.exists():
        raise NoTrajectory(f"{path}: no such file or folder")
    if path.is_dir():
        yield from _walk(path, strict, set())
    elif path.is_file():
        yield TraceFile(path, str(path), Notices(strict))
    else:
        raise NoTrajectory(f"{path}: neither a file nor a folder")


def _walk(folder: Path, strict: bool, seen: set[Path]) -> Iterator[TraceFile | EventFolder]:
    try:
        real = folder.resolve()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    if real in seen:
        return
    seen.add(real)
    names = {entry.name for entry in entries}
    if events := _event_folder(folder, names):
        if events == folder or _first(events, seen):
            yield EventFolder(events, str(events), Notices(strict))
        return
    if is_harbor_trial(folder):
        yield from _trial(folder, strict, seen)
        return
    for entry in entries:
        path = Path(entry.path)
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:  # a link to itself
            continue
        if is_folder:
            if entry.name not in PASSED_OVER and not _has_subagents(path, names):
                yield from _walk(path, strict, seen)
        elif is_file and not _belongs_to_another(path, names) and _first(path, seen):
            yield TraceFile(path, str(path), Notices(strict))


def _first(path: Path, seen: set[Path]) -> bool:
    """Whether the path was not met before, under whichever name."""
    real = path.resolve()
    if real in seen:
        return False
    seen.add(real)
    return True


def is_harbor_trial(folder: Path) -> bool:
    """Whether this is the folder of one Harbor trial."""
    has_parts = (folder / "agent").is_dir() or (folder / "verifier").is_dir()
    return has_parts and ((folder / "config.json").is_file() or (folder / "result.json").is_file())


def _trial(folder: Path, strict: bool, seen: set[Path]) -> Iterator[TraceFile | EventFolder]:
    """The trial's trajectory; only where Harbor wrote none, what the agent's own program left.

    Its sessions first: the log beside them tells the same again."""
    agent = folder / "agent"
    trajectory = agent / "trajectory.json"
    if trajectory.is_file() and trajectory.stat().st_size:
        if _first(trajectory, seen):
            yield TraceFile(trajectory, str(trajectory), Notices(strict))
        return
    own = list(_walk(agent / "sessions", strict, seen))
    yield from own or _walk(agent, strict, seen)


def _event_folder(folder: Path, names: set[str]) -> Path | None:
    """The folder with the event files, if this folder is one OpenHands conversation or its events."""
    if any(map(EVENT_FILE.fullmatch, names)):
        return folder
    events = folder / "events"
    if {"events", "base_state.json"} <= names and any(events.glob("event-*.json")):
        return events
    return None


def _has_subagents(folder: Path, names: set[str]) -> bool:
    """Whether the folder holds the sub-agents of a session that is there to be read with them.

    Claude Code: `<session>/subagents`, `<session>.jsonl`. Gemini CLI: `<session>`, `session-<time>-<its start>.jsonl`.
    """
    if folder.name == "subagents":
        return folder.parent.with_name(f"{folder.parent.name}.jsonl").is_file()
    start = folder.name[:8]
    return len(start) == 8 and any(name.startswith("session-") and name.endswith(f"-{start}.jsonl") for name in names)


def _belongs_to_another(path: Path, names: set[str]) -> bool:
    """Whether the file is part of another: of an ATIF trajectory, or a checkpoint or sub-agent of a session beside
    it."""
    if ATIF_PART.fullmatch(path.name):
        return "trajectory.json" in names
    if checkpoint := OPENCLAW_CHECKPOINT.fullmatch(path.name):
        return f"{checkpoint['session']}.jsonl" in names
    if path.name.startswith("rollout-"):
        parent = parent_of(path)
        return parent is not None and any(f"{parent[0]}.jsonl" in name for name in names)
    if path.name.startswith("agent-") and path.suffix == ".jsonl":
        return f"{obj(first_value(path)).get('sessionId')}.jsonl" in names
    return False
