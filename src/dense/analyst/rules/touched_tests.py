"""Tests that were there before the attempt and that it changed, moved away or removed, and the files that say which
tests run. What passes after that says little about the product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from dense.actions.tests import is_test_file
from dense.analyst.rules.facts import Facts, same_file
from dense.analyst.rules.files import base_name, is_passing
from dense.analyst.rules.tracking import IN_PLACE, OLD_TEXTS, UPDATES
from dense.trajectory import Step

SETTINGS = frozenset("conftest.py pytest.ini .rspec phpunit.xml phpunit.xml.dist karma.conf.js .mocharc".split())
"""Files that are there to say how tests run."""
SETTING_STEMS = ("jest.config", "vitest.config", "playwright.config", "cypress.config", ".mocharc.")
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


def touched_tests(changing: Sequence[Facts], facts: Sequence[Facts], steps: Sequence[Step]) -> list[Touched]:
    """Every such change that was made and not taken back, in order. `changing`: the actions that write or remove."""
    found: list[Touched] = []
    own: set[str] = set()
    for fact in changing:
        if fact.has_failed:
            continue
        for path, is_gone in _paths(fact):
            name = base_name(path)
            if is_passing(path) or name in own:
                continue
            if is_setting(name):
                found.append(Touched(path, fact.action, is_gone, True))
            elif not is_test_file(path):
                continue
            elif is_gone or _was_there(path, fact, facts, steps):
                found.append(Touched(path, fact.action, is_gone, False))
            else:
                own.add(name)
        if fact.effects.undoes:
            back = fact.effects.undoes
            found = [one for one in found if not any(path == "." or same_file(one.path, path) for path in back)]
    return found


def is_setting(name: str) -> bool:
    """Whether a file says which tests run, by its base name."""
    return name in SETTINGS or name.lower() in WIDE or name.startswith(SETTING_STEMS)


def is_wide(path: str) -> bool:
    """Whether it says much else, too."""
    return base_name(path).lower() in WIDE


def _paths(fact: Facts) -> Iterator[tuple[str, bool]]:
    for path in fact.effects.deletes:
        yield path, True
    for path in fact.effects.writes:
        if path not in fact.effects.undoes:
            yield path, False


def _was_there(path: str, first: Facts, facts: Sequence[Facts], steps: Sequence[Step]) -> bool:
    """Whether a file was there before the first action that writes it: it was read, a failed test names it, or the
    action changes it in place."""
    name = base_name(path)
    for fact in facts[: first.action - 1]:
        if any(base_name(one) == name for one in fact.effects.reads):
            return True
        if any(name in test for run in fact.seen.tests for test in run.names):
            return True
    if any(mark in text and name in text for text in first.commands for mark in IN_PLACE):
        return True
    return any(
        not OLD_TEXTS.isdisjoint(call.arguments) or any(UPDATES in str(value) for value in call.arguments.values())
        for call in steps[first.action - 1].calls
    )
