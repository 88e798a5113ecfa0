"""Python's tracebacks: the last line is the one that tells."""

from __future__ import annotations

import re

START = "Traceback (most recent call last)"
RAISED = re.compile(r"(?:\w+\.)*[A-Za-z_]\w*(?:: [^\n]*|:?$)")
"""`ValueError: text`, `requests.exceptions.HTTPError: text`, `KeyboardInterrupt`."""
PREFIX = re.compile(r"(?:[\w. :,\[\]()-]{0,60}[|\]:] ?|[ \t]{0,40}(?:[|+] ?[-+ ]{0,40})?)$")
"""What loggers and `docker compose` put before each line."""
AFTER_FRAMES = re.compile(r"\n[^ \t\n]")
"""Where the frames of a traceback end that has nothing before its lines: they are indented."""
MOST_LINES = 400
"""Lines that are looked at one by one."""
MOST = 12
"""Tracebacks that are followed to their end in one text."""


def tracebacks(text: str) -> dict[int, str]:
    """Where the last line of each traceback begins, and that line. Of chained ones, each is told."""
    lines: dict[int, str] = {}
    place = text.find(START)
    for _ in range(MOST):
        after = text.find("\n", place) if place >= 0 else -1
        if after < 0:
            break
        begin = text.rfind("\n", 0, place) + 1
        found = last_line(text, after + 1, text[begin:place])
        if found is not None:
            lines[found[0]] = found[1]
        place = text.find(START, after)
    return lines


def last_line(text: str, start: int, prefix: str) -> tuple[int, str] | None:
    """The first line behind the frames that is not indented, or where the text breaks off the traceback's own first
    line; None where it is no traceback."""
    has_frames = False
    if not prefix:  # in one go: frames are most of its lines
        after = AFTER_FRAMES.search(text, start - 1)
        behind = 1 + (after.start() if after else text.rfind("\n"))
        has_frames = text.find('File "', start, behind) >= 0
        start = behind
    elif not PREFIX.match(prefix):
        return None
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
