"""Text of a trace within a sentence of ours: on one line, in backticks or quotes, cut to a length.

It is data, and cannot pass for a sentence of ours. Texts are looked at from their ends only, so that one of any length
costs the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from dense.evidence.actions.programs.files import UNNAMED

HEAD = 2000
"""How much of a text is looked at, from either end."""
CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*\x07?|\x1b.?"
    r"|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Escapes of terminals, and characters that are not seen or that turn the direction of a text."""


def one_line(text: str, limit: int) -> str:
    """A text on one line, without control characters, cut at a word."""
    line = text[: limit + 1]
    is_all = True
    if not line.isprintable() or "  " in line or line != line.strip():  # else it is one line as it stands
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


def flat(text: str) -> str:
    """A text on one line with one blank between words; most commands are so as they stand."""
    return text.strip() if "  " not in text and text.isprintable() else " ".join(text.split())


def ticked(text: str, limit: int = 80) -> str:
    """A name, a command or an output in backticks, whatever backticks it has itself."""
    line = one_line(text, limit)
    if "`" not in line:
        return f"`{line}`"
    return f"`` {line} ``" if "``" not in line else f"`{line.replace('`', chr(39))}`"


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def sentence(clause: str) -> str:
    """A clause as a sentence, with one stop at its end."""
    return capital(clause) + ("" if clause[-1:] == "." or clause[-2:] in STOPS else ".")


STOPS = frozenset({'."', '?"', '!"', '…"'})
"""How what is quoted ends a sentence."""


def quoted(text: str, limit: int = 80) -> str:
    """What somebody said, in quotes."""
    return '"' + one_line(text, limit).replace('"', "'") + '"'


def listed(items: Sequence[str], most: int = 3, noun: str = "") -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 4 more`; of what there is more, where it is named."""
    if len(items) == 1:
        return items[0]
    if len(items) > most:
        return f"{', '.join(items[: most - 1])} and {more(len(items) - most + 1, noun)}"
    return f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def more(count: int, noun: str = "") -> str:
    """`4 more`, `1 more file`, `4 more files`."""
    return f"{count} more {noun}{'s' if count > 1 else ''}" if noun else f"{count} more"


def paths_told(paths: Iterable[str], most: int = 3) -> str:
    """Paths, each once: `/app/a.py` and `a.py` are told as one."""
    kept: dict[str, str] = {}
    for path in paths:
        name = path.rstrip("/").rpartition("/")[2] or path
        if path == UNNAMED:
            kept[name] = "the open file"
        elif name not in kept or len(path) > len(kept[name]):
            kept[name] = path
    return listed([name if name == "the open file" else path_told(name) for name in kept.values()], most, "file")


def path_told(path: str, limit: int = 60) -> str:
    """A path in backticks; of a long one the end, since the name stands there."""
    if len(path) <= limit:
        return ticked(path, limit)
    end = path[1 - limit :]
    slash = end.find("/")
    return ticked("…" + (end[slash:] if 0 <= slash < limit // 2 else end), limit)


def lines_told(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def line_count(text: str) -> int:
    return text.count("\n") + (text[-1:] != "\n")


def last_line(text: str) -> str:
    return text[-HEAD:].rstrip().rpartition("\n")[2].strip()


def plain_text(value: Any) -> str:
    """An argument as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(plain_text(one) for one in cast("list[Any]", value)[:5])
    if value is None or isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return str(cast("object", value))[:300]
