"""What an action is about (files, packages, hosts, queries), its signature, and whether it turns to a new topic."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Literal

from dense.evidence.actions.effects import Effects
from dense.evidence.facts.paths import NO_TARGETS, normalise_path
from dense.knowledge.tools import PYTHONS, SHELLS, is_talk, known_tool
from dense.knowledge.words import words
from dense.text.search import contains_any
from dense.trajectory import Step, ToolCall

MAX_TARGETS = 24
MAX_COMMAND_CHARS = 300
"""How much of a command is searched for names."""
HOST = re.compile(r"(?:[a-z][a-z0-9+.-]{0,20}://)?(?:[^/@\s]{1,100}@)?([^/\s?#]{1,200})", re.IGNORECASE)


def targets_of(calls: Sequence[ToolCall], names: Sequence[str], effects: Effects) -> tuple[str, ...]:
    """Files first, changed before read; then packages and hosts; else the short arguments of a tool."""
    paths = effects.writes + effects.scripts + effects.deletes + tuple(_test_paths(effects.tests)) + effects.reads
    found = [name for path in paths[: 4 * MAX_TARGETS] if (name := normalise_path(path)) not in NO_TARGETS]
    found += [*effects.installs[:MAX_TARGETS], *map(host_of, effects.network[:MAX_TARGETS])]
    if not found:
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS and not is_talk(name) and name not in PYTHONS:
                values = islice(call.arguments.values(), 4)
                found += [value for value in values if isinstance(value, str) and 0 < len(value) <= 80]
    return tuple(dict.fromkeys(found))[:MAX_TARGETS]


def _test_paths(tests: Sequence[str]) -> Iterator[str]:
    for text in tests[:4]:
        for word in text[:MAX_COMMAND_CHARS].split()[1:]:
            path = word.partition("::")[0].strip("'\"`;")
            if path[:1] not in "-" and ("/" in path or "." in path[1:]) and "=" not in path and "://" not in path:
                yield path


def host_of(address: str) -> str:
    """The host of an address; a query as it is."""
    if " " in address or len(address) > 2000:
        return address[:200]
    found = HOST.match(address)
    return found[1].lower() if found else address[:200]


# The signature

CUT_OUTPUT = re.compile(r" ?(?:head|tail)(?: -n)?(?: -?\d{1,6})?$")
MAX_SIGNATURE_CHARS = 1000
MAX_VALUE_CHARS = 300


def signature_of(calls: Sequence[ToolCall], names: Sequence[str], commands: Sequence[str]) -> str:
    """A long signature is cut, with its length and a checksum behind it."""
    parts = [_reduced(text) for text in commands]
    for call, name in zip(calls, names, strict=True):
        if name not in SHELLS:
            parts += [call.name, *map(_value_text, call.arguments.values())]
    signature = "\x1f".join(parts)
    if len(signature) <= MAX_SIGNATURE_CHARS:
        return signature
    check = zlib.crc32(signature.encode("utf-8", "replace"))
    return f"{signature[: MAX_SIGNATURE_CHARS // 2]}\x1f{len(signature)}\x1f{check}"


def _reduced(text: str) -> str:
    """A command without what changes nothing. Blanks at the beginning of a line or within quotes may matter."""
    if len(text) > MAX_SIGNATURE_CHARS:
        return text
    text = text.strip()
    if "\n" not in text and "'" not in text and '"' not in text:
        text = " ".join(text.split())
    text = text.replace(" 2>&1", "").replace(" 2>/dev/null", "")
    before, _, last = text.rpartition("|")
    return (before if CUT_OUTPUT.match(last) else text).rstrip(" ;")


def _value_text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else repr(value)[:MAX_VALUE_CHARS]
    except (RecursionError, ValueError):  # nested too deep, an integer too long to print
        return type(value).__name__


# Changes of topic

TopicChange = Literal[0, 1, 2]
MAX_MESSAGE_CHARS = 240
"""How much of a message is read: it begins with what is done next."""
MAX_SENTENCES = 5
SENTENCE_END = re.compile(r"[.!?:\n。！？：]+")
MARKUP = " \t*_#>-\"'`(…—"
TURNS = tuple(words("turn"))


def topic_change_of(step: Step, names: Sequence[str]) -> TopicChange:
    """2 by an update of the plan, 1 by a word, 0 for none."""
    if not SHELLS.issuperset(names) and any("plans" in known_tool(name).traits for name in names):
        return 2
    text = (step.message or step.reasoning)[:MAX_MESSAGE_CHARS].lower()
    found = SENTENCE_END.split(text, MAX_SENTENCES) if contains_any(text, TURNS) else ()
    return 1 if any(one.lstrip(MARKUP).partition(" ")[0].rstrip(",;") in TURNS for one in found) else 0
