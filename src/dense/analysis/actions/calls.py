"""The calls of a step by the names that tools are known by, and the shell texts among them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from dense.analysis.actions.shell.command import strip_wrappers
from dense.knowledge.programs import UNKNOWN as NO_PROGRAM
from dense.knowledge.programs import known_program, program_name
from dense.knowledge.tools import COMMAND_KEYS, KEY_PRESS, SHELL_FENCES, SHELL_NAME, Kind, Tool, known_tool, plain_name
from dense.trajectory import ToolCall

FENCE = re.compile(r"```(\w*+)[^\n`]*+\n(.*?)```", re.DOTALL)
"""Possessive, and no backtick behind the language: any number of fences that are none is passed over once."""
MAX_COMMAND_CHARS = 400
"""So much of an argument shows whether it is a command line."""


class ParsedCall(Struct, frozen=True, gc=False):
    """A tool's call with the name that the tool is known by."""

    name: str
    plain: str
    """The name as the rows of tools have it."""
    arguments: dict[str, Any]
    """By names in small letters."""
    tool: Tool
    """What is known of the tool."""

    @property
    def kind(self) -> Kind:
        return self.tool.kind

    def text(self, keys: Sequence[str]) -> str | None:
        """The first argument that has one of these names, as a text."""
        return next(iter(self.texts(keys)), None)

    def texts(self, keys: Sequence[str]) -> list[str]:
        """The first argument that has one of these names, as texts."""
        for key in filter(self.arguments.__contains__, keys):
            value = self.arguments[key]
            if isinstance(value, str):
                return [value]
            if isinstance(value, list):
                texts = [item for item in cast("list[Any]", value) if isinstance(item, str)]
                if texts:
                    return texts
        return []

    @property
    def fences(self) -> list[tuple[str, str]]:
        """The fenced blocks in a message to an agent: language and code."""
        return FENCE.findall(self.text(("input", "message", "content")) or "")


def parse_call(call: ToolCall) -> ParsedCall:
    arguments = call.arguments
    if len(arguments) == 1 and isinstance(text := arguments.get("input"), str) and text.startswith("{"):
        arguments = _decoded(text) or arguments
    plain = plain_name(call.name)
    return ParsedCall(call.name, plain, {key.lower(): value for key, value in arguments.items()}, known_tool(plain))


def _decoded(text: str) -> dict[str, Any] | None:
    """Arguments that were recorded as JSON text."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def is_shell(call: ParsedCall) -> bool:
    kind = call.tool.kind
    if kind == "chat_terminal":
        return any(language in SHELL_FENCES for language, _ in call.fences)
    if kind:
        return kind == "shell"
    text = " ".join(call.texts(("command", "cmd")) + call.texts(("args",)))
    return bool(text) and (SHELL_NAME.search(call.name.lower()) is not None or _is_command(text))


def _is_command(text: str) -> bool:
    """Whether a text is a command line: it begins with a program that is known."""
    words = strip_wrappers(text[:MAX_COMMAND_CHARS].split())
    return len(words) > 1 and known_program(program_name(words[0])) is not NO_PROGRAM


def shell_text(call: ParsedCall) -> str | None:
    """The shell text that a shell tool was given."""
    if call.tool.kind == "chat_terminal":
        return "\n".join(code for language, code in call.fences if language in SHELL_FENCES)
    for key in filter(call.arguments.__contains__, COMMAND_KEYS):
        value = call.arguments[key]
        if isinstance(value, str):
            is_typed = key in ("keystrokes", "chars", "keys") or "types" in call.tool.traits
            return _typed(value) if is_typed else without_fence(value)
        if isinstance(value, list) and value:
            return _joined_words(list(map(str, cast("list[Any]", value))))
    return None


def without_fence(text: str) -> str:
    """Without the fence that a chat puts around code."""
    match = FENCE.search(text) if "```" in text and text.lstrip().startswith("```") else None
    return match[2] if match else text


def _joined_words(words: list[str]) -> str:
    """`["bash", "-lc", "…"]` is the text itself; a list of commands is a text of several lines."""
    name = program_name(words[0])
    if len(words) >= 3 and "shell" in known_program(name).traits and re.match(r"-[a-z]*c$", words[1]):
        return words[2]
    return "\n".join(words) if " " in words[0] or "\n" in words[0] else shlex.join(words)


# Terminals


def _typed(keys: str) -> str:
    """What was typed into a terminal, without the line feed that ends it; nothing if only keys were pressed."""
    text = keys.rstrip("\r\n")
    return "" if KEY_PRESS.match(text.strip()) else text


def calls_and_texts(calls: Sequence[ToolCall]) -> Iterator[ParsedCall | str]:
    """The calls of a step, those of shells as their texts."""
    for call in map(parse_call, calls):
        if not is_shell(call):
            yield call
        elif (text := shell_text(call)) and text.strip():
            yield text


def background_texts(calls: Sequence[ToolCall]) -> list[str]:
    """Commands that a harness was asked to leave running."""
    return [
        text.strip()
        for call in calls
        for key in BACKGROUND_KEYS.intersection(call.arguments)
        if call.arguments[key] is True and (text := shell_text(parse_call(call)))
    ]


BACKGROUND_KEYS = frozenset(["run_in_background", "is_background"])
