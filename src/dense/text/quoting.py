"""Text of a trace on one line: in backticks or quotes, without control characters, clipped.

Only the ends of a text are read, so the cost does not depend on its length."""

from __future__ import annotations

import re
from typing import Any, cast

MAX_LAST_LINE_CHARS = 2000
CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*\x07?|\x1b.?"
    r"|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Terminal escapes, and characters that are invisible or change the direction of a text."""


def one_line(text: str, limit: int) -> str:
    """A text on one line, without control characters, clipped at a word if it is longer than the limit."""
    line = text[: limit + 1]
    is_all = True
    if not line.isprintable() or "  " in line or line != line.strip():
        reach = 4 * limit + 80
        head = text[:reach]
        if not head.isprintable():
            head = CONTROL.sub(" ", head)
        line = " ".join(head.split())
        is_all = len(text) <= reach
    if len(line) <= limit and is_all:
        return line
    if len(line) > limit:
        blank = line.rfind(" ", limit * 2 // 3, limit)
        line = line[: blank if blank > 0 else limit - 1]
    return line.rstrip(" ,;:.…") + "…"


def collapse_spaces(text: str) -> str:
    """A text on one line with one space between words."""
    return " ".join(text.split())


def code_span(text: str, limit: int = 80) -> str:
    """A text on one line in backticks, escaped if it has backticks itself."""
    line = one_line(text, limit)
    if "`" not in line:
        return f"`{line}`"
    return f"`` {line} ``" if "``" not in line else f"`{line.replace('`', chr(39))}`"


def path_span(path: str, limit: int = 60) -> str:
    """A path in backticks; a long one loses its beginning, because the name is at the end."""
    if len(path) <= limit:
        return code_span(path, limit)
    end = path[1 - limit :]
    slash = end.find("/")
    return code_span("…" + (end[slash:] if 0 <= slash < limit // 2 else end), limit)


def in_quotes(text: str, limit: int = 80) -> str:
    """A text on one line in double quotes."""
    return '"' + one_line(text, limit).replace('"', "'") + '"'


def line_count(text: str) -> int:
    return text.count("\n") + (text[-1:] != "\n")


def last_line(text: str) -> str:
    return text[-MAX_LAST_LINE_CHARS:].rstrip().rpartition("\n")[2].strip()


def as_text(value: Any) -> str:
    """An argument of a tool call as text; a long list or object is shortened."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(as_text(item) for item in cast("list[Any]", value)[:5])
    if value is None or isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return str(cast("object", value))[:300]
