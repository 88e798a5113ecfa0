"""Checks that say little about the product: tests that were edited, and runs while the changes were reverted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.analysis.actions.check_commands import is_test_file
from dense.analysis.evidence.checks.checks import Check
from dense.analysis.evidence.deliverables.tracking import edits_in_place
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, is_temporary, same_file
from dense.knowledge.test_runners import RUNNERS
from dense.text.guarded import GuardedPattern
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
    edits: list[TestEdit] = []
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
                    edits.append(TestEdit(path, fact.action, is_removal))
                else:
                    own.add(name)
            if effects.undoes:
                undone = [path for path in effects.undoes if path != "."]
                edits = [edit for edit in edits if not any(same_file(edit.path, path) for path in undone)]
                edits = edits if len(undone) == len(effects.undoes) else []
        known.update(map(base_name, fact.effects.reads))
        known.update(base_name(test.partition("::")[0]) for run in fact.result.tests for test in run.names)
    return edits


def is_test_setting(name: str) -> bool:
    """Whether a file says which tests run, and little else, by its base name."""
    return name.startswith(RUNNERS.config_files)


STASH = GuardedPattern(re.compile(r"\bgit stash(?!\s+(?:pop|apply|list|show|drop|clear|branch|create)\b)"))
CHECKOUT = GuardedPattern(re.compile(r"\bgit (?:checkout|restore|reset --hard)\b(?!\s+-[bB]\b)(?! --staged)"))
RESTORE = re.compile(r"\bgit stash (?:pop|apply)\b|\bgit apply\b|\bpatch -p|(?:^|[\n;&|]\s*)(?:cp|mv) ")


class _Reverted(Struct, frozen=True):
    """Changes that are reverted from an action on."""

    action: int
    files: frozenset[str]
    """Their base names; empty for all files."""


def find_reverted_checks(facts: Sequence[ActionFacts], checks: Sequence[Check]) -> dict[tuple[int, str], bool]:
    """The checks, by action and command, that ran while changes were reverted; whether these came back."""
    reverted_checks: dict[tuple[int, str], bool] = {}
    by_action: dict[int, list[tuple[int, str]]] = {}
    for check in checks:
        by_action.setdefault(check.action, []).append((check.action, check.command))
    pending: list[tuple[int, str]] = []
    written: set[str] = set()
    reverted: _Reverted | None = None
    for fact in facts:
        text = "\n".join(fact.commands)
        keys = by_action.get(fact.action, [])
        if reverted is not None:
            restore = RESTORE.search(text)
            is_over = _restores(fact, reverted, is_restore=restore is not None)
            end = restore.start() if restore and is_over else len(text)
            pending += [key for key in keys if text.rfind(key[1]) < end]
            reverted_checks.update(dict.fromkeys(pending, is_over and restore is not None))
            if is_over:
                pending, reverted = [], None
        elif (undo := _reverting_command(text, fact, written)) is not None:
            restore = RESTORE.search(text, undo.end())
            end = restore.start() if restore else len(text)
            inside = [key for key in keys if undo.start() < text.rfind(key[1]) < end]
            reverted_checks.update(dict.fromkeys(inside, restore is not None))
            if restore is None:
                pending += inside
                reverted = _Reverted(fact.action, _reverted_files(fact, written))
        written.update(base_name(path) for path in fact.effects.writes if not is_temporary(path))
    return reverted_checks


def _reverting_command(text: str, fact: ActionFacts, written: set[str]) -> re.Match[str] | None:
    """The command of an action that reverts changes of the attempt; None if there is none."""
    if not written:
        return None
    stash = STASH.search(text)
    if stash is None and "." not in _names(fact) and not _reverted_files(fact, written):
        return None
    return stash or CHECKOUT.search(text)


def _reverted_files(fact: ActionFacts, written: set[str]) -> frozenset[str]:
    names = _names(fact)
    return frozenset() if "." in names else names & written


def _restores(fact: ActionFacts, reverted: _Reverted, *, is_restore: bool) -> bool:
    """Whether an action restores the changes, or changes the same files anew."""
    names = _names(fact)
    return bool(reverted.files & names) or ("." in names and is_restore)


def _names(fact: ActionFacts) -> frozenset[str]:
    return frozenset(base_name(path) for path in fact.effects.writes if not is_temporary(path))
