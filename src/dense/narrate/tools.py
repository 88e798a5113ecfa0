"""Calls of tools in a few words, by the tables of tools that the effects come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from dense.evidence.actions.effects import UNNAMED
from dense.evidence.actions.tool_calls import ParsedCall, is_shell, parse_call
from dense.knowledge.tools import (
    ADDRESS_KEYS,
    CODE_KEYS,
    NEW_TEXT_KEYS,
    OLD_TEXT_KEYS,
    PATCH_KEYS,
    PATH_KEYS,
    PATTERN_KEYS,
    QUERY_KEYS,
    SOURCE_KEYS,
    TARGET_KEYS,
    TEXT_KEYS,
)
from dense.narrate.inline_programs import on_what
from dense.narrate.messages import said
from dense.narrate.quoting import HEAD, lines_told, paths_told
from dense.text.quoting import line_count, one_line, plain_text, quoted, ticked
from dense.trajectory import Step

POINTED_KEYS = (
    "element",
    "text",
    "label",
    "name",
    "selector",
    "bid",
    "ref",
    "index",
    "coordinate",
    "id",
    "uid",
    "target",
)
TYPED_KEYS = ("text", "value", "content", "input", "keys", "key")
TOUCHES = (
    ("click", "clicked"),
    ("hover", "pointed at"),
    ("select", "selected"),
    ("scroll", "scrolled"),
    ("screenshot", "took a screenshot"),
    ("snapshot", "looked at the page"),
    ("goback", "went back"),
)


def tool_deeds(step: Step, *, is_mixed: bool) -> Iterator[str]:
    for call in step.calls[:8]:
        tool = parse_call(call)
        if not (is_mixed and is_shell(tool)):
            yield tool_deed(tool, step)


def tool_deed(tool: ParsedCall, step: Step) -> str:
    """What one call of a tool did, by the tables of tools that the effects come from."""
    kind = tool.kind
    paths = paths_told(tool.texts(PATH_KEYS))
    if kind == "look" or (kind == "editor" and tool.text(("command", "action")) == "view"):
        return looked(tool, paths)
    if kind in ("write", "editor"):
        return wrote(tool, paths)
    if kind == "patch":
        return f"edited {paths_told(patched(tool))}"
    if kind == "delete":
        return f"deleted {paths}"
    if kind == "move":
        return f"moved {paths_told(tool.texts(SOURCE_KEYS))} to {paths_told(tool.texts(TARGET_KEYS))}"
    if kind == "ask" or tool.text(ADDRESS_KEYS):
        return asked(tool)
    if kind == "python":
        return ran_code(tool, step)
    if kind == "talk":
        return silent(tool, step)
    return touched(tool) or called(tool)


def looked(tool: ParsedCall, paths: str) -> str:
    pattern = tool.text(PATTERN_KEYS)
    if pattern:
        return f"searched for {ticked(pattern, 50)}" + (f" in {paths}" if paths else "")
    if "lists" in tool.tool.traits:
        return f"listed {paths or 'the folder'}"
    return f"read {paths}" if paths else called(tool)


def wrote(tool: ParsedCall, paths: str) -> str:
    """A write or an edit; a short edit is told in full, since it is what a rerun needs."""
    change = change_told(tool)
    if change:
        return f"edited {paths or 'the open file'} ({change})"
    text = tool.text(TEXT_KEYS)
    is_edit = any(key in tool.arguments for key in OLD_TEXT_KEYS) or "edit" in tool.plain or "insert" in tool.plain
    if text is not None and not (is_edit and tool.kind != "editor"):
        return f"wrote {paths or 'a file'} ({lines_told(line_count(text))})"
    return f"{'edited' if is_edit or text is None else 'wrote'} {paths or 'the open file'}"


def change_told(tool: ParsedCall, limit: int = 44) -> str:
    """`old` → `new`, where both are short."""
    old, new = tool.text(OLD_TEXT_KEYS), tool.text(NEW_TEXT_KEYS)
    if not old or new is None or len(old) > limit or len(new) > limit or "\n" in old.strip() or "\n" in new.strip():
        return ""
    return f"{ticked(old.strip(), limit)} → {ticked(new.strip(), limit)}" if new.strip() else f"without {ticked(old)}"


PATCHED = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)([^\n\t]{1,300})", re.MULTILINE)


def patched(tool: ParsedCall) -> list[str]:
    text = tool.text(PATCH_KEYS) or ""
    return PATCHED.findall(text[:20_000]) or tool.texts(PATH_KEYS) or [UNNAMED]


def asked(tool: ParsedCall) -> str:
    address = tool.text(ADDRESS_KEYS)
    if address:
        return f"opened {ticked(address, 90)}"
    query = tool.text(QUERY_KEYS)
    return f"searched the web for {quoted(query, 80)}" if query else called(tool)


def ran_code(tool: ParsedCall, step: Step) -> str:
    """Code given to an interpreter: one line as it stands, more of them by what they are for."""
    code = (tool.text(CODE_KEYS) or "").strip()
    lines = [line for line in code[-HEAD:].split("\n") if line.strip() and not line.lstrip().startswith(("#", "```"))]
    count = code.count("\n") + 1
    if count == 1:
        return f"ran Python {ticked(lines[-1].strip(), 70) if lines else 'nothing'}"
    message = step.message if len(step.calls) == 1 else ""
    return on_what(f"ran {count} lines of Python", "\n".join(lines), (), message)


def silent(tool: ParsedCall, step: Step) -> str:
    """Tools that touch only the conversation."""
    words = tool.text(
        ("description", "prompt", "task", "instruction", "instructions", "thought", "question", "message")
    )
    if "delegates" in tool.tool.traits:
        return f"started an agent for {quoted(words or '', 80)}" if words else "started an agent"
    if "todo" in tool.plain or "plan" in tool.plain or tool.plain.startswith("task"):
        return "updated the plan"
    if words:
        verb = "asked the user" if "ask" in tool.plain else "noted" if tool.plain == "think" else "said"
        return f"{verb} {quoted(words, 80)}"
    return said(step) if step.message.strip() else f"called {ticked(tool.name, 40)}"


def touched(tool: ParsedCall) -> str:
    """What was done to a page."""
    if "type" in tool.plain or "fill" in tool.plain:
        text = plain_text(next((value for key in TYPED_KEYS if (value := tool.arguments.get(key))), None))
        return f"typed {quoted(text, 50)}{pointed(tool, ' into ', skip='text')}" if text else ""
    for sign, verb in TOUCHES:
        if sign in tool.plain:
            return verb if verb.startswith(("took", "looked", "went")) else f"{verb}{pointed(tool, ' ')}"
    return ""


def pointed(tool: ParsedCall, before: str, skip: str = "") -> str:
    found = next(
        (value for key in POINTED_KEYS if key != skip and (value := tool.arguments.get(key)) is not None), None
    )
    return f"{before}{quoted(plain_text(found), 50)}" if found is not None else ""


def called(tool: ParsedCall) -> str:
    """Any other tool, by its name and its short arguments."""
    name = tool.name.split("__")[-1] or tool.name
    arguments = [(key, compact(value)) for key, value in list(tool.arguments.items())[:MOST_ARGUMENTS]]
    if len(arguments) == 1 and len(arguments[0][1]) > 60:
        return f"called {ticked(name, 40)} with {quoted(arguments[0][1], 90)}"
    short = ", ".join(f"{key}={one_line(text, 50)}" for key, text in arguments if text)
    return f"called {ticked(f'{name}({short})' if short else name, LONGEST_CALL)}"


MOST_ARGUMENTS = 10
LONGEST_CALL = 220
"""A call of a tool of the task's own is told almost in full: its arguments are what is booked or sent."""


def compact(value: Any) -> str:
    """An argument as text; of a list of records the values alone."""
    if not isinstance(value, list):
        return plain_text(value)
    return "; ".join(
        " ".join(map(plain_text, list(cast("dict[str, Any]", one).values())[:6]))
        if isinstance(one, dict)
        else plain_text(one)
        for one in cast("list[Any]", value)[:5]
    )
