"""`opencode`: sessions of opencode and its forks: its database, what `opencode export` prints, and its older files.

`~/.local/share/opencode/opencode.db` is SQLite: `session`, `message.data` and `part.data` as JSON. `opencode export`
prints `{info, messages: [{info, parts}]}`. Older versions kept the same records as files:
`storage/session/<project>/<id>.json`, `storage/message/<session>/<id>.json`, `storage/part/<message>/<id>.json`.

Decided here:
- A database is read session by session, in the order of their last change; sessions of sub-agents (`parent_id`) nest in
  the step whose `task` call started them.
- An assistant's message is a step; older versions put several answers into one message, with `step-start` between them.
- `synthetic` and `ignored` texts are the program's words, not the user's. An answer that sums up for a compaction
  (`summary: true`) is no action.
- Tokens are in disjoint buckets already; a price of 0 means that none was known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from dense.readers.content import arguments_of, compact, text_of
from dense.readers.files import TraceRecord
from dense.readers.folders.databases import Database, json_value
from dense.readers.json_value import is_obj, number, obj, objs, string, timestamp, whole
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of
from dense.trajectory import Source, Step, ToolCall, Trajectory, Usage

MAX_DEPTH = 6
"""How deep sub-agents are followed."""


class Opencode:
    name = "opencode"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_session, head))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for record in fitting_documents(records, _is_session, location.notices, "a session of opencode"):
            source = record.source if record.source.part else location_of_row(record.source)
            if stream := _Session(record.value, source, location).stream():
                yield stream
            else:
                location.notices.skip("session without a step of the agent", record.source)


def _is_session(value: Any) -> bool:
    messages = obj(value).get("messages")
    if not is_obj(obj(value).get("info")) or not isinstance(messages, list):
        return False
    return any(is_obj(message.get("info")) and isinstance(message.get("parts"), list) for message in objs(messages))


def database_sessions(database: Database, only: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sessions of a database, each with its ID, as `opencode export` would print them."""
    query = "select id from session where parent_id is null order by time_updated, id"
    for (identity,) in [(only,)] if only else list(database.rows(query)):
        yield identity, _exported(database, identity, 0)


def _exported(database: Database, identity: str, depth: int) -> dict[str, Any]:
    rows = database.rows(
        "select id, parent_id, directory, title, version, time_created from session where id = ?", identity
    )
    info: dict[str, Any] = {}
    for row in rows:
        info = dict(zip(("id", "parentID", "directory", "title", "version", "created"), row, strict=True))
    messages: dict[str, dict[str, Any]] = {}
    for message, data in database.rows("select id, data from message where session_id = ? order by id", identity):
        messages[message] = {"info": obj(json_value(data)) | {"id": message}, "parts": []}
    for message, data in database.rows("select message_id, data from part where session_id = ? order by id", identity):
        if message in messages and is_obj(value := json_value(data)):
            messages[message]["parts"].append(value)
    query = "select id from session where parent_id = ? order by id"
    children = list(database.rows(query, identity)) if depth < MAX_DEPTH else list[tuple[Any, ...]]()
    nested = [_exported(database, child, depth + 1) for (child,) in children]
    return {"info": info, "messages": list(messages.values()), "children": nested}


