"""An action's calls as text, such that two actions that do the same have the same."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

from dense.evidence.facts.families import LONGEST
from dense.knowledge.tools import SHELLS
from dense.trajectory import ToolCall

CUT_OUTPUT = re.compile(r" ?(?:head|tail)(?: -n)?(?: -?\d{1,6})?$")
LONGEST_GIST = 1000


def gist_of(calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str]) -> str:
    parts = [reduced(text) for text in texts]
    if not SHELLS.issuperset(names):
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS:
                parts.append(call.name)
                parts += [value if isinstance(value, str) else shown(value) for value in call.arguments.values()]
    gist = "\x1f".join(parts)
    if len(gist) <= LONGEST_GIST:
        return gist
    check = zlib.crc32(gist.encode("utf-8", "replace"))
    return f"{gist[: LONGEST_GIST // 2]}\x1f{len(gist)}\x1f{check}"


def shown(value: Any) -> str:
    try:
        return repr(value)[:LONGEST]
    except (RecursionError, ValueError):  # nested too deep, a number too long to be written
        return type(value).__name__


def reduced(text: str) -> str:
    """A command without what changes nothing. Long ones are taken as they are. Blanks at the beginning of a line or
    within quotes may be what an edit is about."""
    if len(text) > LONGEST_GIST:
        return text
    text = text.strip()
    has_blanks = "  " in text or not text.isprintable()  # others than single spaces
    if has_blanks and "\n" not in text and "'" not in text and '"' not in text:
        text = " ".join(text.split())
    if " 2>" in text:
        text = text.replace(" 2>&1", "").replace(" 2>/dev/null", "")
    if "|" in text:
        before, _, last = text.rpartition("|")
        text = before if CUT_OUTPUT.match(last) else text
    return text.rstrip(" ;")
