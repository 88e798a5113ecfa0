"""What became of the files that a stretch of actions wrote, as far as the actions show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dense.evidence.actions.effects import UNNAMED
from dense.evidence.facts.outputs import open_file
from dense.evidence.facts.paths import base_name, is_temporary, same_file
from dense.knowledge.errors import EXIT, NO_SUCH_COMMAND
from dense.knowledge.programs import programs_that
from dense.narrate.actions import NarratedAction
from dense.narrate.commands import SHOWING
from dense.narrate.outputs import shown
from dense.narrate.statements import statements


class Products(Struct, frozen=True):
    """What became of the files that a stretch wrote."""

    made: tuple[str, ...]
    """Made or changed and still there at its end, in order of the first write."""
    failed: tuple[str, ...]
    """Meant to be made by actions that failed, and nothing shows that they are there."""
    held: tuple[tuple[str, str], ...] = ()
    """Of made ones what an action showed that failed after that: results, which nothing else tells."""

    @property
    def names(self) -> list[str]:
        """The base names of what was made."""
        return list(dict.fromkeys(map(base_name, self.made)))


LONGEST_CONTENTS = 160
BARE = programs_that("lists")
"""Programs that say something of a file that is not there without failing."""


NO_FILES = frozenset({UNNAMED, "", ".", "./", "..", "../", "/", "~"})
"""What is written without a name, and folders: what a checkout or a formatter changes is no one file."""


def products(deeds: Iterable[NarratedAction]) -> Products:
    """What was made, as far as the actions show. A failed action made the program that it ran, and nothing else until
    a later one runs that program with success or reads what it was to make."""
    book = _Book()
    for deed in deeds:
        effects = deed.facts.effects
        if not (effects.writes or effects.deletes or book.tried):
            continue
        for gone in effects.deletes[:40]:
            book.remove(gone)
        writes = [path for path in effects.writes[:40] if path not in NO_FILES and not is_temporary(path)]
        if effects.undoes and not deed.has_failed:
            for path in effects.undoes[:40]:
                book.remove(path)
            writes = [path for path in writes if path not in effects.undoes]
        if UNNAMED in effects.writes and (path := open_file(deed.step)) != UNNAMED:
            writes.append(path)
        if deed.has_failed:
            for path in writes if deed.facts.commands else ():  # a tool that fails changes nothing
                if path in effects.scripts:
                    book.add(path)
                elif _was_made_before(path, deed):
                    book.add(path)
                    book.hold(path, _shown_before(path, deed))
                else:
                    book.attempt(path, effects.scripts)
            continue
        for path in writes:
            book.add(path)
        for path in effects.scripts[:8]:
            book.settle_by(path)
        if book.tried and (not effects.runs or not BARE.issuperset(effects.runs)):
            for path in effects.reads[:12]:
                book.settle(path)
    return book.close()


def _was_made_before(path: str, deed: NarratedAction) -> bool:
    """Whether a statement wrote a file before another one failed for want of its program, and only for that."""
    failures = deed.facts.result.failures
    absent = {failure.subject for failure in failures}
    if deed.facts.result.tests or any(one.family not in (NO_SUCH_COMMAND, EXIT) for one in failures):
        return False
    for text in deed.facts.commands[:8]:
        for part in statements(text)[0]:
            words = part.split()
            if not absent.isdisjoint(words):
                return False
            if path in words[words.index(">") + 1 :] if ">" in words else f">{path}" in words:
                return True
    return False


def _shown_before(path: str, deed: NarratedAction) -> str:
    """The contents of a file that was made, and shown at once, before another statement failed for want of its
    program; empty where something else may have come back too, or too much for a sentence."""
    failures = deed.facts.result.failures
    absent = {failure.subject for failure in failures}
    is_shown = False
    for text in deed.facts.commands[:8]:
        for part in statements(text)[0]:
            words = part.split()
            if words[0] in SHOWING and words[1:] == [path]:
                is_shown = True
            elif not (">" in words or f">{path}" in words or words[0] in absent):
                return ""
    if not is_shown:
        return ""
    said = [failure.line for failure in failures if failure.line]
    kept = [line for line in deed.output.split("\n") if not any(line in one or one in line for one in said)]
    told = shown("\n".join(kept), LONGEST_CONTENTS, has_run=False)
    return told if told[0] == "`" else ""


class _Book:
    """Files by base name while the actions are gone through."""

    def __init__(self) -> None:
        self._made: dict[str, list[str]] = {}
        self.tried: dict[str, list[str]] = {}
        """What a later action may show."""
        self._by_program: dict[str, list[str]] = {}
        self._held: dict[str, str] = {}

    def add(self, path: str) -> None:
        name = base_name(path)
        same = self._made.setdefault(name, [])
        for place, other in enumerate(same):
            if same_file(path, other):
                same[place] = max(path, other, key=len)
                break
        else:
            same.append(path)
        self.tried.pop(name, None)
        if self._held:
            self._held.pop(path, None)

    def hold(self, path: str, contents: str) -> None:
        if contents:
            self._held[path] = contents

    def remove(self, path: str) -> None:
        name = base_name(path)
        if self._held:
            self._held.pop(path, None)
        if name in self._made:
            self._made[name] = [other for other in self._made[name] if not same_file(path, other)]

    def attempt(self, path: str, programs: Sequence[str]) -> None:
        name = base_name(path)
        if not any(same_file(path, other) for other in self._made.get(name, ())):
            self.tried.setdefault(name, []).append(path)
            for program in programs[:1]:
                self._by_program.setdefault(base_name(program), []).append(path)

    def settle(self, path: str) -> None:
        tried = self.tried.get(base_name(path))
        if tried and any(same_file(path, other) for other in tried):
            self.add(max(path, *tried, key=len))

    def settle_by(self, program: str) -> None:
        for path in self._by_program.pop(base_name(program), ()):
            self.settle(path)

    def close(self) -> Products:
        made = [path for name, same in self._made.items() if name != ".git" for path in same]
        if made:
            folders = {path.rstrip("/").rpartition("/")[0] for path in made}
            made = [path for path in made if path.rstrip("/") not in folders]
        tried = [same[-1] for name, same in self.tried.items() if name != ".git"] if self.tried else ()
        return Products(tuple(made), tuple(tried), tuple(self._held.items()))
