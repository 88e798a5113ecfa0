"""Small parts of English sentences: lists, counts, paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dense.evidence.actions.effects import UNNAMED
from dense.text.quoting import ticked_path

HEAD = 2000
"""How much of a text is looked at, from either end."""


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def sentence(clause: str) -> str:
    """A clause as a sentence, with one stop at its end."""
    return capital(clause) + ("" if clause[-1:] == "." or clause[-2:] in STOPS else ".")


STOPS = frozenset({'."', '?"', '!"', '…"'})
"""How what is quoted ends a sentence."""


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
    return listed([name if name == "the open file" else ticked_path(name) for name in kept.values()], most, "file")


def lines_told(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
