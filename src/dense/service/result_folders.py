"""The folder of many results: a name for each input that stays the same, an index of them, one writer at a time.

    out/
      index.jsonl                                    a line for each input: where it came from, its folder, its state
      count-words--terminus-2--0f3a9c21d4/           the result of one trajectory (`dense.service.files`)

A name is made of the task, the agent and a hash of the input's place: it does not depend on the order of inputs, a
second run over the same input finds it again (by the index, from whichever folder), and no two inputs share it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from dense.errors import OutputInUse
from dense.redact import clean_line
from dense.service.private_files import FILE_MODE, make_folder, write_files
from dense.stored import decode_stored
from dense.trajectory import Trajectory

INDEX, LOCK = "index.jsonl", ".lock"
MAX_LABEL = 40
MAX_AGENT = 20
LABEL_WORDS = 6
"""So many words of a task without a name make its label."""
ID_DIGITS = 10
HASH = re.compile(r"[0-9a-f-]{16,}")
"""A task's name that tells a person nothing."""


class IndexRow(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="dense.index/1"):
    """One input and its result: a line of `index.jsonl`."""

    input: str
    """Where the trace was read."""
    folder: str
    """The name of its folder beside the index; empty if it was not written."""
    state: str
    """The method's verdict in a word, else the method's name; `failed` if there is no feedback."""
    first_issue: str = ""
    """The first open issue, in words; of a failed run, why it failed."""
    trajectory: str = ""
    """The trajectory's ID."""
    format: str = ""
    """Its format."""
    agent: str = ""
    """Who acted."""
    path: str = ""
    """The absolute path of the trace; empty for what came through a pipe."""
    part: str = ""
    """What part of it."""


def index_key(trajectory: Trajectory) -> tuple[str, str, str]:
    """Where a trace is, which part of it, and the trajectory's ID, as the index has them."""
    source = trajectory.source
    return clean_line(os.path.realpath(source.path)), clean_line(source.part or ""), clean_line(trajectory.id)


def folder_name(trajectory: Trajectory, *, is_piped: bool = False, is_absolute: bool = False) -> str:
    """The name of a trajectory's folder, by the place of its trace below the current folder, or by its absolute place.
    What came through a pipe has no place: it is known by its content."""
    label = _label(trajectory)
    agent = _slug(clean_line(trajectory.agent or trajectory.format), MAX_AGENT)
    path = label if is_piped else os.path.realpath(trajectory.source.path)
    if not is_absolute and path.startswith(f"{os.path.realpath('.')}{os.sep}"):
        path = os.path.relpath(path, os.path.realpath("."))
    identity = "\0".join((path, trajectory.source.part or "", trajectory.id))
    digest = hashlib.sha256(identity.encode("utf-8", errors="replace")).hexdigest()[:ID_DIGITS]
    return "--".join(part for part in (label, agent, digest) if part)


def _label(trajectory: Trajectory) -> str:
    task = trajectory.task
    if task is not None and task.name and not HASH.fullmatch(task.name):
        return _slug(clean_line(task.name), MAX_LABEL)
    if task is not None:
        words = clean_line(task.instruction).split()[:LABEL_WORDS]
        if label := _slug(" ".join(words), MAX_LABEL):
            return label
    return _slug(clean_line(Path(trajectory.source.path).stem), MAX_LABEL)


def _slug(text: str, limit: int) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:limit].strip("-")


class ResultFolders:
    """The output folder of one run, locked against others while it is open."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self._lock: int | None = None
        self._known: dict[tuple[str, str, str], str] = {}
        self._taken: dict[str, tuple[str, str, str]] = {}

    def name(self, trajectory: Trajectory, *, is_piped: bool = False) -> str:
        """The folder of a trajectory: the one that the index has for it, else a new one that no other input has."""
        if is_piped:
            return folder_name(trajectory, is_piped=True)
        key = index_key(trajectory)
        if key not in self._known:
            name = folder_name(trajectory)
            if self._taken.get(name, key) != key:
                name = folder_name(trajectory, is_absolute=True)
            self._known[key], self._taken[name] = name, key
        return self._known[key]

    def __enter__(self) -> Self:
        make_folder(self.out)
        self._lock = os.open(self.out / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._lock, 500).decode(errors="replace").strip() or "another process"
            os.close(self._lock)
            self._lock = None
            raise OutputInUse(
                f"{self.out}: {holder} writes to this folder; wait until it has ended, or choose another folder"
            ) from None
        for row in read_index(self.out):
            key = (row.path, row.part, row.trajectory)
            if row.path and row.folder:
                self._known[key], self._taken[row.folder] = row.folder, key
        command = shlex.join(["dense", *sys.argv[1:]])[:300]
        os.ftruncate(self._lock, 0)
        holder = f"process {os.getpid()} ({command}, since {datetime.now(UTC):%H:%M} UTC)"
        os.pwrite(self._lock, holder.encode("utf-8", "replace"), 0)
        return self

    def __exit__(self, *error: object) -> None:
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def update_index(self, rows: list[IndexRow]) -> None:
        """Put the results of this run into the index; those of other inputs stay."""
        known = {row.folder or row.input: row for row in read_index(self.out)}
        known |= {row.folder or row.input: row for row in rows}
        ordered = sorted(known.values(), key=lambda row: (row.folder, row.input))
        write_files(self.out, {INDEX: b"".join(msgspec.json.encode(row) + b"\n" for row in ordered)})


def read_index(out: Path) -> list[IndexRow]:
    """The rows of an output folder's index; a damaged line is left out, one of another version an error."""
    try:
        lines = (out / INDEX).read_bytes().splitlines()
    except OSError:
        return []
    rows: list[IndexRow] = []
    for line in lines:
        try:
            rows.append(decode_stored(line, IndexRow, out / INDEX, "choose another folder"))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return rows
