"""`cline`: sessions of Cline and the extensions that grew out of it (Roo Code, Kilo Code).

- Extensions: `globalStorage/<extension>/tasks/<id>/api_conversation_history.json`, a list of messages in Anthropic's
  blocks. The task is inside `<task>`, later words inside `<feedback>`; `<environment_details>` is the program's.
- Command line: `~/.cline/data/sessions/<id>/<id>.messages.json`, an object with `messages`; a prompt is inside
  `<user_input>`, and a result is a list of `{query, result, success}`, one for each command or file.

Without native tool calls, a call is XML in the text of the agent (`<execute_command><command>…`), and its result is
text of the user that begins with `[execute_command for '…'] Result:`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dense.readers.chat import AGENT_ROLES
from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.coding_agents.sessions import ChatSession, parts_of
from dense.readers.json_value import is_seq, obj, objs, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source

ENVIRONMENT = "<environment_details>"
TAGS = ("task", "user_message", "feedback", "answer", "user_input")
"""What a person wrote is inside one of these."""
TOOLS = frozenset(
    "execute_command read_file write_to_file replace_in_file apply_diff insert_content search_and_replace search_files"
    " list_files list_code_definition_names browser_action use_mcp_tool access_mcp_resource ask_followup_question"
    " attempt_completion plan_mode_respond new_task switch_mode update_todo_list fetch_instructions"
    " codebase_search".split()
)
RESULT = re.compile(r"\[(\w+)(?: for '[^\n]*')?\] Result:\n?")
EXITED = re.compile(r"\[Command exited with code (-?\d{1,9})\]\n*(?:\[stderr\]\n)?")


class Cline:
    name = "cline"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_session(obj(record)) for record in head[:1]) or any(map(_is_history, (head[:2], *head[:1])))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for record in records:
            document = obj(record.value)
            messages = record.value if is_seq(record.value) else document.get("messages")
            if messages is None:  # the messages themselves, one after the other
                yield from _Session(location).stream(_with(record, records))
                return
            session = _Session(location, record.source)
            session.id = string(document.get("sessionId"))
            session.version = string(obj(document.get("origin")).get("version"))
            sources = (Source(record.source.path, index=index) for index in range(len(messages)))
            yield from session.stream(map(TraceRecord, messages, sources))


def _with(first: TraceRecord, rest: Iterator[TraceRecord]) -> Iterator[TraceRecord]:
    yield first
    yield from rest


def _is_session(document: dict[str, Any]) -> bool:
    return is_seq(document.get("messages")) and "sessionId" in document and "origin" in document


def _is_history(messages: Any) -> bool:
    """Whether a list of messages begins as Cline's prompts do."""
    for message in objs(messages)[:2] if is_seq(messages) else ():
        texts = [string(part.get("text")) or "" for part in parts_of(message)] if message.get("role") == "user" else []
        if any(ENVIRONMENT in text for text in texts) and any(text.lstrip().startswith("<") for text in texts):
            return True
    return False


class _Session(ChatSession):
    name = Cline.name

    def default_id(self) -> str:
        return self.location.path.parent.name

    def __init__(self, location: TraceLocation, source: Source | None = None) -> None:
        super().__init__(location, source)
        self.is_result = False
        """Whether the next text is the result that was announced by itself."""

    def messages(self, line: dict[str, Any], source: Source) -> Iterable[dict[str, Any]]:
        del source
        about = {"role": line.get("role"), "timestamp": line.get("ts")}
        info, used = obj(line.get("modelInfo")), obj(line.get("metrics"))
        model = {"model": info.get("id") or info.get("modelId")} if info else {}
        if string(line.get("role")) in AGENT_ROLES:
            self.is_result = False
            content = [item for part in parts_of(line) for item in _act(part)]
            yield about | model | {"content": content, "usage": _usage(used)}
        else:
            yield about | {"content": [item for part in parts_of(line) if (item := self.heard(part))]}

    def heard(self, part: dict[str, Any]) -> dict[str, Any] | None:
        """What came back, or what a person said; None for what is the program's own."""
        if part.get("type") == "tool_result":
            return _result(part)
        text = string(part.get("text")) or ""
        if text.lstrip().startswith(ENVIRONMENT):
            return None
        text = text.partition(f"\n{ENVIRONMENT}")[0]
        match = RESULT.match(text) if self.chat.builder is not None else None
        if match is not None or self.is_result:
            text = text[match.end() :] if match is not None else text
            self.is_result = not text.strip()
            return None if self.is_result else {"type": "tool_result", "content": text}
        for tag in TAGS:
            start, end = re.search(rf"<{tag}(?: [^<>\n]*)?>\n?", text), text.rfind(f"</{tag}>")
            if start is not None and end >= start.end():
                return part | {"text": text[start.end() : end].rstrip("\n")}
        return part if text else None


def _act(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part of the agent's message; text with a call in XML becomes both."""
    text = string(part.get("text"))
    if part.get("type") != "text" or not text or "</" not in text:
        yield part
        return
    for tool in TOOLS:
        start, end = text.find(f"<{tool}>"), text.rfind(f"</{tool}>")
        if 0 <= start < end:
            said = (text[:start] + text[end + len(tool) + 3 :]).strip()
            said = said.removeprefix("<thinking>").replace("</thinking>", "").strip()
            yield {"type": "text", "text": said}
            yield {"type": "tool_use", "name": tool, "input": _arguments(text[start + len(tool) + 2 : end])}
            return
    yield part


def _arguments(inside: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    offset = 0
    while (start := re.compile(r"<(\w+)>").search(inside, offset)) is not None:
        end = inside.find(f"</{start[1]}>", start.end())
        if end < 0:
            break
        arguments[start[1]] = inside[start.end() : end].strip("\n")
        offset = end
    return arguments or {"input": inside.strip()}


def _result(part: dict[str, Any]) -> dict[str, Any]:
    """The result of a call; the command line keeps one for each command or file that the call names."""
    items = objs(part.get("content"))
    if not items or not all("query" in item and "success" in item for item in items):
        return part
    texts: list[str] = []
    codes: list[int] = []
    for item in items:
        text = text_of(item.get("result")) or text_of(item.get("error"))
        if exited := EXITED.match(text):
            codes.append(int(exited[1]))
            text = text[exited.end() :]
        texts.append(text)
    is_error = True if any(item["success"] is False for item in items) else None
    is_command = part.get("name") == "run_commands"
    codes = codes or ([0] if is_command and not is_error else [])
    code = codes[0] if len(items) == 1 and codes else None
    return part | {"content": "\n".join(texts), "is_error": is_error, "exit_code": code}


def _usage(metrics: dict[str, Any]) -> dict[str, Any] | None:
    """Input counts what the cache served."""
    names = {"input": "inputTokens", "output": "outputTokens", "cacheRead": "cacheReadTokens"}
    counts = {key: count for key, name in names.items() if (count := whole(metrics.get(name))) is not None}
    written = whole(metrics.get("cacheWriteTokens"))
    if "input" in counts:
        counts["input"] = max(counts["input"] - counts.get("cacheRead", 0) - (written or 0), 0)
    if not counts:
        return None
    return counts | ({"cacheWrite": written} if written is not None else {})
