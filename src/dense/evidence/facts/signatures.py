"""The signature of an action: its calls as text, equal for two actions that do the same."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

from dense.knowledge.tools import SHELLS
from dense.trajectory import ToolCall

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
    if set(text).isdisjoint("\n'\""):
        text = " ".join(text.split())
    text = text.replace(" 2>&1", "").replace(" 2>/dev/null", "")
    before, _, last = text.rpartition("|")
    return (before if CUT_OUTPUT.match(last) else text).rstrip(" ;")


def _value_text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else repr(value)[:MAX_VALUE_CHARS]
    except (RecursionError, ValueError):  # nested too deep, an integer too long to print
        return type(value).__name__
