"""From a path to the files that hold traces.

A folder is walked once, links included, loops cut. Some folders are one thing: a Harbor trial, the events of an
OpenHands conversation. Some files belong to another and are read with it: sub-agents of a Claude Code session,
continuations of an ATIF trajectory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.files import EventFolder, TraceFile, first_value, printable_path
from dense.readers.formats.codex.reader import parent_of
from dense.readers.json_value import obj
from dense.readers.notices import Notices

PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", "tool-results"})
ATIF_PART = re.compile(r"trajectory\.(?:cont-\d+|summarization-.+)\.json")
EVENT_FILE = re.compile(r"event-\d+-[\w-]+\.json")
OPENCLAW_CHECKPOINT = re.compile(r"(?P<session>.+)\.checkpoint\..+\.jsonl")


def traces(path: Path, *, strict: bool = False) -> Iterator[TraceFile | EventFolder]:
    """The files below a path that may hold traces, in the order of their names."""
    name = printable_path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise NoTrajectory(f"{name}: no such file or folder") from None
    except OSError as error:
        raise NoTrajectory(f"{name}: cannot be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        yield from _walk(path, strict, set())
    elif stat.S_ISREG(mode):
        yield TraceFile(path, name, Notices(strict))
    else:
        raise NoTrajectory(f"{name}: neither a file nor a folder")


def _walk(folder: Path, strict: bool, seen: set[Path]) -> Iterator[TraceFile | EventFolder]:
    try:
        real = folder.resolve()
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        yield TraceFile(folder, printable_path(folder), Notices(strict))  # which says why when it is opened
        return
    if real in seen:
        return
    seen.add(real)
    names = {entry.name for entry in entries}
    if any(map(EVENT_FILE.fullmatch, names)):
        yield EventFolder(folder, printable_path(folder), Notices(strict))
        entries = [e for e in entries if not EVENT_FILE.fullmatch(e.name) and not e.name.startswith(".eventlog")]
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
            yield TraceFile(path, printable_path(path), Notices(strict))


def _first(path: Path, seen: set[Path]) -> bool:
    """Whether the path was not met before, under whichever name."""
    real = path.resolve()
    if real in seen:
        return False
    seen.add(real)
    return True


def is_harbor_trial(folder: Path) -> bool:
    """Whether this is the folder of one Harbor trial: by its parts, and by what its own files say."""
    try:
        if not ((folder / "agent").is_dir() or (folder / "verifier").is_dir()):
            return False
        return any("trial_name" in obj(_value(folder / name)) for name in ("config.json", "result.json"))
    except OSError:
        return False


def _value(path: Path) -> Any:
    """A small JSON file, None where there is none."""
    try:
        return TraceFile(path, path.name).document().value if path.is_file() else None
    except NoTrajectory:
        return None


def _trial(folder: Path, strict: bool, seen: set[Path]) -> Iterator[TraceFile | EventFolder]:
    """The trial's trajectory; only where Harbor wrote none, what the agent's own program left.

    Its sessions first: the log beside them repeats them."""
    agent = folder / "agent"
    trajectory = agent / "trajectory.json"
    own: list[TraceFile | EventFolder] = []
    if agent.is_dir() and not _is_whole(trajectory):
        sessions = list(_walk(agent / "sessions", strict, seen)) if (agent / "sessions").is_dir() else []
        own = sessions or list(_walk(agent, strict, seen))
    if own:
        yield from own
    elif trajectory.is_file() and _first(trajectory, seen):
        yield TraceFile(trajectory, printable_path(trajectory), Notices(strict))


def _is_whole(trajectory: Path) -> bool:
    """Whether a trajectory was written to its end: a run that was killed leaves an empty file or half of one."""
    try:
        with trajectory.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 64))
            return file.read().rstrip().endswith(b"}")
    except OSError:
        return False


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
    if path.name == "base_state.json":
        return "events" in names
    if ATIF_PART.fullmatch(path.name):
        return _is_whole(path.with_name("trajectory.json"))
    if checkpoint := OPENCLAW_CHECKPOINT.fullmatch(path.name):
        return f"{checkpoint['session']}.jsonl" in names
    if path.name.startswith("rollout-"):
        parent = parent_of(path)
        return parent is not None and any(f"{parent[0]}.jsonl" in name for name in names)
    if path.name.startswith("agent-") and path.suffix == ".jsonl":
        return f"{obj(first_value(path)).get('sessionId')}.jsonl" in names
    return False
