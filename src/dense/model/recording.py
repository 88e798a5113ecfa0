"""Runs on record: every answer in a file of JSON lines, to be given again without a provider.

A line is `{"request": HASH, "label": …, "reply": {…}}`. The hash is of the question alone: a run that was recorded with
one provider replays under any name."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dense.errors import ModelError, NotRecorded
from dense.model.chat import ChatModel, ChatReply, ChatRequest


class RecordedReply(Struct, frozen=True):
    """One answer on record."""

    request: str
    """The question's hash."""
    label: str
    """What asked."""
    reply: ChatReply
    """The answer."""


class RecordingModel:
    """Writes down every answer, as it comes. Each line is written whole or, by a crash, cut: then it does not count."""

    def __init__(self, inner: ChatModel, path: Path) -> None:
        self._inner = inner
        self._path = path
        self._written: set[str] = set(_lines(path)) if path.exists() else set()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, and writes the answer down unless it is there."""
        reply = await self._inner.complete(request)
        if request.digest not in self._written:
            self._written.add(request.digest)
            line = msgspec.json.encode(RecordedReply(request.digest, request.label, replace(reply, is_cached=False)))
            with self._path.open("ab") as file:
                # After a crash the last line may have no end.
                file.write(b"\n" * _is_cut(self._path) + line + b"\n")
        return reply


class ReplayModel:
    """Answers from a record, and from nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies = _lines(path)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers what was answered when the record was made."""
        reply = self._replies.get(request.digest)
        if reply is None:
            raise NotRecorded(
                f"{self._path}: no answer to {request.label or 'this question'} ({request.digest[:12]}) on record; "
                "prompts or settings have changed since: record it again with --record"
            )
        return replace(reply, is_cached=True)


def _is_cut(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return False
        file.seek(-1, 2)
        return file.read(1) != b"\n"


def _lines(path: Path) -> dict[str, ChatReply]:
    """The answers of a record, the first to each question. Lines that a crash cut are passed over."""
    replies: dict[str, ChatReply] = {}
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from error
    for number, text in enumerate(content.split(b"\n"), 1):
        try:
            line = msgspec.json.decode(text, type=RecordedReply) if text.strip() else None
        except msgspec.MsgspecError as error:
            if number == 1:
                raise ModelError(f"{path}: no record of a run ({error})") from error
            continue
        if line is not None:
            replies.setdefault(line.request, line.reply)
    return replies
