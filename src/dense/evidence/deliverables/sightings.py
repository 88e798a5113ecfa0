"""Where a text names a file: as a whole word, and, where it gives a path, with a path that may be the same file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dense.evidence.facts.paths import base_name, same_file

MOST = 500
"""How many places of one text are looked at."""
LONGEST = 400
"""How far a path reaches back from its last part."""
STOPS = frozenset(" \t\r\n\0'\"`=,;:()|&<>[]、，。：；（）「」『』“”│")
"""What no path is written with here: where the one before a name begins."""
STOPS_OR_END = STOPS | {""}
OPEN = frozenset("$*?{}%")
"""What stands for something that the text does not tell."""
WITHIN = frozenset("_-.~")
"""What, beside letters and figures, makes a longer word of a name: `my-out.csv`, `out.csv~`."""


class Sighting(NamedTuple):
    """One place in a text where a file's name stands."""

    at: int
    path: str
    """With the folders before it, as they are written; only the name where there are none."""
    is_same: bool
    """Whether it may be the file that is looked for."""


def sightings(text: str, wanted: str, first: int = 0) -> Iterator[Sighting]:
    """All places of a text that name a file as a whole word, whatever folders are written before it. `first`: where the
    first one may be, if that is known."""
    name = base_name(wanted)
    at = text.find(name, first)
    for _ in range(MOST):
        if at < 0:
            return
        end = at + len(name)
        if not _is_inside(text, at, end):
            start = at
            while start and text[start - 1] not in STOPS and at - start < LONGEST:
                start -= 1
            if start > 1 and text[start - 1] == ":" and text[start : start + 1] in "/\\" and text[start - 2].isalpha():
                start -= 2 if start == 2 or not text[start - 3].isalnum() else 0  # the letter of a drive
            path = text[start:end]
            yield Sighting(start, path, may_be(path, wanted))
        at = text.find(name, end)


def is_named(text: str, wanted: str) -> bool:
    """Whether a text names a file, by a path that may be its own."""
    return any(one.is_same for one in sightings(text, wanted))


def count(text: str, wanted: str) -> int:
    """How often it does."""
    return sum([one.is_same for one in sightings(text, wanted)])


def is_named_more(texts: Sequence[tuple[str, int]], wanted: str, often: int, with_folder: bool = False) -> bool:
    """Whether texts, each with the place where the name stands first, name a file more often than so many times; with
    a folder each time, or however."""
    for text, first in texts:
        if not often and _is_exact(text, first, wanted):
            return not with_folder or "/" in wanted  # most are like this
        for one in sightings(text, wanted, first):
            if one.is_same and (not with_folder or "/" in one.path):
                often -= 1
                if often < 0:
                    return True
    return False


def _is_exact(text: str, first: int, wanted: str) -> bool:
    """Whether the name that stands at a place of a text is the end of the whole path, as it is wanted, and a word."""
    start = first + len(base_name(wanted)) - len(wanted)
    if start < 0 or not text.startswith(wanted, start) or (start and text[start - 1] not in STOPS):
        return False
    return text[start + len(wanted) : start + len(wanted) + 1] in STOPS_OR_END


def may_be(path: str, wanted: str) -> bool:
    """Whether a path as it is written in a text may be a file. A home folder is none of those where tasks are set,
    and a path with a part that the text does not tell may be anything."""
    if path == wanted or "/" not in path.replace("\\", "/"):
        return True
    if same_file(path, wanted):
        return not (path[0] == "~" and wanted[0] == "/" and not wanted.startswith(HOMES))
    folders = path[: -len(base_name(path))]
    if not OPEN.isdisjoint(folders) or folders == "/" or "/../" in folders:
        return True
    if folders.startswith("/private/"):
        return same_file(path[len("/private") :], wanted)
    return folders[:2] in ("a/", "b/") and may_be(path[2:], wanted)  # as a diff writes it


HOMES = tuple(f"/{name}/" for name in ("root", "home", "Users", "app", "workspace"))
"""Folders that may be somebody's home."""


def _is_inside(text: str, at: int, end: int) -> bool:
    """Whether a name is only a part of a longer word: `output.csv` in `expected_output.csv`, in `output.csv.bak`."""
    before = text[at - 1] if at else " "
    if before in WITHIN or (before.isascii() and before.isalnum()):
        return True
    after = text[end : end + 2] or " "
    if after[0] in "_-~" or (after[0].isascii() and after[0].isalnum()):
        return True
    return after[0] == "." and len(after) > 1 and (after[1].isalnum() or after[1] == "_")
