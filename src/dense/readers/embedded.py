"""Calls that an agent wrote into the text of its message, because its scaffold has no tool calls.

Each function takes a message and gives the rest of the text and the calls that were in it, or None if this is not its
way of writing. The command inside a call is the text's own, byte for byte.

A message may be anything, also long and hostile: no pattern here looks for an end that may be missing, since it would
go through the rest of the text from every beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from dense.readers.content import text_of
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import flag, is_obj, is_seq, objs
from dense.trajectory import ToolCall


class Spoken(Struct, frozen=True, gc=False):
    """A message, split into what was said and what was called."""

    text: str
    calls: list[ToolCall]


_FENCE = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n")
_FENCE_END = "\n```"


def bash_fence(message: str) -> Spoken | None:
    """One shell block between the fences of Markdown (mini-swe-agent). Two are an error there, so no call was made.

    As the program does it, a block ends at the first line that begins with backticks, whatever follows them."""
    fence = _FENCE.search(message)
    if fence is None:
        return None
    start, inside = fence.span()
    end = message.find(_FENCE_END, inside)
    behind = end + len(_FENCE_END)
    if end < 0 or ("```" in message[behind:] and _has_block(message, behind)):
        return None
    said = (message[:start] + message[behind:]).strip()
    return Spoken(said, [ToolCall("bash", {"command": message[inside:end]})])


def _has_block(message: str, start: int) -> bool:
    fence = _FENCE.search(message, start)
    return fence is not None and message.find(_FENCE_END, fence.end()) >= 0


_XML_CALL = re.compile(r"<function=([^<>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>\n?")


def function_xml(message: str) -> Spoken | None:
    """`<function=name><parameter=key>value</parameter></function>` (OpenHands and SWE-agent without function
    calling)."""
    if "<function=" not in message:
        return None
    calls = [ToolCall(call[1], _parameters(call[2])) for call in _XML_CALL.finditer(message)]
    return Spoken(_XML_CALL.sub("", message).strip(), calls) if calls else None


def _parameters(text: str) -> dict[str, Any]:
    return {tag[1]: value.removesuffix("\n") for tag, value in _elements(text, _XML_PARAMETER, "</parameter>")}


def _elements(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[re.Match[str], str]]:
    """The elements with their content. Where no closing tag is left, there is no further element."""
    tag = opening.search(text)
    while tag and (end := text.find(closing, tag.end())) >= 0:
        yield tag, text[tag.end() : end]
        tag = opening.search(text, end + len(closing))


def terminus(message: str) -> Spoken | None:
    """Terminus-2's raw answer: JSON or XML with analysis, plan, keystrokes and whether the task is complete.

    Terminus-2 takes no answer without analysis and plan, and others write of commands too: without them it is none."""
    if '"commands"' in message and (start := message.find("{")) >= 0:
        return _terminus_json(message[start : message.rfind("}") + 1])
    if "<commands" in message:
        return _terminus_xml(message)
    return None


def _terminus_json(text: str) -> Spoken | None:
    try:
        answer: Any = decode(text.encode())[0]
    except BadJson:
        return None
    if not is_obj(answer) or not ({"analysis", "plan"} & answer.keys()) or not is_seq(answer.get("commands")):
        return None
    calls = [ToolCall("bash_command", command) for command in objs(answer["commands"])]
    if flag(answer.get("task_complete")):
        calls.append(ToolCall("mark_task_complete"))
    return Spoken(_analysis_and_plan(text_of(answer.get("analysis")), text_of(answer.get("plan"))), calls)


_KEYSTROKES = re.compile(r"<keystrokes([^<>]*)>")
_DURATION = re.compile(r"duration=[\"']([\d.]+)[\"']")


def _terminus_xml(text: str) -> Spoken | None:
    before, _, rest = text.partition("<commands")
    inside, _, after = rest.rpartition("</commands>")
    said = before + after
    analysis, plan = element(said, "analysis"), element(said, "plan")
    if not (analysis or plan):
        return None
    calls: list[ToolCall] = []
    for tag, keystrokes in _elements(inside or rest, _KEYSTROKES, "</keystrokes>"):
        arguments: dict[str, Any] = {"keystrokes": keystrokes}
        if duration := _DURATION.search(tag[1]):
            arguments["duration"] = duration[1]
        calls.append(ToolCall("bash_command", arguments))
    if element(said, "task_complete").strip() == "true":
        calls.append(ToolCall("mark_task_complete"))
    return Spoken(_analysis_and_plan(analysis, plan), calls)


def element(text: str, name: str) -> str:
    """What stands in the first element of this name, "" if there is none."""
    start = text.find(f"<{name}>")
    end = text.find(f"</{name}>", start)
    return text[start + len(name) + 2 : end].removeprefix("\n").removesuffix("\n") if 0 <= start < end else ""


def _analysis_and_plan(analysis: str, plan: str) -> str:
    """As Harbor writes them when it converts the answer itself."""
    return "\n".join(f"{name}: {text}" for name, text in (("Analysis", analysis), ("Plan", plan)) if text)
