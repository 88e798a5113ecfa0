"""What an action is about: files, packages, hosts, queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from dense.evidence.actions.effects import Effects
from dense.evidence.facts.paths import NO_TARGETS, normalise_path
from dense.knowledge.tools import PYTHONS, SHELLS, is_talk
from dense.trajectory import ToolCall

MAX_TARGETS = 24
MAX_COMMAND_CHARS = 300
"""How much of a command is searched for names."""
HOST = re.compile(r"(?:[a-z][a-z0-9+.-]{0,20}://)?(?:[^/@\s]{1,100}@)?([^/\s?#]{1,200})", re.IGNORECASE)


def targets_of(calls: Sequence[ToolCall], names: Sequence[str], effects: Effects) -> tuple[str, ...]:
    """Files first, changed before read; then packages and hosts; else the short arguments of a tool."""
    paths = effects.writes + effects.scripts + effects.deletes + tuple(_test_paths(effects.tests)) + effects.reads
    found = [name for path in paths[: 4 * MAX_TARGETS] if (name := normalise_path(path)) not in NO_TARGETS]
    found += [*effects.installs[:MAX_TARGETS], *map(host_of, effects.network[:MAX_TARGETS])]
    if not found:
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS and not is_talk(name) and name not in PYTHONS:
                values = islice(call.arguments.values(), 4)
                found += [value for value in values if isinstance(value, str) and 0 < len(value) <= 80]
    return tuple(dict.fromkeys(found))[:MAX_TARGETS]


def _test_paths(tests: Sequence[str]) -> Iterator[str]:
    for text in tests[:4]:
        for word in text[:MAX_COMMAND_CHARS].split()[1:]:
            path = word.partition("::")[0].strip("'\"`;")
            if path[:1] not in "-" and ("/" in path or "." in path[1:]) and "=" not in path and "://" not in path:
                yield path


def host_of(address: str) -> str:
    """The host of an address; a query as it is."""
    if " " in address or len(address) > 2000:
        return address[:200]
    found = HOST.match(address)
    return found[1].lower() if found else address[:200]
