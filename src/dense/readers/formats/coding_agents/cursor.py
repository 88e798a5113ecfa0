"""`cursor`: Cursor's agent: its transcripts, and the database of the editor.

`~/.cursor/projects/<folder>/agent-transcripts/<id>/<id>.jsonl` has a line `{role, message: {content}}` for each
message, in Anthropic's blocks. Most transcripts leave the results of calls out: then a step has none.

`globalStorage/state.vscdb` is SQLite: in `cursorDiskKV`, `composerData:<id>` names the bubbles of a conversation in
their order, and `bubbleId:<id>:<bubble>` has each: type 1 is the user's, type 2 the agent's, with `text`, `thinking` or
`toolFormerData` (call and result).

- A bubble with a call is a step, together with the text or the thinking right before it and with the calls of the same
  answer (`modelCallId`, which older versions lack).
- The request of a person is inside `<user_query>`; what is around it is the program's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from dense.readers.chat import tool_call
from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.folders.databases import Database, json_value
from dense.readers.formats.coding_agents.sessions import ChatSession, parts_of
from dense.readers.json_value import is_obj, obj, objs, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source

COMPOSER, BUBBLE = "composerData:", "bubbleId:"
FAILED = frozenset({"error", "cancelled", "rejected"})
USER, AGENT = 1, 2
QUERY, QUERY_END = "<user_query>", "</user_query>"


class Cursor:
    name = "cursor"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_line, map(obj, head)))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for first in records:
            bubbles = obj(first.value).get("bubbles")
            if bubbles is None:
                yield from _Transcript(location).stream(chain((first,), records))
                return
            conversation = _Conversation(location, first.source)
            conversation.id = first.source.part
            model = obj(obj(first.value["composer"]).get("modelConfig")).get("modelName")
            conversation.model = string(model)
            path, part = first.source.path, first.source.part
            yield from conversation.stream(
                TraceRecord(bubble, Source(path, index=index, part=part)) for index, bubble in enumerate(bubbles)
            )


def _is_line(line: dict[str, Any]) -> bool:
    is_named = not line.keys().isdisjoint(("type", "uuid", "sessionId", "content"))
    content = obj(line.get("message")).get("content")
    return line.get("role") in ("user", "assistant") and not is_named and isinstance(content, (list, str))


class _Transcript(ChatSession):
    name = Cursor.name

    def messages(self, line: dict[str, Any], source: Source) -> Iterable[dict[str, Any]]:
        if line.get("type") == "turn_ended" or "role" not in line:
            if line.get("type") != "turn_ended":
                self.location.notices.skip(f"unknown line type {str(line.get('type'))[:60]!r}", source)
            return
        parts = [_asked(part) if line["role"] == "user" else part for part in parts_of(obj(line.get("message")))]
        yield {"role": line["role"], "content": parts, "timestamp": line.get("timestamp")}


def _asked(part: dict[str, Any]) -> dict[str, Any]:
    text = string(part.get("text")) or ""
    start, end = text.find(QUERY), text.rfind(QUERY_END)
    return part if start < 0 or end < start else part | {"text": text[start + len(QUERY) : end].strip("\n")}


def database_sessions(database: Database, only: str | None) -> Iterator[tuple[str, object]]:
    """The conversations of the editor's database that have an agent's bubble."""
    for key, data in database.rows(
        "select key, value from cursorDiskKV where key >= ? and key < ?", COMPOSER, COMPOSER + "~"
    ):
        name, composer = str(key).removeprefix(COMPOSER), obj(json_value(data))
        if only not in (None, name):
            continue
        start = f"{BUBBLE}{name}:"
        rows = database.rows("select key, value from cursorDiskKV where key >= ? and key < ?", start, start + "~")
        stored = {str(key).removeprefix(start): obj(json_value(value)) for key, value in rows}
        named = [str(header.get("bubbleId")) for header in objs(composer.get("fullConversationHeadersOnly"))]
        bubbles = [stored[name] for name in named if name in stored] or objs(composer.get("conversation"))
        if any(bubble.get("type") == AGENT for bubble in bubbles):
            yield name, {"composer": composer, "bubbles": bubbles}


class _Conversation(ChatSession):
    """Bubbles as messages; text and thinking wait for the call that they belong to."""

    name = Cursor.name

    def __init__(self, location: TraceLocation, source: Source) -> None:
        super().__init__(location, source)
        self.waiting: dict[str, Any] | None = None
        self.answer: str | None = None
        """The answer of the model that the last call is of, where the database says it."""

    def messages(self, line: dict[str, Any], source: Source) -> Iterable[dict[str, Any]]:
        if line.get("type") == USER:
            yield from self.flushed()
            yield {"role": "user", "content": text_of(line.get("text")), "timestamp": line.get("createdAt")}
        elif line.get("type") != AGENT:
            self.location.notices.skip("bubble of neither the user nor the agent", source)
        elif string((call := obj(line.get("toolFormerData"))).get("name")):
            answer, self.answer = self.answer, string(call.get("modelCallId"))
            if self.answer is not None and self.answer == answer and self.chat.builder is not None and not self.waiting:
                self.chat.builder.calls.append(tool_call(_call(call)))
                yield from _result(call)
                return
            message = self.waiting or _message(line)
            message["content"] += _message(line)["content"] if self.waiting else []
            message["content"].append(_call(call))
            self.waiting = None
            yield message
            yield from _result(call)
        elif self.waiting is not None and all(part["type"] == "thinking" for part in self.waiting["content"]):
            self.waiting["content"] += _message(line)["content"]
        else:
            yield from self.flushed()
            self.waiting = _message(line)

    def flushed(self) -> Iterator[dict[str, Any]]:
        waiting, self.waiting = self.waiting, None
        if waiting is not None and waiting["content"]:
            yield waiting

    def steps(self, records: Iterable[TraceRecord]) -> Iterator[Any]:
        yield from super().steps(chain(records, (TraceRecord({"type": USER, "text": ""}, self.source),)))


def _message(bubble: dict[str, Any]) -> dict[str, Any]:
    thought, said = text_of(obj(bubble.get("thinking")).get("text")), text_of(bubble.get("text"))
    content = [{"type": "thinking", "thinking": thought}] if thought else []
    content += [{"type": "text", "text": said}] if said else []
    tokens = obj(bubble.get("tokenCount"))
    counts = {f"{name}_tokens": count for name in ("input", "output") if (count := whole(tokens.get(f"{name}Tokens")))}
    return {"role": "assistant", "content": content, "timestamp": bubble.get("createdAt"), "usage": counts}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    given = call.get("rawArgs") if call.get("rawArgs") is not None else call.get("params")
    return {"type": "tool_use", "id": call.get("toolCallId"), "name": call.get("name"), "input": given}


def _result(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What came back: text, or JSON with the output and the exit code of a command."""
    raw = call.get("result") if call.get("result") is not None else call.get("error")
    if raw is None:
        return
    value = json_value(raw) if isinstance(raw, str) and raw.lstrip().startswith("{") else None
    document = obj(value)
    text = document.get("output") if isinstance(document.get("output"), str) else document.get("contents", raw)
    code = whole(document.get("exitCodeV2"))
    code = whole(document.get("exitCode")) if code is None else code
    is_error = True if string(call.get("status")) in FAILED or (is_obj(value) and "error" in value) else None
    yield {
        "role": "tool",
        "tool_call_id": call.get("toolCallId"),
        "content": text,
        "is_error": is_error,
        "exit_code": code,
    }
