"""Tests that were there before the attempt and that it changed, moved away or removed, and the files that say which
tests run. What passes after that says little about the product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from dense.evidence.actions.check_commands import is_test_file
from dense.evidence.deliverables.tracking import IN_PLACE, OLD_TEXTS, UPDATES
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, is_temporary, same_file
from dense.knowledge.test_runners import RUNNERS
from dense.trajectory import Step

WIDE = frozenset("tox.ini setup.cfg pyproject.toml noxfile.py package.json makefile justfile cmakelists.txt".split())
"""Files that say that among other things."""


class Touched(Struct, frozen=True):
    """A file of the tests, and what was done to it."""

    path: str
    action: int
    is_gone: bool
    """Whether it was removed, or moved away."""
    is_setting: bool
    """Whether it holds no tests, but says which run."""


def touched_tests(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> list[Touched]:
    """Every such change that was made and not taken back, in order."""
    found: list[Touched] = []
    own: set[str] = set()
    known: set[str] = set()
    """Files that were read, by base name, and where tests lie that failed."""
    for fact in facts:
        if not fact.has_failed:
            for path, is_gone in _paths(fact):
                name = base_name(path)
                if name in own or is_temporary(path):
                    continue
                if is_setting(name):
                    found.append(Touched(path, fact.action, is_gone, True))
                elif not is_test_file(path):
                    continue
                elif is_gone or name in known or _edits(name, fact, steps[fact.action - 1]):
                    found.append(Touched(path, fact.action, is_gone, False))
                else:
                    own.add(name)
            if (back := fact.effects.undoes) and found:
                found = [one for one in found if not any(path == "." or same_file(one.path, path) for path in back)]
        known.update(map(base_name, fact.effects.reads))
        known.update(base_name(test.partition("::")[0]) for run in fact.result.tests for test in run.names)
    return found


def is_setting(name: str) -> bool:
    """Whether a file says which tests run, by its base name."""
    return name.startswith(RUNNERS.config_files) or name.lower() in WIDE


def is_wide(path: str) -> bool:
    """Whether it says much else, too."""
    return base_name(path).lower() in WIDE


def _paths(fact: ActionFacts) -> Iterator[tuple[str, bool]]:
    for path in fact.effects.deletes:
        yield path, True
    for path in fact.effects.writes:
        if path not in fact.effects.undoes:
            yield path, False


def _edits(name: str, fact: ActionFacts, step: Step) -> bool:
    """Whether an action changes a file in place: then it was there."""
    if any(mark in text and name in text for text in fact.commands for mark in IN_PLACE):
        return True
    return any(
        not OLD_TEXTS.isdisjoint(call.arguments) or any(UPDATES in str(value) for value in call.arguments.values())
        for call in step.calls
    )
