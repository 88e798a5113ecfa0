"""What an action is about: files, packages, hosts, queries; and whether two paths may be the same file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from dense.evidence.actions.effects import Effects
from dense.evidence.facts.families import LONGEST
from dense.knowledge.tools import PYTHONS, SHELLS, TALKERS
from dense.trajectory import ToolCall

MOST_TARGETS = 24
NO_TARGETS = frozenset(["", ".", "..", "/", "~", "*", ".git", "{}", "?"])
HOST = re.compile(r"(?:[a-z][a-z0-9+.-]{0,20}://)?(?:[^/@\s]{1,100}@)?([^/\s?#]{1,200})", re.IGNORECASE)


def targets_of(calls: Sequence[ToolCall], names: Sequence[str], effects: Effects) -> tuple[str, ...]:
    """Files first, what is changed before what is looked at; then packages and addresses; else what a tool is given."""
    paths = effects.writes + effects.scripts + effects.deletes
    if effects.tests:
        paths += tuple(test_paths(effects.tests))
    paths += effects.reads
    found: dict[str, None] = {}
    for path in paths[: 4 * MOST_TARGETS]:
        if (path := normalise_path(path)) not in NO_TARGETS:
            found[path] = None
    if effects.installs or effects.network:
        found |= dict.fromkeys([*effects.installs[:MOST_TARGETS], *map(host_of, effects.network[:MOST_TARGETS])])
    if not found and not SHELLS.issuperset(names):
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS and name not in TALKERS and name not in PYTHONS:
                found |= dict.fromkeys(short_values(call.arguments))
    return tuple(found) if len(found) <= MOST_TARGETS else tuple(islice(found, MOST_TARGETS))


def test_paths(tests: Sequence[str]) -> Iterator[str]:
    for text in tests[:4]:
        for word in text[:LONGEST].split()[1:]:
            if word[0] == "-" or ("/" not in word and "." not in word):
                continue
            path = word.partition("::")[0].strip("'\"`;")
            if path[:1] not in "-" and ("/" in path or "." in path[1:]) and "=" not in path and "://" not in path:
                yield path


def short_values(arguments: dict[str, Any]) -> Iterator[str]:
    for value in islice(arguments.values(), 4):
        if isinstance(value, str) and 0 < len(value) <= 80:
            yield value


def host_of(address: str) -> str:
    """The host of an address; a query stays as it is."""
    if " " in address or len(address) > 2000:
        return address[:200]
    found = HOST.match(address)
    return found[1].lower() if found else address[:200]


@lru_cache(4096)
def normalise_path(path: str) -> str:
    """A path by its components: no `./`, no doubled or last slash, slashes that lean forward."""
    path = path.strip("'\"").replace("\\", "/")
    if "//" in path or "/./" in path:
        root = "/" if path.startswith("/") else ""
        path = root + "/".join([part for part in path.split("/") if part not in ("", ".")])
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/") or path[:1]


@lru_cache(4096)
def floating(path: str) -> str:
    """A path without a beginning that tells nothing about where it lies: `../`, `~/`, `$PWD/`."""
    while True:
        head, slash, rest = path.partition("/")
        if not slash or not (head in ("..", ".", "~") or head.startswith("$")):
            return path
        path = rest


def same_file(a: str, b: str) -> bool:
    """Whether two paths, as they were written, may be the same file: one is the end of the other, component by
    component. Two that begin at the root must be equal."""
    a, b = normalise_path(a), normalise_path(b)
    if a == b:
        return a not in NO_TARGETS
    a, b = floating(a), floating(b)
    if len(a) < len(b):
        a, b = b, a
    if b in NO_TARGETS or (a.startswith("/") and b.startswith("/") and a != b):
        return False
    return a == b or a.endswith(f"/{b}")
