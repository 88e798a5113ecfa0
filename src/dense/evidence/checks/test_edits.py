"""Edits of tests that were there before the attempt, and of the settings that say which tests run. What passes after
them says little about the product."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.actions.check_commands import is_test_file
from dense.evidence.deliverables.tracking import edits_in_place
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, is_temporary, same_file
from dense.knowledge.test_runners import RUNNERS
from dense.trajectory import Step


class TestEdit(Struct, frozen=True):
    """One edit of a test or of a test setting."""

    __test__ = False
    path: str
    action: int
    is_removal: bool
    """Whether it was removed or moved away."""


def find_test_edits(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> list[TestEdit]:
    """Every such edit that was not reverted, in order."""
    found: list[TestEdit] = []
    own: set[str] = set()
    """The tests that the attempt wrote, by base name."""
    known: set[str] = set()
    """The files that were read, and those of tests that failed, by base name."""
    for fact in facts:
        if not fact.has_failed:
            effects = fact.effects
            removed = [(path, True) for path in effects.deletes]
            written = [(path, False) for path in effects.writes if path not in effects.undoes]
            for path, is_removal in removed + written:
                name = base_name(path)
                is_setting = is_test_setting(name)
                if name in own or is_temporary(path) or not (is_setting or is_test_file(path)):
                    continue
                step = steps[fact.action - 1]
                if is_removal or is_setting or name in known or edits_in_place(path, fact, step):
                    found.append(TestEdit(path, fact.action, is_removal))
                else:
                    own.add(name)
            if effects.undoes:
                undone = [path for path in effects.undoes if path != "."]
                found = [one for one in found if not any(same_file(one.path, path) for path in undone)]
                found = found if len(undone) == len(effects.undoes) else []
        known.update(map(base_name, fact.effects.reads))
        known.update(base_name(test.partition("::")[0]) for run in fact.result.tests for test in run.names)
    return found


def is_test_setting(name: str) -> bool:
    """Whether a file says which tests run, and little else, by its base name."""
    return name.startswith(RUNNERS.config_files)