class _Session:
    """One session on its way to steps."""

    def __init__(self, document: dict[str, Any], source: Source, location: TraceLocation) -> None:
        self.info, self.source, self.location = obj(document.get("info")), source, location
        self.messages = objs(document.get("messages"))
        self.children = {str(obj(child.get("info")).get("id")): child for child in objs(document.get("children"))}
        self.prompts: list[str] = []
        self.model: str | None = None
        self.builder: StepBuilder | None = None

    def stream(self) -> Stream | None:
        identity = string(self.info.get("id")) or self.location.path.stem
        stream = Stream(format=Opencode.name, id=identity, source=self.source, notices=self.location.notices)
        steps = self.steps()
        first = next(steps, None)
        if first is None:
            return None
        stream.agent, stream.agent_version, stream.model = Opencode.name, string(self.info.get("version")), self.model
        stream.task = task_of(self.prompts)
        stream.steps = chain((first,), steps)
        return stream

    def steps(self) -> Iterator[Step]:
        for index, message in enumerate(self.messages):
            info, parts = obj(message.get("info")), objs(message.get("parts"))
            source = Source(self.source.path, self.source.line, index, self.source.part)
            if info.get("role") == "assistant":
                if info.get("summary") is not True:
                    yield from self.answer(info, parts, source)
            elif info.get("role") == "user":
                self.hear(info, parts)
            else:
                self.location.notices.skip("message of nobody known", source)
        if self.builder is not None:
            yield self.builder.build()

    def answer(self, info: dict[str, Any], parts: list[dict[str, Any]], source: Source) -> Iterator[Step]:
        opened = False
        for part in parts:
            if part.get("type") == "step-start" or not opened:
                if not opened or (self.builder is not None and (self.builder.calls or self.builder.message)):
                    if self.builder is not None:
                        yield self.builder.build()
                    self.builder = self.open(info, source)
                opened = True
            self.part(part)
        if opened and self.builder is not None and (error := obj(info.get("error"))):
            text = string(obj(error.get("data")).get("message")) or string(error.get("name")) or ""
            self.builder.observe(text, origin="system", is_error=True)

    def open(self, info: dict[str, Any], source: Source) -> StepBuilder:
        model = string(info.get("modelID"))
        builder = StepBuilder(
            source=source, timestamp=timestamp(obj(info.get("time")).get("created")), usage=_usage(info)
        )
        if self.model is None:
            self.model = model
        elif model != self.model:
            builder.model = model
        return builder

    def part(self, part: dict[str, Any]) -> None:
        builder, kind = self.builder, part.get("type")
        if builder is None:
            return
        if kind == "text":
            builder.message.append(text_of(part.get("text")))
        elif kind == "reasoning":
            builder.reasoning.append(text_of(part.get("text")))
        elif kind == "tool":
            self.tool(builder, part)
        elif kind == "step-finish" and builder.usage is None:
            builder.usage = _usage(part)

    def tool(self, builder: StepBuilder, part: dict[str, Any]) -> None:
        state, call_id = obj(part.get("state")), string(part.get("callID"))
        builder.calls.append(ToolCall(string(part.get("tool")) or "?", arguments_of(state.get("input")), call_id))
        metadata, status = obj(state.get("metadata")), state.get("status")
        if status in ("completed", "error"):
            text = text_of(state.get("output")) if status == "completed" else text_of(state.get("error"))
            is_error = True if status == "error" else None
            builder.observe(text, call_id, is_error=is_error, exit_code=whole(metadata.get("exit")))
        child = self.children.pop(str(metadata.get("sessionId") or metadata.get("sessionID")), None)
        if child is not None:
            builder.subagents += self.subagent(child)

    def subagent(self, child: dict[str, Any]) -> Iterator[Trajectory]:
        if stream := _Session(child, self.source, self.location).stream():
            yield stream.collect()

    def hear(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        time = timestamp(obj(info.get("time")).get("created"))
        for part in parts:
            if part.get("type") == "file":
                text = f"[file: {string(part.get('filename')) or string(part.get('mime')) or compact('')}]"
            else:
                text = text_of(part.get("text")) if part.get("type") == "text" else ""
            if not text:
                continue
            is_own = part.get("synthetic") is True or part.get("ignored") is True
            if self.builder is not None:
                self.builder.observe(text, origin="system" if is_own else "user", timestamp=time)
            elif not is_own:
                self.prompts.append(text)


def _usage(info: dict[str, Any]) -> Usage | None:
    tokens = obj(info.get("tokens"))
    cache = obj(tokens.get("cache"))
    output, thought = whole(tokens.get("output")), whole(tokens.get("reasoning"))
    if not tokens or output is None:
        return None
    cost = number(info.get("cost"))
    return Usage(
        whole(tokens.get("input")),
        whole(cache.get("read")),
        whole(cache.get("write")),
        output + (thought or 0),
        cost or None,
    )
