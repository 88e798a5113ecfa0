"""Which later run says something about a failed check: a pass that takes the failure back, a pass of a part of it, a
run whose end is not shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dense.evidence.checks.checks import Check
from dense.evidence.facts.paths import base_name
from dense.knowledge.test_runners import RUNNERS

Relation = Literal["same", "part", "none"]
MOST_SUBJECTS = 50
"""How many different things that one runner checked are kept in mind."""
PYTHON_RUNNERS = RUNNERS.of_language("python").union(
    ["python runtests.py", "python run_tests.py", "python manage.py", "python setup.py"]
)
SCRIPT_RUNNERS = RUNNERS.of_language("javascript").union(["npm test", "npm t", "yarn test", "pnpm test"])
MADE_RUNNERS = frozenset(["make test", "make check", "just test", "task test", "rake test"])
"""Runners of one kind of tests each, and those that may run any."""


class Reruns:
    """The checks that ran after one, which are noted from the last one on."""

    def __init__(self) -> None:
        self._passed: dict[str, dict[frozenset[str], Check]] = {}
        self._counted: dict[tuple[str, frozenset[str]], Check] = {}
        self._unseen: dict[str, dict[frozenset[str], Check]] = {}

    def note(self, check: Check) -> None:
        """Notes a check that did not fail."""
        books = self._passed if check.has_passed else self._unseen
        _keep(books.setdefault(check.runner, {}), check.subjects, check)
        if check.has_passed and check.is_counted:
            _keep(self._counted, (check.runner, check.subjects), check)

    def closing(self, failed: Check) -> int | None:
        """The first later pass that takes a failure back."""
        return min((one.action for one in self._passes(failed) if takes_back(one, failed)), default=None)

    def part(self, failed: Check) -> Check | None:
        """The first later pass of what may be a part of it, or of it without something."""
        found = [one for one in self._passes(failed) if relation(one, failed) == "part"]
        return min(found, key=lambda one: one.action, default=None)

    def unseen(self, failed: Check) -> Check | None:
        """The last later run of it, or of some of it, that does not tell how it ended."""
        later = self._unseen.get(failed.runner, {}).values()
        found = [one for one in later if relation(one, failed) != "none"]
        return max(found, key=lambda one: one.action, default=None)

    def _passes(self, failed: Check) -> list[Check]:
        own = self._passed.get(failed.runner, {})
        return [*own.values(), *(one for one in self._counted.values() if one.runner != failed.runner)]


def _keep[K](books: dict[K, Check], key: K, check: Check) -> None:
    books.pop(key, None)
    books[key] = check
    if len(books) > MOST_SUBJECTS:
        del books[next(iter(books))]


def takes_back(later: Check, earlier: Check) -> bool:
    """Whether a passed check is evidence that an earlier failure of the same thing is gone."""
    return later.has_passed is True and relation(later, earlier) == "same"


def relation(later: Check, earlier: Check) -> Relation:
    """Whether a later run looks at what an earlier one found wrong: the same subjects, everything, or what had failed.
    `part`: at some of it, and whether that is what had failed is not to be seen."""
    if later.runner != earlier.runner and not _is_kin(later, earlier):
        return "none"
    own, names = later.scope, earlier.names
    if own.left_out and (not names or any(word in name for word in own.left_out for name in names)):
        return "part"
    if own.tests:
        return _some_tests(later, earlier)
    if own.labels and earlier.scope.labels and later.runner == earlier.runner:
        return _some_modules(later, earlier)
    if not own.paths and not own.labels:
        return "same"
    if own.subjects & earlier.scope.subjects or any(name in later.command for name in names):
        return "same"
    if len(earlier.scope.paths) == len(earlier.scope.folders) and not earlier.scope.labels:
        return _some_of_all(later, names)
    inside = [_lies_in(folder, path) for path in earlier.scope.paths for folder in own.folders]
    return "same" if "same" in inside else "part" if "part" in inside else "none"


def _is_kin(later: Check, earlier: Check) -> bool:
    """Whether two runners may run the same tests, and the later one says how many it ran."""
    if not later.is_counted:
        return False
    if later.subjects & earlier.subjects:
        return True
    both = {later.runner, earlier.runner}
    return both <= PYTHON_RUNNERS | MADE_RUNNERS or both <= SCRIPT_RUNNERS | MADE_RUNNERS


def _some_tests(later: Check, earlier: Check) -> Relation:
    """A run of single tests: good for those that it names."""
    if earlier.scope.tests:
        return "same" if earlier.scope.tests <= later.scope.tests else "none"
    if not earlier.names:
        return "part"
    return "same" if all(name.rsplit("::", 1)[-1] in later.command for name in earlier.names) else "none"


def _some_modules(later: Check, earlier: Check) -> Relation:
    """A run of modules: good for what lies in them."""
    if all(_is_within(label, later.scope.labels) for label in earlier.scope.labels):
        return "same"
    if not any(_is_within(label, earlier.scope.labels) for label in later.scope.labels):
        return "none"
    if not earlier.names:
        return "part"
    told = [all(_has_word(label, name) for label in later.scope.labels) for name in earlier.names]
    return "same" if all(told) else "part" if any(told) else "none"


def _has_word(label: str, name: str) -> bool:
    """Whether a failed test, `test_x (app.tests.A)`, lies in a module, a class, or is the test that a label names."""
    test, _, place = name.partition(" (")
    return f"{place.rstrip(')')}.{test}.".find(f"{label}.") >= 0


def _is_within(label: str, labels: Sequence[str]) -> bool:
    return any(f"{label}.".startswith(f"{one}.") for one in labels)


def _some_of_all(later: Check, names: Sequence[str]) -> Relation:
    """A run of everything, or of folders, failed, a run of some of it passes: good for what it names, if that is what
    failed."""
    if not any("/" in name or "." in name or "::" in name for name in names):
        return "part"  # nothing tells where those lie
    own = {*later.scope.subjects, *(base_name(folder) for folder in later.scope.folders)}
    told = [any(word.rsplit(".", 1)[0] in name for word in own) for name in names]
    return "same" if all(told) else "part" if any(told) else "none"


def _lies_in(folder: str, path: str) -> Relation:
    """Whether a file lies in a folder, as both were written: `part` where they were written from different places."""
    places = path.strip("./").split("/")[:-1]
    if not places or base_name(folder) in places:
        return "same"
    return "none" if folder.split("/", 1)[0] in places else "part"
