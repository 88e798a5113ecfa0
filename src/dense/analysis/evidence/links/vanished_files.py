"""Files that were there, that the attempt did not remove, and that are gone: a program took them away as a side effect.
A database that is opened folds its log into itself and removes it; what the log held apart is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, is_named, is_temporary, same_file
from dense.text.search import contains_any, lines_with
from dense.trajectory import Step

ABSENT = re.compile(
    r"(?:^|[\s'\"‘`:])(/[^\s:'\"’`]{3,200})['\"’`]?: (?:Cannot open: )?No such file"
    r"|(?:cannot access|can't open file|cannot open|cannot stat) ['\"‘`]?(/[^\s'\"’`:]{3,200})"
)
"""How programs say of an absolute path that there is no such file."""
SIGNS = ("No such file", "cannot access", "can't open file", "cannot stat")
MISSING_SIGNS = (*SIGNS, "cannot open")
MAX_TEXT_CHARS = 20_000
MAX_MISSED = 20
"""How many paths are followed through the trace."""
MAX_FILES = 3
MIN_STEM_CHARS = 3


class VanishedFile(Struct, frozen=True):
    """A file that is gone, by the actions that show it."""

    path: str
    shown: int
    """The last action that shows it."""
    cause: int
    """The last action in between that worked on a file that it belongs to."""
    missed: int
    """The first action that does not find it."""
    owner: str
    """That file: `/app/main.db` of `/app/main.db-wal`."""


def vanished_files(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> list[VanishedFile]:
    """The files that vanished for good, in the order in which they are missed."""
    missed: dict[str, int] = {}
    for fact, step in zip(facts, steps, strict=True):
        for path in _missed_paths(step):
            missed.setdefault(path, fact.action)
    vanished = (_vanished(path, action, facts, steps) for path, action in islice(missed.items(), MAX_MISSED))
    return list(islice(filter(None, vanished), MAX_FILES))


def _missed_paths(step: Step) -> Iterator[str]:
    for observation in step.observations:
        text = observation.text[:MAX_TEXT_CHARS]
        for line in lines_with(text, MISSING_SIGNS) if contains_any(text, SIGNS) else ():
            for match in ABSENT.finditer(line):
                yield match[1] or match[2]


def _vanished(path: str, missed: int, facts: Sequence[ActionFacts], steps: Sequence[Step]) -> VanishedFile | None:
    if is_temporary(path) or any(_touches(fact, path) for fact in facts):
        return None
    shown = next((n for n in range(missed - 1, 0, -1) if _shows(facts[n - 1], steps[n - 1], path)), 0)
    if not shown or any(_shows(fact, step, path) for fact, step in zip(facts[missed:], steps[missed:], strict=True)):
        return None
    for fact in reversed(facts[shown : missed - 1]):
        if not fact.has_failed and (owner := _owner(fact, path)):
            return VanishedFile(path, shown, fact.action, missed, owner)
    return None


def _touches(fact: ActionFacts, path: str) -> bool:
    """Whether an action wrote or removed a file by itself, or a folder or a pattern that it may be in."""
    effects = fact.effects
    if any(same_file(changed, path) for changed in (*effects.writes, *effects.deletes)):
        return True
    return any("*" in changed or path.startswith(f"{changed.rstrip('/')}/") for changed in effects.deletes)


def _shows(fact: ActionFacts, step: Step, path: str) -> bool:
    """Whether an action shows a file: by its path, or by its name in a listing of its folder."""
    folder = path.rpartition("/")[0]
    is_in_folder = any(folder in text for text in fact.commands) or folder in fact.effects.reads
    for observation in step.observations:
        text = observation.text[:MAX_TEXT_CHARS]
        if base_name(path) in text and (is_in_folder or path in text):
            lines = [line for line in text.split("\n") if base_name(path) in line and not any(s in line for s in SIGNS)]
            if any(is_named(line, path) for line in lines):
                return True
    return False


def _owner(fact: ActionFacts, path: str) -> str:
    """The file that an action names and that the path only adds something to; empty if there is none."""
    text = "\n".join(fact.commands)
    for end in range(len(path) - 1, len(path) - len(base_name(path)) + MIN_STEM_CHARS, -1):
        owner = path[:end]
        if not path[end].isalnum() and is_named(text, owner):
            return owner
    return ""
