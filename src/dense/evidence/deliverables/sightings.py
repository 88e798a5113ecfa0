"""Where a text names a file: as a whole word and, if it gives a path, with a path that may be the same file."""

from __future__ import annotations

from string import ascii_letters, digits

from dense.evidence.facts.paths import base_name, same_file

MAX_PATH_CHARS = 400
PATH_ENDS = frozenset(" \t\r\n\0'\"`=,;:()|&<>[]、，。：；（）「」『』“”│")
"""Characters that end a path in running text."""
WORD_CHARS = frozenset(ascii_letters + digits + "_-~")
"""Characters that make a longer word of a name: `my-out.csv`, `out.csv~`."""


def is_named(text: str, path: str) -> bool:
    """Whether a text names a file."""
    return count_sightings(text, path, 1) > 0


def count_sightings(text: str, path: str, most: int) -> int:
    """How often a text names a file, by its name alone or by a path that may be its own; counted up to `most`."""
    name = base_name(path)
    count = 0
    at = text.find(name)
    while at >= 0 and count < most:
        end = at + len(name)
        if not _is_inside_word(text, at, end):
            start = at
            while start and text[start - 1] not in PATH_ENDS and at - start < MAX_PATH_CHARS:
                start -= 1
            count += _may_be(text[start:end], path)
        at = text.find(name, end)
    return count


def _may_be(written: str, path: str) -> bool:
    """Whether a path as it is written may be a file; a diff writes `a/` or `b/` before it."""
    if ("/" not in written and "\\" not in written) or same_file(written, path):
        return True
    return written[:2] in ("a/", "b/") and _may_be(written[2:], path)


def _is_inside_word(text: str, at: int, end: int) -> bool:
    """Whether a name is part of a longer word: `output.csv` in `expected_output.csv`, in `output.csv.bak`."""
    if at and (text[at - 1] in WORD_CHARS or text[at - 1] == "."):
        return True
    after = text[end : end + 2]
    if after[:1] in WORD_CHARS:
        return True
    return after[:1] == "." and (after[1:].isalnum() or after[1:] == "_")
