"""`droid`: sessions of Factory's Droid, `~/.factory/sessions/<folder>/<id>.jsonl`.

A line each: `session_start`, then `message` lines with Anthropic's blocks in `message.content`. Tokens are only in the
session's own file beside it, `<id>.settings.json`, for the whole session.

- Messages that only the model sees (`visibility: llm_only`) are the program's context, not a request.
- The line on how a command ended (`[Process exited with code 0]`, `Error: Command failed (exit code: 1)`) is the
  program's; the exit code is taken out of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.coding_agents.sessions import ChatSession, parts_of
from dense.readers.json_value import obj, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source, Usage

SILENT = frozenset(
    "session_end todo_state compaction_state agent_turn_outcome session_settings session_title hook_event".split()
)
FAILED = re.compile(r"\AError: Command failed \(exit code: (-?\d{1,9})\)\n?")
EXITED = re.compile(r"\n{0,3}\[Process exited with code (-?\d{1,9})\]\s*\Z")


class Droid:
    name = "droid"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(
            line.get("type") == "session_start"
            and "id" in line
            and not line.keys().isdisjoint(("owner", "title", "cwd"))
            for line in map(obj, head)
        )

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        session = _Session(location)
        session.usage = _total(location)
        yield from session.stream(records)


class _Session(ChatSession):
    name = Droid.name

    def messages(self, line: dict[str, Any], source: Source) -> Iterable[dict[str, Any]]:
        kind, message = string(line.get("type")), obj(line.get("message"))
        if kind == "session_start":
            self.id = self.id or string(line.get("id"))
        elif kind != "message":
            if kind not in SILENT:
                self.location.notices.skip(f"unknown line type {str(kind)[:60]!r}", source)
        elif line.get("visibility", message.get("visibility")) != "llm_only":
            model = {"model": message["modelId"]} if "modelId" in message else {}
            content = [_cleaned(part) for part in parts_of(message)]
            yield {"role": message.get("role"), "content": content, "timestamp": line.get("timestamp")} | model


def _cleaned(part: dict[str, Any]) -> dict[str, Any]:
    """A result without the program's word on how the command ended."""
    if part.get("type") != "tool_result":
        return part
    text = text_of(part.get("content"))
    code = FAILED.match(text) or EXITED.search(text)
    if code is None:
        return part
    return part | {"content": EXITED.sub("", FAILED.sub("", text, count=1)), "exit_code": int(code[1])}


def _total(location: TraceLocation) -> Usage | None:
    path = location.path.with_name(f"{location.path.name.partition('.')[0]}.settings.json")
    try:
        tokens = obj(obj(location.beside(path).document().value).get("tokenUsage")) if path.is_file() else {}
    except (NoTrajectory, OSError):
        return None
    keys = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")
    usage = Usage(*(whole(tokens.get(key)) for key in keys))
    return usage if usage != Usage() else None
