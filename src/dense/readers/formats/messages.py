"""`messages`: chat messages in a file of a user's own; and `pochi`: those of Pochi.

As one list, as an object with `messages`, `conversations`, `conversation` or `contents`, as JSONL with such an object
or list on each line (each is a trajectory), or as JSONL with a message on each line (together one trajectory, read
lazily).

The dialects, which may be mixed:
- OpenAI chat and Anthropic messages, LangChain's `type: human/ai/tool`, ShareGPT's `from`/`value`;
- items of OpenAI's Responses (`message`, `reasoning`, `function_call`, `function_call_output`, …): what a model gave
  without anything coming back in between is one response, so one step;
- messages of a user interface (AI SDK, pochi): `parts`, with tool parts that hold both call and result. One message
  spans several responses; `step-start`, or text after a result, begins the next. A tool part repeats as it streams, and
  so may the whole message: the last one per call ID, and per message ID, counts;
- contents of the Gemini API (`role: model`, `parts` with `functionCall` and `functionResponse`).

A file is claimed if it has a message of an agent and most of it is messages. Fields around the messages are not looked
at, apart from ID and model: they may grade.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from dense.readers.chat import AGENT_ROLES, SYSTEM_ROLES, TOOL_ROLES, USER_ROLES, Chat, describe, role_of
from dense.readers.content import arguments_of, compact
from dense.readers.files import TraceRecord
from dense.readers.json_value import first_string, is_obj, is_seq, obj, objs, seq, string
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream, held_back
from dense.readers.task import task_of
from dense.trajectory import Source

LIST_KEYS = ("messages", "conversations", "conversation", "contents")
ID_KEYS = ("id", "session_id", "sessionId", "conversation_id", "trajectory_id", "instance_id", "uuid")
SPEAKERS = {"gpt": "assistant", "chatgpt": "assistant", "bot": "assistant", "function_response": "tool"}
"""Names of roles that only ShareGPT and its kin use."""
CALL_ROLES = frozenset({"function_call", "tool_call"})
"""ShareGPT: the agent's turn is a call, written as JSON."""
ROLES = AGENT_ROLES | SYSTEM_ROLES | TOOL_ROLES | USER_ROLES | frozenset(SPEAKERS) | CALL_ROLES
BODY_KEYS = ("content", "value", "text", "tool_calls", "function_call", "parts")
CALL_ITEMS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "file_search_call", "computer_call"}
    | {"code_interpreter_call", "image_generation_call", "mcp_call", "shell_call", "apply_patch_call"}
)
SILENT_ITEMS = frozenset({"item_reference", "mcp_list_tools", "compaction"})
NOT_ARGUMENTS = frozenset({"type", "id", "call_id", "status", "output", "result", "error"})
UI_STEP = "step-start"
SILENT_PARTS = frozenset({"source-url", "source-document", "source", "data"})
POCHI_PARTS = frozenset(
    "tool-attemptCompletion tool-executeCommand tool-writeToFile tool-applyDiff tool-multiApplyDiff tool-listFiles"
    " tool-globFiles tool-startBackgroundJob tool-todoWrite data-checkpoint".split()
)
"""Parts that only Pochi's messages have."""
OWN_FIELDS = ("model", "usage", "timestamp")
MOSTLY = 0.5
"""The share of a list that must be messages; damaged ones are no reason to refuse the rest."""


