"""Sessions that go on in a new file: resumed or forked ones, and those after a compaction.

Claude Code: most versions copy the earlier lines, with their UUIDs, into the new file: then the earlier file is part of
the new one. A file that only refers to its past has, in its first line with a UUID, a parent in another file
(`parentUuid`, or `logicalParentUuid` of a compaction): then the earlier lines are read first.

Codex: the rollout of a fork names the one that it goes on from, and how many of its lines count (`history_base`); older
ones copy them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.files import TraceFile, TraceRecord, first_value
from dense.readers.json_value import first_string, obj, string, whole
from dense.readers.notices import Notices
from dense.trajectory import Source

SESSION = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.jsonl")
"""How the program names the file of a session."""
HEAD_LINES = 60
"""The first line with a UUID is among so many."""
TAIL_BYTES = 1 << 18
MAX_FILES = 50
"""So many files are followed back."""


type HistoryBase = tuple[str, int]
"""The ID of a session that a fork of Codex goes on from, and how many of its lines."""


def continued_sessions(folder: Path, names: Iterable[str], forks: Iterable[HistoryBase] = ()) -> frozenset[str]:
    """The sessions in a folder of which another one there holds everything, or goes on where they end. `forks` says
    from where rollouts of Codex go on, those of other folders among them."""
    names = list(names)
    sessions = [name for name in names if SESSION.fullmatch(name)]
    if len(sessions) < 2:
        rollouts = [name for name in names if is_rollout(name)]
        return frozenset(name for name in rollouts if is_forked(folder / name, forks))
    firsts = {name: _first(folder / name) for name in sessions}
    parents = {parent_of_session(first) for first in firsts.values()} - {None}
    groups: dict[str, list[str]] = {}
    for name, first in firsts.items():
        groups.setdefault(string(first.get("uuid")) or name, []).append(name)
    return frozenset(
        name
        for name, first in firsts.items()
        for alike in (groups[string(first.get("uuid")) or name],)
        if (len(alike) > 1 or parents) and _is_continued(folder / name, alike, parents)
    )


def _is_continued(path: Path, alike: list[str], parents: Collection[str | None]) -> bool:
    last = _last(path)
    if last is None:
        return False
    others = [path.with_name(name) for name in alike if name != path.name]
    # Of two that end alike, the one whose name comes first is read.
    return last in parents or any(
        _holds(other, last) and (path.name > other.name or _last(other) != last) for other in others
    )


def earlier_lines(path: Path, first: dict[str, Any], notices: Notices) -> Iterator[TraceRecord]:
    """The lines of the sessions that this one goes on from, the oldest first, each up to where it was left."""
    chain: list[tuple[Path, str]] = []
    parent = parent_of_session(first)
    while parent is not None and len(chain) < MAX_FILES:
        known = {path, *(other for other, _ in chain)}
        beside = (other for other in sorted(path.parent.glob("*.jsonl")) if other not in known)
        before = next((file for file in beside if SESSION.fullmatch(file.name) and _holds(file, parent)), None)
        if before is None:
            break
        chain.append((before, parent))
        parent = parent_of_session(_first(before))
    for before, until in reversed(chain):
        file = TraceFile(before, str(before), notices)
        for record in file.records():
            yield record
            if obj(record.value).get("uuid") == until:
                break


def parent_of_session(first: dict[str, Any]) -> str | None:
    """The line in another file that a session goes on from, by its own first line."""
    return first_string((first.get("parentUuid"), first.get("logicalParentUuid")))


def _first(path: Path) -> dict[str, Any]:
    """The first line with a UUID."""
    try:
        records = islice(TraceFile(path, path.name).records(), HEAD_LINES)
        return next((line for line in (obj(record.value) for record in records) if "uuid" in line), dict[str, Any]())
    except (NoTrajectory, OSError):
        return {}


def _last(path: Path) -> str | None:
    """The UUID of the last turn."""
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
            lines = file.read().splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        match = re.search(rb'"uuid":\s?"([0-9a-f-]{36})"', line)
        if match and re.search(rb'"type":\s?"(?:user|assistant)"', line):
            return match[1].decode()
    return None


def _holds(path: Path, uuid: str) -> bool:
    """Whether a session has the line of this UUID."""
    mark = re.compile(rb'"uuid":\s?"' + re.escape(uuid.encode()) + b'"')
    try:
        with path.open("rb") as file:
            return any(uuid.encode() in line and mark.search(line) for line in file)
    except OSError:
        return False


def is_rollout(name: str) -> bool:
    """Whether a file is named as Codex names those of its sessions."""
    return name.startswith("rollout-")


def forks_below(folder: Path) -> list[HistoryBase]:
    """From where the rollouts below a folder go on: forks are filed under their own day."""
    firsts = (obj(first_value(path)) for path in sorted(folder.rglob("rollout-*.jsonl*")))
    return [base for first in firsts if (base := history_base(first)) is not None]


def is_forked(path: Path, forks: Iterable[HistoryBase]) -> bool:
    """Whether one of these forks goes on from a rollout's end, so that it holds all of it."""
    return any(f"{name}.jsonl" in path.name and _count_lines(path) <= lines for name, lines in forks)


def history_base(line: dict[str, Any]) -> HistoryBase | None:
    """The ID of the session that a fork of Codex goes on from, and how many of its lines, by the fork's first line."""
    base = obj(obj(line.get("payload")).get("history_base"))
    name, lines = string(base.get("thread_id")), whole(base.get("end_ordinal_exclusive"))
    return (name, lines) if name and lines and re.fullmatch(r"[\w-]{8,64}", name) else None


def earlier_rollout(path: Path, first: dict[str, Any], notices: Notices) -> Iterator[TraceRecord]:
    """The lines that a fork of Codex goes on from, the oldest first. They are in the same folder or in that of another
    day."""
    chain: list[tuple[Path, int]] = []
    base = history_base(first)
    while base is not None and len(chain) < MAX_FILES:
        pattern = f"rollout-*{base[0]}.jsonl*"
        folders = (path.parent.glob(pattern), path.parents[min(2, len(path.parents) - 1)].glob(f"*/*/{pattern}"))
        before = next((file for paths in folders for file in sorted(paths) if file != path), None)
        if before is None or before in {other for other, _ in chain}:
            notices.note("the session that this one goes on from is not there", Source(str(path)))
            break
        chain.append((before, base[1]))
        base = history_base(obj(first_value(before)))
    for before, lines in reversed(chain):
        yield from islice(TraceFile(before, str(before), notices).records(), lines)


def _count_lines(path: Path) -> int:
    try:
        with TraceFile(path, path.name).open() as file:
            return sum(1 for _ in file)
    except (NoTrajectory, OSError):
        return 0
