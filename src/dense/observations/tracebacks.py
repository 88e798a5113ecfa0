"""Python's tracebacks: the last line is the one that tells."""

from __future__ import annotations

import re
from collections.abc import Iterator

START = "Traceback (most recent call last)"
RAISED = re.compile(r"(?:\w+\.)*[A-Za-z_]\w*(?:: [^\n]*|:?$)")
"""`ValueError: text`, `requests.exceptions.HTTPError: text`, `KeyboardInterrupt`."""
PREFIX = re.compile(r"(?:[\w. :,\[\]()-]{0,60}[|\]:] ?|[ \t]{0,40}(?:[|+] ?[-+ ]{0,40})?)$")
"""What loggers and `docker compose` put before each line."""
MOST_LINES = 400
"""Lines that are taken at once, and one by one behind them."""
FRAMES = re.compile(rf"(?:[ \t][^\n]*+\n){{0,{MOST_LINES}}}+")
MOST = 12
"""Tracebacks that are followed to their end in one text."""


def tracebacks(text: str) -> Iterator[tuple[int, str]]:
    """Where each traceback ends, and its last line. Of chained ones, each is told."""
    place = text.find(START)
    for _ in range(MOST):
        if place < 0:
            return
        begin = text.rfind("\n", 0, place) + 1
        after = text.find("\n", place)
        if after < 0:
            return
        found = last_line(text, after + 1, text[begin:place])
        if found is not None:
            yield found
        place = text.find(START, after)


def last_line(text: str, start: int, prefix: str) -> tuple[int, str] | None:
    """The first line behind the frames that is not indented, or where the text breaks off the traceback's own first
    line; None where it is no traceback."""
    if not PREFIX.match(prefix):
        return None
    has_frames = False
    if not prefix and (frames := FRAMES.match(text, start)):  # in one go: they are most of its lines
        has_frames = 'File "' in frames[0]
        start = frames.end()
    for _ in range(MOST_LINES):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if prefix and line.startswith(prefix):
            line = line[len(prefix) :]
        if line.startswith((" ", "\t")):
            has_frames = has_frames or 'File "' in line
        elif line.strip():
            return (start, line.strip()) if has_frames and RAISED.match(line) else None
        if end < 0:
            return (start, START) if has_frames else None
        start = end + 1
    return None