class Messages:
    name = "messages"
    agent: str | None = None

    def claims(self, head: Sequence[Any]) -> bool:
        return _is_chat(list(head)) or any(_is_chat(_list_of(record)) for record in head[:5])

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        opening: list[TraceRecord] = []
        for record in records:
            opening.append(record)
            if _is_message(record.value) or _list_of(record.value):
                break
        records = chain(opening, records)
        if opening and _is_message(opening[-1].value):
            yield from self._stream(records, location, location.source(), {}, location.path.stem)
            return
        yield from held_back(self._each(records, location), location.notices)

    def _each(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        used: set[str] = set()
        for record in records:
            messages = _list_of(record.value)
            if not messages:
                location.notices.skip(f"no messages: {describe(record.value)}", record.source)
                continue
            name = _name(obj(record.value), record.source, location.path.stem, used)
            own = replace(location, notices=Notices(location.notices.strict))
            streams = list(
                self._stream(_records(messages, record.source, name), own, record.source, obj(record.value), name)
            )
            yield from streams
            if not streams:
                location.notices.items += own.notices.take()

    def _stream(
        self, records: Iterable[TraceRecord], location: TraceLocation, source: Source, around: dict[str, Any], name: str
    ) -> Iterator[Stream]:
        chat = Chat(notices=location.notices, calls_in_text=True)
        steps = chat.steps(_in_one_dialect(iter(records)))
        first = next(steps, None)
        if first is None:
            location.notices.note("no message of an agent", source)
            return
        stream = Stream(format=self.name, id=name, source=source, notices=location.notices, steps=chain([first], steps))
        stream.agent = self.agent
        stream.model = string(around.get("model")) or chat.model
        stream.task = task_of(chat.prompts, string(around.get("instance_id")))
        yield stream


class Pochi(Messages):
    name = agent = "pochi"

    def claims(self, head: Sequence[Any]) -> bool:
        parts = (part for record in head for part in objs(obj(record).get("parts")))
        return any(string(part.get("type")) in POCHI_PARTS for part in parts)


def _list_of(value: Any) -> list[Any]:
    """The messages that a record holds."""
    if is_seq(value):
        return value
    return seq(next((messages for key in LIST_KEYS if (messages := seq(obj(value).get(key)))), None))


def _name(around: dict[str, Any], source: Source, stem: str, used: set[str]) -> str:
    """The trajectory's ID: its own, or the file's name and its place there."""
    where = source.line if source.line is not None else source.index
    name = first_string(around.get(key) for key in ID_KEYS)
    if name is None or name in used:
        name = (name or stem) if where is None else f"{name or stem}#{where}"
    while name in used:
        name += "'"
    used.add(name)
    return name


def _records(messages: list[Any], source: Source, name: str) -> Iterator[TraceRecord]:
    alone = source.line is None and source.index is None
    for index, message in enumerate(messages):
        yield TraceRecord(message, Source(source.path, line=source.line, index=index, part=None if alone else name))


def _role(message: dict[str, Any]) -> str:
    role = role_of(message)
    if not role and "content" in message:
        role = string(message.get("type")) or ""
    return SPEAKERS.get(role, role)


def _is_message(value: Any) -> bool:
    if not is_obj(value):
        return False
    return (_role(value) in ROLES and any(key in value for key in BODY_KEYS)) or _is_item(value)


def _is_item(value: dict[str, Any]) -> bool:
    """Whether this is an item of the Responses API that is no message."""
    kind = string(value.get("type")) or ""
    if kind in CALL_ITEMS or kind.endswith("_call_output"):
        return isinstance(value.get("call_id"), str) or isinstance(value.get("id"), str)
    return kind == "reasoning" and is_seq(value.get("summary"))


def _is_act(value: Any) -> bool:
    role = _role(obj(value))
    return role in AGENT_ROLES or role in CALL_ROLES or string(obj(value).get("type")) in CALL_ITEMS


def _is_chat(messages: list[Any]) -> bool:
    """Whether these are messages, and an agent speaks in them."""
    head = messages[:200]
    good = sum(map(_is_message, head))
    return good >= max(1, MOSTLY * len(head)) and any(_is_message(m) and _is_act(m) for m in messages)


def _in_one_dialect(records: Iterator[TraceRecord]) -> Iterator[TraceRecord]:
    """The messages as `Chat` takes them: one message for each response of the model."""
    items: list[TraceRecord] = []
    waiting: TraceRecord | None = None
    for record in records:
        value = obj(record.value)
        again = waiting is not None and _is_same_message(waiting.value, value)
        if waiting is not None and not again:
            yield from _ui_messages(waiting)
            waiting = None
        is_part_of_response = _is_response_item(value)
        if items and not is_part_of_response:
            yield _joined(items)
            items = []
        if is_part_of_response:
            items.append(record)
        elif _is_ui(value):
            # Held back, because it may be written again as it streams.
            waiting = record if waiting is None else TraceRecord(value, waiting.source)
        else:
            yield from _plain(record)
    if items:
        yield _joined(items)
    if waiting is not None:
        yield from _ui_messages(waiting)


def _is_response_item(value: dict[str, Any]) -> bool:
    kind = string(value.get("type"))
    return kind in CALL_ITEMS or kind == "reasoning" or (kind == "message" and role_of(value) in AGENT_ROLES)


def _is_ui(value: dict[str, Any]) -> bool:
    """Messages made of parts may repeat their text in `content`."""
    return bool(seq(value.get("parts"))) and not is_seq(value.get("content"))


def _is_same_message(waiting: dict[str, Any], coming: dict[str, Any]) -> bool:
    key = string(waiting.get("id"))
    return key is not None and coming.get("id") == key and _is_ui(coming) and _role(coming) == _role(waiting)


def _plain(record: TraceRecord) -> Iterator[TraceRecord]:
    """One message of one response, or results."""
    value = record.value
    if not is_obj(value):
        yield record
        return
    kind = string(value.get("type")) or ""
    if kind.endswith("_call_output"):
        yield TraceRecord(
            {"role": "tool", "tool_call_id": _call_id(value), "content": value.get("output")}, record.source
        )
    elif _role(value) in TOOL_ROLES and (results := [r for p in objs(value.get("content")) for r in _core_result(p)]):
        yield from (TraceRecord(result, record.source) for result in results)
    elif kind not in SILENT_ITEMS or role_of(value):
        yield TraceRecord(_normal(value), record.source)


def _normal(message: dict[str, Any]) -> dict[str, Any]:
    role = _role(message)
    content = next((message[key] for key in ("content", "value", "text") if key in message), None)
    if role in CALL_ROLES:
        called = arguments_of(content)
        return {"role": "assistant", "tool_calls": [called if "name" in called else {"arguments": called}]}
    return message | {"role": role, "content": content}


def _core_result(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A result among several in one message of role `tool` (AI SDK, Anthropic)."""
    if part.get("type") == "tool-result":
        output = part.get("output") if part.get("output") is not None else part.get("result")
        if "value" in obj(output):
            output = obj(output)["value"]
        yield {"role": "tool", "tool_call_id": part.get("toolCallId"), "content": _as_content(output)}
    elif part.get("type") == "tool_result":
        yield {"role": "tool"} | {key: part.get(key) for key in ("tool_use_id", "content", "is_error")}


def _joined(items: list[TraceRecord]) -> TraceRecord:
    """The items of one response as one message."""
    content: list[Any] = []
    calls: list[Any] = []
    message: dict[str, Any] = {"role": "assistant", "content": content, "tool_calls": calls}
    for item in (obj(item.value) for item in items):
        kind = string(item.get("type"))
        if kind == "reasoning":
            content.append({"type": "reasoning", "reasoning": seq(item.get("content")) or item.get("summary")})
        elif kind in CALL_ITEMS:
            calls.append(_call_of(item))
            content += _own_result(item)
        else:
            said = item.get("content")
            content += said if is_seq(said) else [said]
            calls += objs(item.get("tool_calls"))
            message |= {key: item[key] for key in OWN_FIELDS if key in item}
    return TraceRecord(message, items[0].source)


def _call_id(item: dict[str, Any]) -> str | None:
    return first_string((item.get("call_id"), item.get("id")))


def _call_of(item: dict[str, Any]) -> dict[str, Any]:
    """A call; those of tools that the provider runs have no name, and their arguments lie about in the item."""
    if "arguments" in item or "input" in item:
        given = item["arguments"] if item.get("arguments") is not None else item.get("input")
    else:
        given = {key: value for key, value in item.items() if key not in NOT_ARGUMENTS}
    name = string(item.get("name")) or str(item.get("type")).removesuffix("_call")
    return {"name": name, "arguments": given, "call_id": _call_id(item)}


def _own_result(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a tool that the provider runs gave back in the same item."""
    error = string(item.get("error"))
    if error or item.get("output") is not None:
        result = {"type": "tool_result", "tool_use_id": _call_id(item), "is_error": True if error else None}
        yield result | {"content": error or item.get("output")}


def _ui_messages(record: TraceRecord) -> Iterator[TraceRecord]:
    """A message made of parts: one message for each response in it, with the results that it got."""
    value = obj(record.value)
    role = _role(value)
    parts = _last_of_each_call(objs(value.get("parts")))
    if role in AGENT_ROLES:
        for message in _responses(parts, {key: value[key] for key in OWN_FIELDS if key in value}):
            yield TraceRecord(message, record.source)
        return
    results = [result for part in parts for result in _gemini_result(part)]
    yield from (TraceRecord(result, record.source) for result in results)
    said = [part for part in parts if "functionResponse" not in part]
    if said or not results:
        yield TraceRecord({"role": role, "content": said}, record.source)


def _responses(parts: list[dict[str, Any]], head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content: list[Any] = []
    results: list[Any] = []
    for part in parts:
        kind = string(part.get("type")) or ""
        if kind == UI_STEP or (results and not _is_tool_part(part)):
            if content:
                yield head | {"role": "assistant", "content": content}
                head = {key: value for key, value in head.items() if key != "usage"}
            yield from results
            content, results = [], []
        if _is_tool_part(part):
            content.append(_tool_use(part))
            results += _tool_results(part)
        elif kind != UI_STEP and kind not in SILENT_PARTS and not kind.startswith("data-"):
            content.append({"type": "reasoning", "text": part.get("text")} if part.get("thought") is True else part)
    if content:
        yield head | {"role": "assistant", "content": content}
    yield from results


def _last_of_each_call(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts, each tool call once: where it first stood, as it last was."""
    kept: dict[str, dict[str, Any]] = {}
    for position, part in enumerate(parts):
        call_id = string(_invocation(part).get("toolCallId")) if _is_tool_part(part) else None
        kept[f"call {call_id}" if call_id else f"part {position}"] = part
    return list(kept.values())


def _is_tool_part(part: dict[str, Any]) -> bool:
    kind = string(part.get("type")) or ""
    return kind.startswith("tool-") or kind == "dynamic-tool" or "functionCall" in part


def _invocation(part: dict[str, Any]) -> dict[str, Any]:
    return obj(part.get("toolInvocation")) or part


def _tool_use(part: dict[str, Any]) -> dict[str, Any]:
    if "functionCall" in part:
        call = obj(part["functionCall"])
        return {"type": "tool_use", "name": call.get("name"), "input": call.get("args"), "id": call.get("id")}
    call = _invocation(part)
    name = string(call.get("toolName")) or str(part.get("type")).removeprefix("tool-")
    given = call.get("input") if call.get("input") is not None else call.get("args")
    return {"type": "tool_use", "name": name, "input": given, "id": call.get("toolCallId")}


def _tool_results(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    call = _invocation(part)
    error = string(call.get("errorText"))
    output = call.get("output") if call.get("output") is not None else call.get("result")
    if "functionCall" not in part and (error is not None or output is not None):
        content = {"content": _as_content(output)} if error is None else {"content": error, "is_error": True}
        yield {"role": "tool", "tool_call_id": call.get("toolCallId")} | content


def _as_content(output: Any) -> Any:
    """A result may be any JSON value; only what has the look of content is taken as such."""
    if isinstance(output, str) or "content" in obj(output):
        return output
    if is_seq(output) and output and all("type" in obj(part) for part in output):
        return output
    return compact(output)


def _gemini_result(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "functionResponse" not in part:
        return
    result = obj(part["functionResponse"])
    response = result.get("response")
    content = next((obj(response)[key] for key in ("output", "result", "error") if key in obj(response)), response)
    is_error = True if "error" in obj(response) else None
    yield {"role": "tool", "tool_call_id": result.get("id"), "content": _as_content(content), "is_error": is_error}
