"""From a path to the files that hold traces.

A folder is walked once, links included, loops cut. Some folders are one thing: a trial, the events of an OpenHands
conversation, the episodes of Terminus. Some files belong to another and are read with it: sub-agents of a Claude Code
session, sessions that another one goes on from, continuations of an ATIF trajectory. What is not listed is counted
(`Skipped`)."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dense.errors import NoTrajectory
from dense.readers.detect import is_recognised
from dense.readers.files import EventFolder, TraceFile, first_value, printable_path
from dense.readers.folders.continuations import HistoryBase, continued_sessions, forks_below, is_rollout
from dense.readers.folders.harbor import is_harbor_trial, is_terminal_bench_trial
from dense.readers.folders.record_folders import record_folder, session_of
from dense.readers.folders.skipped import Skipped
from dense.readers.formats.codex.reader import parent_of
from dense.readers.json_value import obj
from dense.readers.notices import Notices

PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv"})
OUTPUT_FOLDERS = frozenset({"tool-results", "tool-outputs"})
"""Outputs that were too long for a session; they are read with it."""
ATIF_PART = re.compile(r"trajectory\.(?:cont-\d+|summarization-.+)\.json")
OPENCLAW_CHECKPOINT = re.compile(r"(?P<session>.+)\.checkpoint\..+\.jsonl")
KIMI_WIRE, KIMI_CONTEXT = "wire.jsonl", re.compile(r"context(?:_\d+)?\.jsonl")
GRADING = frozenset({"verifier", "tests", "solution"})
"""Folders of a trial, and files, that hold nothing of the agent's."""

type Traces = Iterator[TraceFile | EventFolder]


def traces(path: Path, *, strict: bool = False, skipped: Skipped | None = None) -> Traces:
    """The files below a path that may hold traces, in the order of their names. `skipped` counts all others."""
    name = printable_path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise NoTrajectory(f"{name}: no such file or folder") from None
    except OSError as error:
        raise NoTrajectory(f"{name}: cannot be read ({error.strerror})") from None
    if stat.S_ISDIR(mode):
        yield from _Walk(strict, Skipped() if skipped is None else skipped).folder(path)
    elif stat.S_ISREG(mode):
        yield session_of(path) or TraceFile(path, name, Notices(strict))
    else:
        raise NoTrajectory(f"{name}: neither a file nor a folder")


