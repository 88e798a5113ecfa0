"""Private keys between their BEGIN and END lines: whole, cut off at either end, or written on one line with `\\n` for
the line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.redact.rules.value_checks import has_mixed_case

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{30,}")
_BETWEEN = r"""(?:\\+[nrt]|[\s"'+>|,→])"""
"""What separates the lines of a key in files, diffs, listings with line numbers and source code."""
_BODY = re.compile(
    rf"(?:{_BETWEEN}++(?:[A-Za-z][A-Za-z-]{{2,20}}: [^\n\\\0]{{0,200}}+|[A-Za-z0-9+/=]++))*+{_BETWEEN}*+"
)
_LINES = re.compile(rf"(?:{_BETWEEN}{{1,12}}+(?:[0-9]{{1,4}}[\t →]{{1,4}}+)?[A-Za-z0-9+/=]{{20,}}+)++")
_WHOLE_LINE = re.compile(r"[ \t]*[A-Za-z0-9+/=]+[ \t\r]*")
_MAX_KEY_CHARS = 32_768
"""No key is longer."""


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Where the keys are. A line that only mentions a key, without one behind it, is left out."""
    begins = list(_BEGIN.finditer(text))
    limits = [*(later.start() for later in begins[1:]), len(text)][: len(begins)]
    done = 0
    for begin, limit in zip(begins, limits, strict=True):
        yield from _behind_ends(text, done, begin.start())
        end = _end_of(text, begin.end(), min(limit, begin.end() + _MAX_KEY_CHARS))
        if end is not None:
            yield begin.start(), end
        done = end or begin.end()
    yield from _behind_ends(text, done, len(text))


def _end_of(text: str, start: int, limit: int) -> int | None:
    """Where the key ends whose first line ended at `start`; None if there is no key."""
    body = _BODY.match(text, start, limit)
    end = _END.match(text, body.end() if body else start)
    if end:
        return end.end() if _has_material(text, start, end.start()) else None
    lines = _LINES.match(text, start, limit)
    return lines.end() if lines and _has_material(text, start, lines.end()) else None


def _has_material(text: str, start: int, end: int) -> bool:
    return any(has_mixed_case(found[0]) for found in _MATERIAL.finditer(text, start, end))


def _behind_ends(text: str, start: int, limit: int) -> Iterator[tuple[int, int]]:
    """Keys whose beginning was cut off: whole lines of base64 right before an END line."""
    for end in _END.finditer(text, start, limit):
        first = end.start()
        while first > start:
            line = text.rfind("\n", max(start, first - 201), first - 1) + 1 or start
            if first - line > 200 or not _WHOLE_LINE.fullmatch(text, line, first - 1):
                break
            first = line
        if _has_material(text, first, end.start()):
            yield first, end.end()
        start = end.end()
