"""The diff that an attempt submits, if its last actions print one: which files are changed, which are new.

It is the best evidence of the work: reverted edits are not in it, forgotten temporary files are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from dense.evidence.actions.check_commands import is_test_file
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, same_file
from dense.knowledge.file_names import BUILD_FOLDERS
from dense.trajectory import Step

LAST_ACTIONS = 2
"""A diff is the submission if it is printed by one of so many last actions."""
FILE_HEADER = re.compile(r"^diff --git a/(.+?) b/(.+?)\s*$", re.MULTILINE)
CUT = re.compile(r"^(?:<|\[|\(|\.\.\.|…)[^\n]{0,80}(?:elided|truncated|omitted)", re.MULTILINE | re.IGNORECASE)
"""A line of a harness that says that something was left out."""
ASSERTED = re.compile(r"^([-+])(?![-+]{2} )(.*(?:assert|expect|\bshould\b).*)", re.MULTILINE | re.IGNORECASE)
"""A removed or added line of a test that says what is expected."""
MAX_FILES = 500


class FileChange(Struct, frozen=True):
    """One file of a diff."""

    path: str
    added: int
    removed: int
    is_new: bool = False
    is_deleted: bool = False
    rewritten: str = ""
    """The first expectation that is removed from a test that was there, if another one takes its place."""


class SubmittedDiff(Struct, frozen=True):
    """What was submitted."""

    action: int
    changes: tuple[FileChange, ...]
    """What belongs to the project."""
    unrequested: tuple[FileChange, ...]
    """New files outside the project's folders that the task does not name."""
    is_whole: bool
    """Whether the trace shows all of it."""

    def holds(self, path: str) -> bool:
        """Whether a file of the project is in it."""
        return any(same_file(one.path, path) for one in self.changes)


def find_submitted_diff(
    facts: Sequence[ActionFacts], steps: Sequence[Step], named: Sequence[str]
) -> SubmittedDiff | None:
    """What the last actions submit; None if they print no diff. `named`: the files that the task names."""
    for fact in reversed(facts[-LAST_ACTIONS:]):
        if fact.phase != "deliver":
            continue
        for seen in reversed(steps[fact.action - 1].observations):
            if changes := tuple(_changes(seen.text)):
                folders = {path for one in facts for path in one.effects.writes if "." not in base_name(path)}
                unrequested = tuple(one for one in changes if _is_unrequested(one, changes, named, folders))
                rest = tuple(one for one in changes if one not in unrequested)
                return SubmittedDiff(fact.action, rest, unrequested, CUT.search(seen.text) is None)
    return None


def _is_unrequested(
    one: FileChange, changes: Sequence[FileChange], named: Sequence[str], folders: Collection[str]
) -> bool:
    """Whether a file is new outside the project: at the top, in a folder that the attempt made, in a build folder."""
    if not one.is_new or any(same_file(one.path, name) for name in named):
        return False
    parts = one.path.split("/")
    if len(parts) == 1 or not BUILD_FOLDERS.isdisjoint(parts[:-1]) or parts[0].endswith(".egg-info"):
        return True
    siblings = [other for other in changes if other.path.startswith(f"{parts[0]}/")]
    return all(other.is_new for other in siblings) and any(same_file(parts[0], folder) for folder in folders)


def _changes(text: str) -> Iterator[FileChange]:
    starts = list(FILE_HEADER.finditer(text))[:MAX_FILES]
    ends = [*[found.start() for found in starts[1:]], len(text)]
    for found, end in zip(starts, ends, strict=False):
        body = text.find("\n@@", found.end(), end)
        body = body if body >= 0 else end
        head = text[found.end() : body]
        added, removed = text.count("\n+", body, end), text.count("\n-", body, end)
        marks = ("\nnew file mode" in head, "\ndeleted file mode" in head)
        rewritten = "" if any(marks) or not is_test_file(found[2]) else _rewritten(text[body:end])
        yield FileChange(found[2], added, removed, *marks, rewritten)


def _rewritten(hunks: str) -> str:
    lines = ASSERTED.findall(hunks)
    removed = [line.strip() for sign, line in lines if sign == "-"]
    return removed[0] if len(removed) < len(lines) and removed else ""
