"""What an attempt hands in, where its last words hold it as a diff: which files are changed, which are new.

Nothing tells better what was really done: edits that were taken back are not in it, what was left lying about is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, same_file
from dense.narrate.quoting import listed, more
from dense.text.quoting import ticked_path
from dense.trajectory import Step

LAST = 2
"""So many actions from the end a diff is what is handed in."""
MARK = "diff --git "
START = re.compile(r"^diff --git a/(.+?) b/(.+?)\s*$", re.MULTILINE)
CUT = re.compile(r"^(?:<|\[|\(|\.\.\.|…)[^\n]{0,80}(?:elided|truncated|omitted)", re.MULTILINE | re.IGNORECASE)
"""A line of a harness that says that something was left out."""
MOST_FILES = 500
NAMED = 3
"""So many files are told by their names."""
BUILT = frozenset({"build", "dist", "__pycache__", "node_modules", "target", ".pytest_cache"})
"""Folders that a build leaves behind."""


class Change(Struct, frozen=True):
    """One file of a diff."""

    path: str
    added: int
    removed: int
    is_new: bool = False
    is_gone: bool = False

    @property
    def told(self) -> str:
        if self.is_gone:
            return f"{ticked_path(self.path)} (removed)"
        if self.is_new:
            return f"{ticked_path(self.path)} (new, {self.added} line{'' if self.added == 1 else 's'})"
        return f"{ticked_path(self.path)} (+{self.added} −{self.removed})"


class Submission(Struct, frozen=True, dict=True):
    """What was handed in."""

    action: int
    changes: tuple[Change, ...]
    """What belongs to the project."""
    left: tuple[Change, ...]
    """What is new where nothing of the project lies, and the task does not name it."""
    is_whole: bool
    """Whether nothing of it was left out of the trace."""

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(base_name(one.path) for one in self.changes)

    def holds(self, path: str) -> bool:
        """Whether a file of the project is in it."""
        return base_name(path) in self._names and any(same_file(one.path, path) for one in self.changes)

    @property
    def told(self) -> str:
        """One or two sentences: what is changed; what is new that nobody asked for."""
        told: list[str] = []
        if self.changes:
            ordered = sorted(self.changes, key=_importance)
            told.append(f"Handed in a change of {listed([one.told for one in ordered], NAMED + 1, 'file')}.")
        if self.left:
            what = (
                "New in it, and not named by the task" if self.changes else "Handed in only what the task does not name"
            )
            told.append(f"{what}: {_places(self.left)}.")
        if self.is_whole and all(one.is_new for one in (*self.changes, *self.left)):
            told.append("No file that was there before is changed.")
        return " ".join(told)


def submission(facts: Sequence[ActionFacts], steps: Sequence[Step], named: Sequence[str]) -> Submission | None:
    """What the last actions hand in; None where they show no diff. `named` are the files that the task names."""
    for fact in reversed(facts[-LAST:]):
        if fact.phase != "deliver":
            continue
        for seen in reversed(steps[fact.action - 1].observations):
            if MARK in seen.text and (changes := tuple(_changes(seen.text))):
                folders = {path for one in facts for path in one.effects.writes if "." not in base_name(path)}
                left = [one for one in changes if _is_left(one, changes, named, folders)]
                rest = tuple([one for one in changes if one not in left])
                return Submission(fact.action, rest, tuple(left), CUT.search(seen.text) is None)
    return None


def _is_left(one: Change, changes: Sequence[Change], named: Sequence[str], folders: Collection[str]) -> bool:
    """Whether a file is new where nothing of the project lies: at its top, in a folder that the attempt made for it, in
    one that a build leaves."""
    if not one.is_new or any(same_file(one.path, name) for name in named):
        return False
    parts = one.path.split("/")
    if len(parts) == 1 or not BUILT.isdisjoint(parts[:-1]) or parts[0].endswith(".egg-info"):
        return True
    own = [other for other in changes if other.path.startswith(f"{parts[0]}/")]
    return all(other.is_new for other in own) and any(same_file(parts[0], folder) for folder in folders)


def _changes(text: str) -> Iterator[Change]:
    starts = list(START.finditer(text))[: MOST_FILES + 1]
    for place, found in enumerate(starts[:MOST_FILES]):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        body = text.find("\n@@", found.end(), end)
        head = text[found.end() : body if body >= 0 else end]
        added = text.count("\n+", body, end) if body >= 0 else 0
        removed = text.count("\n-", body, end) if body >= 0 else 0
        yield Change(found[2], added, removed, "\nnew file mode" in head, "\ndeleted file mode" in head)


def _importance(one: Change) -> tuple[bool, bool]:
    """What was there before first, and what is tested before its tests."""
    return one.is_new, "test" in one.path.lower()


def _places(left: Sequence[Change]) -> str:
    """Files at the top by their names, others by their folders."""
    places = list(dict.fromkeys(f"{one.path.split('/')[0]}/" if "/" in one.path else one.path for one in left))
    told = [ticked_path(place) for place in places[:NAMED]]
    return listed(told, NAMED) + (f" and {more(len(places) - NAMED)}" if len(places) > NAMED else "")