@dataclass
class _Walk:
    """One walk: what was met already, and what was passed over."""

    strict: bool
    skipped: Skipped
    visited: set[Path] = field(default_factory=set[Path])
    forks: dict[Path, list[HistoryBase]] = field(default_factory=dict[Path, list[HistoryBase]])
    """Of each folder of rollouts, by the highest one around it that is searched: a year has a folder for each day."""

    def folder(self, folder: Path) -> Traces:
        try:
            real = folder.resolve()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            yield self.file(folder)  # which says why when it is opened
            return
        if real in self.visited:
            self.skipped.add("link", folder)
            return
        self.visited.add(real)
        if (records := record_folder(folder, [entry.name for entry in entries])) is not None:
            for subfolder in records.folders:
                subfolder.notices.strict = self.strict
                yield subfolder
            entries = [entry for entry in entries if not records.holds(entry.name)]
        if is_harbor_trial(folder) or is_terminal_bench_trial(folder):
            yield from self.trial(folder)
            return
        names = {entry.name for entry in entries}
        continued = continued_sessions(folder, names, self.forks_around(real) if any(map(is_rollout, names)) else ())
        for entry in entries:
            if entry.name in continued:
                self.skipped.add("part", Path(entry.path))
            else:
                yield from self.entry(entry, names)

    def forks_around(self, folder: Path) -> list[HistoryBase]:
        """From where rollouts go on, in this folder and in those of other days that are searched as well."""
        top = next((above for above in (*folder.parents[2::-1], folder) if above in self.visited), folder)
        if top not in self.forks:
            self.forks[top] = forks_below(top)
        return self.forks[top]

    def entry(self, entry: os.DirEntry[str], names: set[str]) -> Traces:
        path = Path(entry.path)
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:  # a link to itself
            is_folder = is_file = False
        if is_folder and entry.name in PASSED_OVER:
            self.skipped.add("unsearched", path)
        elif is_folder and (entry.name in OUTPUT_FOLDERS or _has_subagents(path, names)):
            self.skipped.add("part", path, _count_files(path))
        elif is_folder:
            yield from self.folder(path)
        elif not is_file:
            self.skipped.add("broken", path)
        elif _belongs_to_another(path, names):
            self.skipped.add("part", path)
        elif self.is_first(path):
            yield self.file(path)

    def file(self, path: Path) -> TraceFile:
        return TraceFile(path, printable_path(path), Notices(self.strict))

    def is_first(self, path: Path) -> bool:
        """Whether the path was not met before, under whichever name."""
        real = path.resolve()
        if real in self.visited:
            self.skipped.add("link", path)
            return False
        self.visited.add(real)
        return True

    def trial(self, folder: Path) -> Traces:
        """The one attempt of a trial: the trajectory that Harbor wrote, else the first place that holds a trace.

        Some agents leave their trajectory among the artifacts; a run that was killed leaves the sessions of its own
        program, and the log beside them repeats them. The verifier's folder is never one of the places."""
        trajectory = folder / "agent" / "trajectory.json"
        if _is_whole(trajectory):
            if self.is_first(trajectory):
                yield self.file(trajectory)
                self.skipped.add("trial", folder, _count_files(folder) - 1)
            return
        left: list[TraceFile | EventFolder] = []
        for subfolder in _trace_folders(folder):
            # An own look at each place: what is in a later one must not count as met.
            files = list(_Walk(self.strict, Skipped(), set(self.visited)).folder(subfolder))
            files = [file for file in files if file.path.stem not in GRADING]
            if any(map(is_recognised, files)):
                named = [file for file in files if file.path.name == trajectory.name]
                taken = files if subfolder == trajectory.parent else named or files
                self.visited.update(file.path.resolve() for file in taken)
                yield from taken
                self.skipped.add("trial", folder, _count_files(folder) - len(taken))
                return
            left += [file for file in files if file.path not in {other.path for other in left}]
        for file in left:
            if self.is_first(file.path):
                yield file
        self.skipped.add("trial", folder, _count_files(folder) - len(left))


def _trace_folders(trial: Path) -> list[Path]:
    """Where the trace of a trial may be, the likeliest first."""
    own = [trial / "agent" / "sessions", trial / "artifacts" / "agent", trial / "agent", trial / "artifacts"]
    try:
        others = sorted(path for path in trial.iterdir() if path.is_dir() and path.name not in GRADING)
    except OSError:
        others = []
    return [path for path in dict.fromkeys([*own, *others]) if path.is_dir()]


def _count_files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


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
    Kimi CLI: `subagents`, `wire.jsonl`."""
    if folder.name == "subagents":
        return KIMI_WIRE in names or folder.parent.with_name(f"{folder.parent.name}.jsonl").is_file()
    start = folder.name[:8]
    return len(start) == 8 and any(name.startswith("session-") and name.endswith(f"-{start}.jsonl") for name in names)


def _belongs_to_another(path: Path, names: set[str]) -> bool:
    """Whether the file is part of another: of an ATIF trajectory, or a checkpoint or sub-agent of a session beside
    it."""
    if path.name == "base_state.json":
        return "events" in names
    if ATIF_PART.fullmatch(path.name):
        return _is_whole(path.with_name("trajectory.json"))
    if KIMI_CONTEXT.fullmatch(path.name):
        return KIMI_WIRE in names
    if checkpoint := OPENCLAW_CHECKPOINT.fullmatch(path.name):
        return f"{checkpoint['session']}.jsonl" in names
    if path.name.startswith("rollout-"):
        parent = parent_of(path)
        return parent is not None and any(f"{parent[0]}.jsonl" in name for name in names)
    if path.name.startswith("agent-") and path.suffix == ".jsonl":
        return f"{obj(first_value(path)).get('sessionId')}.jsonl" in names
    return False
