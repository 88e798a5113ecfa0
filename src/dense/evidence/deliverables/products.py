"""What became of the files that a range of actions wrote, as far as the actions show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from dense.evidence.actions.effects import UNNAMED
from dense.evidence.actions.shell.statements import statements
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import base_name, is_among, is_temporary, same_file
from dense.knowledge.errors import EXIT, NO_SUCH_COMMAND
from dense.knowledge.programs import programs_that
from dense.trajectory import Step

MAX_PATHS = 40
MAX_COMMANDS = 8
SHOWING_PROGRAMS = programs_that("shows")
LISTING_PROGRAMS = programs_that("lists")
"""Programs that say something of a missing file without failing."""
NO_FILES = frozenset({UNNAMED, "", ".", "./", "..", "../", "/", "~"})
"""What is written without a name, and folders: what a checkout or a formatter changes is not one file."""


class HasStep(Protocol):
    """An action with what is known of it."""

    @property
    def facts(self) -> ActionFacts: ...
    @property
    def step(self) -> Step: ...


class Products(Struct, frozen=True):
    """What became of the files that a range of actions wrote."""

    made: tuple[str, ...]
    """Made or changed and still there at its end, in order of the first write."""
    failed: tuple[str, ...]
    """To be made by actions that failed; nothing shows that they are there."""
    contents: tuple[tuple[str, str], ...] = ()
    """Contents of made files that an action printed before it failed."""

    @property
    def names(self) -> list[str]:
        """The base names of what was made."""
        return list(dict.fromkeys(map(base_name, self.made)))


def products(actions: Iterable[HasStep]) -> Products:
    """What was made. A failed action made the program that it ran, and nothing else until a later one runs that program
    with success or reads what it was to make."""
    files = _Files()
    for action in actions:
        fact, effects = action.facts, action.facts.effects
        for path in effects.deletes[:MAX_PATHS]:
            files.remove(path)
        writes = [path for path in effects.writes[:MAX_PATHS] if path not in NO_FILES and not is_temporary(path)]
        if fact.has_failed:
            for path in writes if fact.commands else ():  # a tool that fails changes nothing
                if path in effects.scripts:
                    files.add(path)
                elif _is_made_before_failure(path, fact):
                    files.add(path, _contents_before_failure(path, fact, action.step))
                else:
                    files.attempt(path, effects.scripts)
            continue
        for path in effects.undoes[:MAX_PATHS]:
            files.remove(path)
        for path in writes:
            if path not in effects.undoes:
                files.add(path)
        for path in effects.scripts:
            for made in files.tried_by.pop(base_name(path), ()):
                files.confirm(made)
        if not effects.runs or not LISTING_PROGRAMS.issuperset(effects.runs):
            for path in effects.reads:
                files.confirm(path)
    return files.close()


def _statements(fact: ActionFacts) -> Iterator[list[str]]:
    """The statements of an action's shell texts, as words."""
    for text in fact.commands[:MAX_COMMANDS]:
        for statement in statements(text)[0]:
            yield statement.split()


def _is_made_before_failure(path: str, fact: ActionFacts) -> bool:
    """Whether a statement wrote a file before another one failed because its program is missing, and only for that."""
    failures = fact.result.failures
    missing = {failure.subject for failure in failures}
    if fact.result.tests or any(failure.family not in (NO_SUCH_COMMAND, EXIT) for failure in failures):
        return False
    for words in _statements(fact):
        if not missing.isdisjoint(words):
            return False
        if _writes(words, path):
            return True
    return False


def _contents_before_failure(path: str, fact: ActionFacts, step: Step) -> str:
    """The contents of a file that was made, and printed at once, before another statement failed because its program is
    missing; empty if anything else may be in the output."""
    missing = {failure.subject for failure in fact.result.failures}
    is_shown = False
    for words in _statements(fact):
        if words[0] in SHOWING_PROGRAMS and words[1:] == [path]:
            is_shown = True
        elif not (">" in words or _writes(words, path) or words[0] in missing):
            return ""
    complaints = [failure.line for failure in fact.result.failures if failure.line]
    lines = program_output(fact, step).split("\n") if is_shown else []
    return "\n".join(line for line in lines if not any(line in one or one in line for one in complaints))


def _writes(words: Sequence[str], path: str) -> bool:
    return path in words[words.index(">") + 1 :] if ">" in words else f">{path}" in words


class _Files:
    """Files by base name while the actions are gone through."""

    def __init__(self) -> None:
        self._made: dict[str, list[str]] = {}
        self._tried: dict[str, list[str]] = {}
        self.tried_by: dict[str, list[str]] = {}
        """What failed programs were to make, by their base names."""
        self._contents: dict[str, str] = {}

    def add(self, path: str, contents: str = "") -> None:
        name = base_name(path)
        same = self._made.setdefault(name, [])
        for place, other in enumerate(same):
            if same_file(path, other):
                same[place] = max(path, other, key=len)
                break
        else:
            same.append(path)
        self._tried.pop(name, None)
        self._contents.pop(path, None)
        if contents:
            self._contents[path] = contents

    def remove(self, path: str) -> None:
        name = base_name(path)
        self._contents.pop(path, None)
        if name in self._made:
            self._made[name] = [other for other in self._made[name] if not same_file(path, other)]

    def attempt(self, path: str, programs: Sequence[str]) -> None:
        name = base_name(path)
        if not any(same_file(path, other) for other in self._made.get(name, ())):
            self._tried.setdefault(name, []).append(path)
            for program in programs[:1]:
                self.tried_by.setdefault(base_name(program), []).append(path)

    def confirm(self, path: str) -> None:
        tried = self._tried.get(base_name(path), ())
        if is_among(path, tried):
            self.add(max(path, *tried, key=len))

    def close(self) -> Products:
        made = [path for name, same in self._made.items() if name != ".git" for path in same]
        folders = {path.rstrip("/").rpartition("/")[0] for path in made}
        made = [path for path in made if path.rstrip("/") not in folders]
        tried = [same[-1] for name, same in self._tried.items() if name != ".git"]
        return Products(tuple(made), tuple(tried), tuple(self._contents.items()))
