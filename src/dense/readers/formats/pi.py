"""`pi` and `openclaw`: sessions of the pi coding agent, and of OpenClaw, which grew out of it.

pi writes `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`, OpenClaw
`~/.openclaw/agents/<agent>/sessions/<id>.jsonl`. The first line is the session (`type: session`), each further line an
entry: a message (user, assistant with `toolCall` parts, toolResult, …), a change of model, a compaction, a summary of a
branch that was left.

Traps, and what we decided:
- Entries are a tree by `id` and `parentId`. The attempt is the path from the root to the last entry; branches that were
  left are no part of it. OpenClaw can also name the active leaf (`leaf`) and hang an entry beside it
  (`appendMode: side`).
- Entries of files before version 2 have no IDs: they are a line. Those are read lazily; a tree is held in memory,
  because only its end shows which branches count.
- A compaction takes nothing away: the entries before it stay on the path, and its summary is the harness's word.
- OpenClaw's `reset` begins another conversation in the same session: a trajectory of its own.
- OpenClaw's checkpoints (`<id>.checkpoint.<n>.jsonl`) repeat the history of the session beside them; a folder's walk
  passes them over. An entry that is repeated in one file counts once.
- A request that was aborted or failed leaves an empty message: no action. Its error is the harness's word.
- The two formats differ little: OpenClaw is recognised by the names of its entries, its version, its working folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import msgspec

from dense.readers.chat import AGENT_ROLES, Chat, describe, role_of
from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.json_value import flag, is_obj, is_seq, number, obj, objs, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.readers.task import task_of
from dense.trajectory import Source, Step, Task, Usage

SILENT = frozenset(
    {"thinking_level_change", "model_change", "custom", "label", "session_info", "session", "leaf", "reset"}
)
SUMMARIES = frozenset({"compaction", "branch_summary", "compactionSummary", "branchSummary"})
CUSTOM = frozenset({"custom", "custom_message", "hookMessage"})
ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "hookMessage"})
BARE_COMMAND = re.compile(r"/[\w-]+")
OPENCLAW_MARKS = ("openclaw", "model-snapshot")


class Pi:
    name = "pi"

    def claims(self, head: Sequence[Any]) -> bool:
        return _is_session(head) and not _is_openclaw(head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        opening: list[TraceRecord] = []
        for record in records:
            opening.append(record)
            if obj(record.value).get("type") not in ("session", None):
                break
        header = obj(next((r.value for r in opening if obj(r.value).get("type") == "session"), None))
        everything = chain(opening, records)
        has_ids = bool(opening) and "id" in obj(opening[-1].value)
        if has_ids or (whole(header.get("version")) or 1) >= 2:
            conversations = _Tree.of(everything, location).conversations()
        else:
            conversations = iter([everything])
        session = string(header.get("id")) or location.path.stem
        for position, conversation in enumerate(conversations, start=1):
            yield from _read(conversation, self.name, session if position == 1 else f"{session}#{position}", location)


class OpenClaw(Pi):
    name = "openclaw"

    def claims(self, head: Sequence[Any]) -> bool:
        return _is_session(head) and _is_openclaw(head)


def _is_session(head: Sequence[Any]) -> bool:
    return any(map(_is_header, head[:3])) or any(map(_is_tree_message, head[:5]))


def _is_header(value: Any) -> bool:
    record = obj(value)
    return record.get("type") == "session" and isinstance(record.get("cwd"), str) and "message" not in record


def _is_tree_message(value: Any) -> bool:
    """For a file whose first line is lost."""
    record = obj(value)
    is_entry = record.get("type") == "message" and "parentId" in record and isinstance(record.get("id"), str)
    return is_entry and role_of(obj(record.get("message"))) in ROLES


def _is_openclaw(head: Sequence[Any]) -> bool:
    for record in objs(list(head)):
        if record.get("type") == "session":
            if (whole(record.get("version")) or 0) >= 4 or ".openclaw" in str(record.get("cwd")):
                return True
        elif record.get("type") in ("leaf", "reset") or str(record.get("customType")).startswith(OPENCLAW_MARKS):
            return True
    return False


def _read(entries: Iterator[TraceRecord], name: str, session: str, location: TraceLocation) -> Iterator[Stream]:
    chat = Chat(notices=location.notices)
    steps = _steps(entries, chat)
    first = next(steps, None)
    if first is not None:
        source = location.source() if "#" not in session else location.source(part=session)
        stream = Stream(
            format=name,
            id=session,
            source=source,
            notices=location.notices,
            steps=chain([first], steps),
            agent=name,
            model=chat.model,
        )
        stream.task = _task(chat.prompts)
        yield stream


def _task(prompts: list[str]) -> Task | None:
    """A bare `/command` that was sent by mistake is no instruction, unless there is no other."""
    words = [prompt for prompt in prompts if not BARE_COMMAND.fullmatch(prompt.strip())]
    return task_of(words or prompts)


@dataclass
class _Tree:
    """The entries of a session and which of them are the active branch."""

    entries: dict[str, TraceRecord] = field(default_factory=dict[str, TraceRecord])
    parents: dict[str, str | None] = field(default_factory=dict[str, str | None])
    leaf: str | None = None

    @classmethod
    def of(cls, records: Iterator[TraceRecord], location: TraceLocation) -> _Tree:
        tree = cls()
        for record in records:
            if not is_obj(record.value):
                location.notices.skip(f"not an entry: {describe(record.value)}", record.source)
            elif record.value.get("type") != "session":
                tree.add(record)
        return tree

    def add(self, record: TraceRecord) -> None:
        entry = record.value
        key = string(entry.get("id")) or f"line {record.source.line or record.source.index}"
        parent = string(entry.get("parentId")) if "parentId" in entry else self.leaf
        if parent is not None and parent not in self.entries:
            # Its parent was damaged or cut away; what came before it in the file is the best that is left.
            parent = self.leaf
        if entry.get("type") == "leaf":
            target = string(entry.get("targetId"))
            if target is None or target in self.entries:
                # What hangs on the marker continues from its target.
                self.entries[key], self.parents[key], self.leaf = record, target, target
            return
        if key not in self.entries:
            self.entries[key], self.parents[key] = record, parent
        if entry.get("appendMode") != "side":
            self.leaf = key

    def conversations(self) -> Iterator[Iterator[TraceRecord]]:
        """The active branch, cut where the session was reset."""
        path: list[TraceRecord] = []
        keys: set[str] = set()
        key = self.leaf
        while key is not None and key not in keys:
            keys.add(key)
            path.append(self.entries[key])
            key = self.parents[key]
        conversation: list[TraceRecord] = []
        for record in reversed(path):
            if record.value.get("type") == "reset" and conversation:
                yield iter(conversation)
                conversation = []
            conversation.append(record)
        yield iter(conversation)


def _steps(entries: Iterator[TraceRecord], chat: Chat) -> Iterator[Step]:
    """The steps of one conversation. A step that is handed out has all that it observed."""
    usages: list[Usage | None] = []
    for record in entries:
        if not is_obj(record.value):
            chat.notices.skip(f"not an entry: {describe(record.value)}", record.source)
            continue
        done = _feed(record.value, record.source, chat, usages)
        if done is not None:
            yield _priced(done, usages)
    if done := chat.finish():
        yield _priced(done, usages)


def _feed(entry: dict[str, Any], source: Source, chat: Chat, usages: list[Usage | None]) -> Step | None:
    kind = string(entry.get("type"))
    if kind == "message":
        message = obj(entry.get("message"))
    elif kind in SUMMARIES or kind == "custom_message":
        message = entry | {"role": kind}
    else:
        if kind not in SILENT:
            chat.notices.skip(f"entry of unknown type {describe(entry.get('type'))}", source)
        return None
    role = role_of(message)
    if role in AGENT_ROLES:
        return _act(message, entry, source, chat, usages)
    if role == "toolResult":
        return _result(message, source, chat)
    if role == "bashExecution":
        return _shell(message, source, chat)
    if role in SUMMARIES:
        return _harness(message.get("summary"), chat)
    if role in CUSTOM:
        return _harness(message.get("content"), chat)
    return chat.feed(message, source)


def _act(
    message: dict[str, Any], entry: dict[str, Any], source: Source, chat: Chat, usages: list[Usage | None]
) -> Step | None:
    content = message.get("content")
    done = None
    if (is_seq(content) and content) or string(content):
        done = chat.feed(message | {"timestamp": entry.get("timestamp"), "usage": None}, source)
        usages.append(_usage(message))
    if message.get("stopReason") in ("error", "aborted") and (error := string(message.get("errorMessage"))):
        _observe(chat, error, is_error=True)
    return done


def _usage(message: dict[str, Any]) -> Usage | None:
    counts = obj(message.get("usage"))
    usage = Usage(*(whole(counts.get(key)) for key in ("input", "cacheRead", "cacheWrite", "output")))
    if message.get("stopReason") in ("error", "aborted") and not (usage.input or usage.output):
        return None  # the counters of a request that never ended are not zero, but unknown
    cost = number(obj(counts.get("cost")).get("total"))
    return msgspec.structs.replace(usage, cost_usd=cost) if usage != Usage() else None


def _priced(step: Step, usages: list[Usage | None]) -> Step:
    """The step with its usage; steps are handed out in the order in which they began."""
    usage = usages.pop(0)
    return msgspec.structs.replace(step, usage=usage) if usage else step


def _result(message: dict[str, Any], source: Source, chat: Chat) -> Step | None:
    exit_code = whole(obj(message.get("details")).get("exitCode"))
    if chat.builder is None or exit_code is None:
        return chat.feed(message, source)
    is_error = flag(message.get("isError"))
    text = text_of(message.get("content"))
    chat.builder.observe(text, string(message.get("toolCallId")), is_error=is_error, exit_code=exit_code)
    return None


def _shell(message: dict[str, Any], source: Source, chat: Chat) -> Step | None:
    """A command that the user ran between two turns; with `!!` the agent was not shown it."""
    if message.get("excludeFromContext") is True:
        return None
    text = f"$ {text_of(message.get('command'))}\n{text_of(message.get('output'))}"
    if chat.builder is None:
        return chat.feed({"role": "system", "content": text}, source)
    chat.builder.observe(text, origin="user", exit_code=whole(message.get("exitCode")))
    return None


def _harness(content: Any, chat: Chat) -> None:
    if text := text_of(content):
        _observe(chat, text)


def _observe(chat: Chat, text: str, is_error: bool | None = None) -> None:
    if chat.builder is not None:
        chat.builder.observe(text, origin="system", is_error=is_error)
