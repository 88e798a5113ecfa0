"""`goose`: sessions of Goose: its database `~/.local/share/goose/sessions/sessions.db`, and its older JSONL files.

The database has `sessions` and `messages.content_json`; an older file has a line with the session's facts, then a
message a line. Content is parts: `text`, `thinking`, `toolRequest` with `toolCall.value`, `toolResponse` with
`toolResult.value`; a failed call has `error` there.

- A message that the user does not see (`metadata.userVisible` false) is the program's own, such as a summary.
- A result may hold a second copy for the user (`annotations.audience`): left out.
- `accumulated_…_tokens` of a session are its totals; `input_tokens` is only the last call's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dense.readers.content import arguments_of
from dense.readers.files import TraceRecord
from dense.readers.folders.databases import Database, json_value
from dense.readers.formats.coding_agents.sessions import ChatSession
from dense.readers.json_value import is_obj, obj, objs, seq, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source, Usage

PARTS = frozenset({"toolRequest", "toolResponse"})


class Goose:
    name = "goose"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(
            "content" in line and any(string(part.get("type")) in PARTS for part in objs(line["content"]))
            for line in (obj(record) for record in head)
        ) or any("working_dir" in line and "message_count" in line for line in map(obj, head[:1]))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for first in records:
            stored = obj(first.value).get("stored_messages")
            if stored is None:  # a file, a message a line
                yield from _Session(location).stream(_with(first, records))
                return
            session = _Session(location, first.source)
            session.facts(obj(obj(first.value).get("session")))
            rows = enumerate(seq(stored))
            path, part = first.source.path, first.source.part
            yield from session.stream(TraceRecord(row, Source(path, index=index, part=part)) for index, row in rows)


def _with(first: TraceRecord, rest: Iterator[TraceRecord]) -> Iterator[TraceRecord]:
    yield first
    yield from rest


def database_sessions(database: Database, only: str | None) -> Iterator[tuple[str, object]]:
    """The sessions of a store, in the order of their last change."""
    wanted = [name for name in FACTS if name in database.columns("sessions")]
    known = database.columns("messages")
    columns = [name for name in ("role", "content_json", "created_timestamp", "metadata_json") if name in known]
    query = f"select {', '.join(wanted)} from sessions" + (" where id = ?" if only else "")
    rows = list(database.rows(query + " order by updated_at", *([only] if only else [])))
    for row in rows:
        facts = dict(zip(wanted, row, strict=True))
        messages = [
            dict(zip(columns, message, strict=True))
            for message in database.rows(
                f"select {', '.join(columns)} from messages where session_id = ? order by id", facts["id"]
            )
        ]
        yield str(facts["id"]), {"session": facts, "stored_messages": list(map(_unpacked, messages))}


FACTS = (
    "id",
    "working_dir",
    "accumulated_input_tokens",
    "accumulated_output_tokens",
    "model_config_json",
)


def _unpacked(row: dict[str, Any]) -> dict[str, Any]:
    metadata = json_value(row.get("metadata_json"))
    return {
        "role": row.get("role"),
        "content": json_value(row.get("content_json")),
        "created": row.get("created_timestamp"),
        "metadata": metadata,
    }


class _Session(ChatSession):
    name = Goose.name

    def facts(self, facts: dict[str, Any]) -> None:
        self.id = string(facts.get("id"))
        self.model = string(obj(json_value(facts.get("model_config_json"))).get("model_name"))
        used = (whole(facts.get(f"accumulated_{name}_tokens")) for name in ("input", "output"))
        given, output = used
        self.usage = Usage(given, output=output) if given is not None or output is not None else None

    def messages(self, line: dict[str, Any], source: Source) -> Iterable[dict[str, Any]]:
        if "role" not in line:
            if "working_dir" not in line:
                self.location.notices.skip("neither a message nor the facts of a session", source)
            return
        is_hidden = obj(line.get("metadata")).get("userVisible") is False
        role = "system" if is_hidden and line["role"] == "user" else line["role"]
        if not is_hidden or role == "system":
            yield {
                "role": role,
                "content": list(map(_part, objs(line.get("content")))),
                "timestamp": line.get("created"),
            }


def _is_for_agent(part: dict[str, Any]) -> bool:
    """Some tools give their output twice, once for the agent and once for the user."""
    audience = seq(obj(part.get("annotations")).get("audience"))
    return not audience or "assistant" in audience


def _part(part: dict[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "toolRequest":
        call = obj(part.get("toolCall"))
        called = obj(call.get("value")) or {"name": "?", "arguments": call.get("error")}
        arguments = arguments_of(called.get("arguments"))
        return {"type": "tool_use", "id": part.get("id"), "name": called.get("name"), "input": arguments}
    if kind == "toolResponse":
        result = obj(part.get("toolResult"))
        value = result.get("value")
        is_error = True if "error" in result or (is_obj(value) and value.get("isError") is True) else None
        parts = obj(value).get("content", value)
        content = result.get("error") if "error" in result else list(filter(_is_for_agent, objs(parts))) or parts
        return {"type": "tool_result", "tool_use_id": part.get("id"), "content": content, "is_error": is_error}
    return part
