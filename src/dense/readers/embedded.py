"""Calls that an agent wrote into the text of its message, because its scaffold has no tool calls.

Each function takes a message and gives the rest of the text and the calls that were in it, or None if this is not its
way of writing. The command inside a call is the text's own, byte for byte."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from dense.readers.content import text_of
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import flag, is_obj, objs
from dense.trajectory import ToolCall


class Spoken(NamedTuple):
    """A message, split into what was said and what was called."""

    text: str
    calls: list[ToolCall]


_FENCE = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n")
_FENCE_END = re.compile(r"\n?```[ \t]*(?=\n|\Z)")


def bash_fence(message: str) -> Spoken | None:
    """One shell block between the fences of Markdown (mini-swe-agent 1). Two are an error there, so no call was
    made."""
    start = _line_match(_FENCE, message, 0)
    end = _line_match(_FENCE_END, message, start.end()) if start else None
    if start is None or end is None or _line_match(_FENCE, message, end.end()):
        return None
    text = (message[: start.start()] + message[end.end() :]).strip()
    return Spoken(text, [ToolCall("bash", {"command": message[start.end() : end.start()]})])


def _line_match(pattern: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    """The first match at the beginning of a line. Looked for by its backticks: a pattern that tries every line is
    slow."""
    while (place := text.find("```", start)) >= 0:
        if place == 0 or text[place - 1] == "\n":
            # The newline before a closing fence belongs to the fence, unless the block is empty.
            newline = place - 1 if pattern is _FENCE_END and place > start else place
            if match := pattern.match(text, newline):
                return match
        start = place + 3
    return None


_XML_CALL = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


def function_xml(message: str) -> Spoken | None:
    """`<function=name><parameter=key>value</parameter></function>` (OpenHands and SWE-agent without function
    calling)."""
    if "<function=" not in message:
        return None
    calls = [ToolCall(m[1], dict(_XML_PARAMETER.findall(m[2]))) for m in _XML_CALL.finditer(message)]
    return Spoken(_XML_CALL.sub("", message).strip(), calls) if calls else None


def terminus(message: str) -> Spoken | None:
    """Terminus-2's raw answer: JSON or XML with analysis, plan, keystrokes and whether the task is complete."""
    if '"commands"' in message and (start := message.find("{")) >= 0:
        return _terminus_json(message[start : message.rfind("}") + 1])
    if "<keystrokes" in message:
        return _terminus_xml(message)
    return None


def _terminus_json(text: str) -> Spoken | None:
    try:
        answer: Any = decode(text.encode())[0]
    except BadJson:
        return None
    if not is_obj(answer) or not isinstance(answer.get("commands"), list):
        return None
    calls = [ToolCall("bash_command", command) for command in objs(answer["commands"])]
    if flag(answer.get("task_complete")):
        calls.append(ToolCall("mark_task_complete"))
    return Spoken(_analysis_and_plan(text_of(answer.get("analysis")), text_of(answer.get("plan"))), calls)


_XML_FIELD = re.compile(r"<(analysis|plan|task_complete)>\n?(.*?)\n?</\1>", re.DOTALL)
_KEYSTROKES = re.compile(r"<keystrokes([^>]*)>(.*?)</keystrokes>", re.DOTALL)
_DURATION = re.compile(r"duration=[\"']([\d.]+)[\"']")


def _terminus_xml(text: str) -> Spoken:
    fields = dict(_XML_FIELD.findall(text))
    calls: list[ToolCall] = []
    for attributes, keystrokes in _KEYSTROKES.findall(text):
        arguments: dict[str, Any] = {"keystrokes": keystrokes}
        if duration := _DURATION.search(attributes):
            arguments["duration"] = duration[1]
        calls.append(ToolCall("bash_command", arguments))
    if fields.get("task_complete", "").strip() == "true":
        calls.append(ToolCall("mark_task_complete"))
    return Spoken(_analysis_and_plan(fields.get("analysis", ""), fields.get("plan", "")), calls)


def _analysis_and_plan(analysis: str, plan: str) -> str:
    """As Harbor writes them when it converts the answer itself."""
    return "\n".join(f"{name}: {text}" for name, text in (("Analysis", analysis), ("Plan", plan)) if text)
