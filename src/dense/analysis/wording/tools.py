"""Calls of agent tools in a few words, by the table of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from dense.analysis.actions.calls import ParsedCall, is_shell, parse_call
from dense.analysis.actions.effects import UNNAMED
from dense.analysis.wording.commands import describe_program
from dense.analysis.wording.facets import describe_mechanism
from dense.analysis.wording.messages import describe_message
from dense.analysis.wording.phrases import OPEN_FILE, Clause, lines_text, paths_text
from dense.facets import Mechanism
from dense.knowledge import tools as known
from dense.knowledge.tools import SAID_KEYS
from dense.text.quoting import as_text, code_span, in_quotes, line_count, one_line
from dense.trajectory import Step

MAX_CALLS = 8
MAX_ARGUMENTS = 10
MAX_ARGUMENT_CHARS = 50
LONG_ARGUMENT_CHARS = 60
MAX_CALL_CHARS = 220
"""A call of a tool of the task's own is shown almost in full: its arguments are what is booked or sent."""
MAX_CHANGE_CHARS = 44
MAX_PATCH_CHARS = 20_000
MAX_CODE_CHARS = 2000
PATCHED_FILE = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)([^\n\t]{1,300})", re.MULTILINE)


class TextChange(Struct, frozen=True):
    """A text that an edit replaced by another one."""

    old: str
    new: str
    path: str = ""
    """The file, if it has to be named."""

    @property
    def text(self) -> str:
        """`old` → `new` in `a.py`."""
        return describe_mechanism(Mechanism(kind="edit", works=self.new, fails=self.old, path=self.path))


def describe_tools(step: Step, *, skip_shell: bool) -> Iterator[Clause]:
    """What the calls of a step did, each as a clause."""
    for call in step.calls[:MAX_CALLS]:
        tool = parse_call(call)
        if not (skip_shell and is_shell(tool)):
            yield _describe_tool(tool, step)


def _describe_tool(tool: ParsedCall, step: Step) -> Clause:
    kind = tool.kind
    paths = paths_text(tool.texts(known.PATH_KEYS))
    if kind == "look" or (kind == "editor" and tool.text(known.VERB_KEYS) == "view"):
        return _describe_look(tool, paths)
    if kind in ("write", "editor"):
        return _describe_edit(tool, paths, is_editor=kind == "editor")
    if kind == "patch":
        files = PATCHED_FILE.findall((tool.text(known.PATCH_KEYS) or "")[:MAX_PATCH_CHARS])
        return Clause("edit", paths_text(files or tool.texts(known.PATH_KEYS) or [UNNAMED]))
    if kind in ("delete", "move"):
        return Clause(kind, paths)
    if address := tool.text(known.ADDRESS_KEYS):
        return Clause("open", code_span(address, 90))
    if kind == "ask" and (query := tool.text(known.QUERY_KEYS)):
        return Clause("search the web for", in_quotes(query, 80))
    if kind == "python":
        return _describe_code(tool, step)
    return _describe_talk(tool, step) if kind == "talk" else _describe_call(tool)


def _describe_look(tool: ParsedCall, paths: str) -> Clause:
    if pattern := tool.text(known.PATTERN_KEYS):
        return Clause("search for", code_span(pattern, 50) + (f" in {paths}" if paths else ""))
    return Clause("read", paths) if paths else _describe_call(tool)


def _describe_edit(tool: ParsedCall, paths: str, *, is_editor: bool) -> Clause:
    """A write or an edit; a short edit in full, because a rerun needs it."""
    if change := text_change(tool, MAX_CHANGE_CHARS):
        return Clause("edit", paths or OPEN_FILE, change.text)
    text = tool.text(known.TEXT_KEYS)
    is_edit = (
        not tool.arguments.keys().isdisjoint(known.OLD_TEXT_KEYS) or "edit" in tool.plain or "insert" in tool.plain
    )
    if text is not None and (is_editor or not is_edit):
        return Clause("write", paths or "a file", lines_text(line_count(text)))
    return Clause("edit" if is_edit or text is None else "write", paths or OPEN_FILE)


def text_change(tool: ParsedCall, limit: int, path: str = "") -> TextChange | None:
    """What an edit replaced, if both texts are short and on one line."""
    old, new = tool.text(known.OLD_TEXT_KEYS), tool.text(known.NEW_TEXT_KEYS)
    if not old or new is None or max(len(old), len(new)) > limit or "\n" in old.strip() or "\n" in new.strip():
        return None
    return TextChange(old.strip(), new.strip(), path)


def _describe_code(tool: ParsedCall, step: Step) -> Clause:
    """Code given to an interpreter: one line as it is, more of them by what they are for."""
    code = (tool.text(known.CODE_KEYS) or "").strip()
    lines = [line for line in code[-MAX_CODE_CHARS:].split("\n") if not line.lstrip().startswith(("#", "```"))]
    message = step.message if len(step.calls) == 1 else ""
    return describe_program(
        f"{code.count(chr(10)) + 1} lines of Python", "\n".join(filter(str.strip, lines)), (), message
    )


def _describe_talk(tool: ParsedCall, step: Step) -> Clause:
    """Tools that touch only the conversation."""
    words, traits = tool.text(SAID_KEYS), known.known_tool(tool.plain).traits
    if "delegates" in traits:
        return Clause("start", f"an agent for {in_quotes(words, 80)}" if words else "an agent")
    if "plans" in traits or "plan" in tool.plain or "todo" in tool.plain or tool.plain.startswith("task"):
        return Clause("update", "the plan")
    if words:
        verb = "ask the user" if "ask" in tool.plain else "note" if tool.plain == "think" else "say"
        return Clause(verb, in_quotes(words, 80))
    return describe_message(step) if step.message.strip() else Clause("call", code_span(tool.name, 40))


def _describe_call(tool: ParsedCall) -> Clause:
    """Any other tool, by its name and its short arguments."""
    name = tool_name(tool)
    arguments = [(key, _argument_text(value)) for key, value in list(tool.arguments.items())[:MAX_ARGUMENTS]]
    if len(arguments) == 1 and len(arguments[0][1]) > LONG_ARGUMENT_CHARS:
        return Clause("call", f"{code_span(name, 40)} with {in_quotes(arguments[0][1], 90)}")
    short = ", ".join(f"{key}={one_line(text, MAX_ARGUMENT_CHARS)}" for key, text in arguments if text)
    return Clause("call", code_span(f"{name}({short})" if short else name, MAX_CALL_CHARS))


def tool_name(tool: ParsedCall) -> str:
    """A tool's name without the server in front of it."""
    return tool.name.split("__")[-1] or tool.name


def _argument_text(value: Any) -> str:
    """An argument as text; of a list of records the values alone."""
    if not isinstance(value, list):
        return as_text(value)
    items = cast("list[Any]", value)[:5]
    records = [list(cast("dict[str, Any]", one).values())[:6] if isinstance(one, dict) else [one] for one in items]
    return "; ".join(" ".join(map(as_text, record)) for record in records)
