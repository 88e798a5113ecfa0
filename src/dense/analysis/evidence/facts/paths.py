"""Paths as commands, tasks and outputs write them: names, kinds of files, whether two are one, where one is named."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters, digits

from dense.analysis.actions.check_commands import is_test_file
from dense.knowledge.file_names import TEMPORARY_ENDINGS, TEMPORARY_FOLDERS, TRIAL_PREFIXES

NO_TARGETS = frozenset(["", ".", "..", "/", "~", "*", ".git", "{}", "?"])
"""Paths that name no single file."""


@lru_cache(4096)
def base_name(path: str) -> str:
    """The last part of a path, whatever slashes it is written with."""
    return path.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]


@lru_cache(4096)
def is_temporary(path: str) -> bool:
    """Whether a file is not meant to stay, or is no single file: in a temporary folder, a device, a log, a pattern."""
    parts = path.replace("\\", "/").split("/")
    if not TEMPORARY_FOLDERS.isdisjoint(parts) or parts[:2] == ["", "dev"] or not set(path).isdisjoint("{}$*<>"):
        return True
    return parts[-1].endswith(TEMPORARY_ENDINGS)


def is_trial_file(name: str) -> bool:
    """Whether a file is named like what agents write to try something out: a test, a reproduction."""
    return is_test_file(name) or name.lower().startswith(TRIAL_PREFIXES)


@lru_cache(4096)
def normalise_path(path: str) -> str:
    """A path by its components: no quotes, no `./`, no doubled or last slash, no backslashes."""
    path = path.strip("'\"").replace("\\", "/")
    if "//" in path or "/./" in path:
        root = "/" if path.startswith("/") else ""
        path = root + "/".join([part for part in path.split("/") if part not in ("", ".")])
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/") or path[:1]


@lru_cache(16_384)
def same_file(a: str, b: str) -> bool:
    """Whether two paths, as written, may be the same file: one is the end of the other, component by component. Two
    absolute paths must be equal."""
    a, b = normalise_path(a), normalise_path(b)
    if a == b:
        return a not in NO_TARGETS
    a, b = _without_prefix(a), _without_prefix(b)
    if len(a) < len(b):
        a, b = b, a
    if b in NO_TARGETS or (a.startswith("/") and b.startswith("/") and a != b):
        return False
    return a == b or a.endswith(f"/{b}")


def is_among(path: str, others: Sequence[str]) -> bool:
    """Whether one of other paths may be the same file."""
    return bool(others) and any(same_file(other, path) for other in others)


def _without_prefix(path: str) -> str:
    """A path without a beginning that does not say where it is: `../`, `~/`, `$PWD/`."""
    head, slash, rest = path.partition("/")
    return _without_prefix(rest) if slash and (head in ("..", ".", "~") or head.startswith("$")) else path


# Where a text names a file

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
