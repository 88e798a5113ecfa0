"""Folders whose files together are one trace: how each kind is known, and how its records are made.

- OpenHands: `event-00000-<id>.json`, a file for each event.
- Terminus: `episode-0/`, `episode-1/`, … with `prompt.txt` and `response.txt` or `.json`, a folder for each answer of
  the model. Without this, each `debug.json` would be a trajectory of one step.
- opencode, older: `storage/session/<project>/<id>.json`, `storage/message/<session>/`, `storage/part/<message>/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dense.readers.files import EventFolder, TraceRecord, printable_path
from dense.readers.notices import Notices
from dense.trajectory import Source

EVENT_FILE = re.compile(r"event-\d+-[\w-]+\.json")
EPISODE = re.compile(r"episode-(\d+)")
OPENCODE_FOLDERS = frozenset({"session", "message", "part"})
MAX_TEXT_BYTES = 1 << 26
"""A longer prompt or answer is cut."""


@dataclass(frozen=True)
class RecordFolders:
    """The traces that a folder's entries form together, and which entries these are."""

    folders: list[EventFolder]
    holds: Callable[[str], bool]


def record_folder(folder: Path, names: Sequence[str]) -> RecordFolders | None:
    """The traces that files of this folder form together; None if they do not."""
    if any(map(EVENT_FILE.fullmatch, names)):
        return RecordFolders([_of(folder)], lambda name: bool(EVENT_FILE.fullmatch(name)) or name[:9] == ".eventlog")
    if any(map(EPISODE.fullmatch, names)) and any(_answer(folder / name) for name in names if EPISODE.fullmatch(name)):
        return RecordFolders([_of(folder, episodes)], lambda name: EPISODE.fullmatch(name) is not None)
    if set(names) >= OPENCODE_FOLDERS:
        sessions = sorted((folder / "session").glob("*/*.json"))
        return RecordFolders([_of(path, opencode_session) for path in sessions], lambda _: True) if sessions else None
    return None


def session_of(path: Path) -> EventFolder | None:
    """The session that a file of opencode's older store names; None for any other file."""
    is_named = path.suffix == ".json" and path.parent.parent.name == "session"
    return _of(path, opencode_session) if is_named and (path.parents[2] / "message" / path.stem).is_dir() else None


def _of(folder: Path, load: Callable[[EventFolder], Iterator[TraceRecord]] | None = None) -> EventFolder:
    return EventFolder(folder, printable_path(folder), Notices(), load)


def episodes(folder: EventFolder) -> Iterator[TraceRecord]:
    """A record for each episode: what the model was sent, and what it answered."""
    numbered = [(int(number[1]), path) for path in folder.path.iterdir() if (number := EPISODE.fullmatch(path.name))]
    for number, path in sorted(numbered):
        source = Source(f"{folder.name}/{path.name}", index=number)
        answer = _answer(path)
        value = {"episode": number, "prompt": _text(path / "prompt.txt"), "response": _text(answer) if answer else None}
        if value["prompt"] is None and value["response"] is None:
            folder.notices.skip("episode without a prompt and an answer", source)
        else:
            yield TraceRecord(value, source)


def opencode_session(folder: EventFolder) -> Iterator[TraceRecord]:
    """A session with its messages and their parts, as `opencode export` prints it. The path is the session's own
    file."""
    storage = folder.path.parents[2]
    info = folder.document(folder.path)
    if info is None:
        return
    messages: list[dict[str, Any]] = []
    for path in sorted((storage / "message" / folder.path.stem).glob("*.json")):
        if (message := folder.document(path)) is not None:
            parts = [folder.document(part) for part in sorted((storage / "part" / path.stem).glob("*.json"))]
            messages.append({"info": message.value, "parts": [part.value for part in parts if part is not None]})
    yield TraceRecord({"info": info.value, "messages": messages}, Source(folder.name))


def _answer(episode: Path) -> Path | None:
    return next((path for name in ("response.txt", "response.json") if (path := episode / name).is_file()), None)


def _text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(MAX_TEXT_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None
