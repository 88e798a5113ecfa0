"""Tests that pass since they were changed themselves, or since those that failed do not run any more."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.actions.tests import is_test_file
from dense.analyst.rules.case import Case
from dense.analyst.rules.checks import Check
from dense.analyst.rules.files import base_name, is_passing
from dense.analyst.rules.findings import Finding
from dense.analyst.rules.phrases import one_line
from dense.analyst.rules.quoting import listed
from dense.analyst.rules.scopes import Scope
from dense.analyst.rules.touched_tests import Touched, is_wide

SELECTING = re.compile(r" -(?:-?(?:m|t|g|run|filter|grep|test)\b|-(?:lf|ff|sw|last-failed|stepwise|changed|only|shard|test\w))")
"""Options that choose some of the tests, and are no part of a scope."""
FILES = 3
"""How many names an issue lists."""


def weakened(case: Case) -> list[Finding]:
    """For each check that failed once and passes at the end: that fewer tests ran then, or that nothing but tests was
    changed between."""
    if not any(check.has_passed is False and check.ran for check in case.checks):
        return []
    failed: dict[tuple[str, Scope], Check] = {}
    found: dict[tuple[str, Scope], Finding | None] = {}
    for check in case.checks:
        key = (check.runner, check.scope)
        if (check.action, check.command) in case.taken_back or not check.ran or SELECTING.search(check.command):
            continue
        if check.has_passed is False:
            failed[key] = check
            found.pop(key, None)
        elif check.has_passed and key in failed:
            found[key] = _weakened(case, failed[key], check)
    return [one for one in found.values() if one is not None]


def _weakened(case: Case, failed: Check, passed: Check) -> Finding | None:
    between = [one for one in case.touched_tests if failed.action < one.action < passed.action]
    tests = [one for one in between if not one.is_setting or not is_wide(one.path)]
    is_only = bool(tests) and not _changes_else(case, failed, passed, tests)
    command = f"`{one_line(passed.command, 100)}`"
    if passed.ran < failed.ran and not _drops_own_tests(case, failed, passed):
        text = f"{command} ran {failed.ran} tests at a{failed.action}, of which {failed.failed} failed; at"
        text += f" a{passed.action} it passed with {passed.ran}.{_told(between)}"
    elif is_only:
        text = f"{command} failed at a{failed.action} and passed at a{passed.action}.{_told(tests)}"
    else:
        return None
    text += " Nothing else was changed." if is_only else ""
    return Finding("weakened", text, (failed.action, passed.action), is_serious=False)


def _told(touched: Sequence[Touched]) -> str:
    """What was done to tests and their settings."""
    if not touched:
        return ""
    gone = {one.path: None for one in touched if one.is_gone}
    kept = {one.path: None for one in touched if one.path not in gone}
    told = [(kept, "changed"), (gone, "removed or moved away")]
    parts = [
        f"{listed([f'`{one_line(path, 80)}`' for path in paths], FILES)} {'was' if len(paths) == 1 else 'were'} {how}"
        for paths, how in told
        if paths
    ]
    return f" Between the two {' and '.join(parts)}."


def _drops_own_tests(case: Case, failed: Check, passed: Check) -> bool:
    """Whether tests of the attempt's own were written or removed between: then there may be fewer of those."""
    known = {base_name(one.path) for one in case.touched_tests}
    moves = {one.action for one in case.touched_tests if one.is_gone}
    between = [fact for fact in case.facts[failed.action - 1 : passed.action] if fact.action not in moves]
    paths = [path for fact in between for path in (*fact.effects.writes, *fact.effects.deletes)]
    return any(is_test_file(path) and base_name(path) not in known for path in paths)


def _changes_else(case: Case, failed: Check, passed: Check, tests: Sequence[Touched]) -> bool:
    """Whether anything else was changed between, or may have been by a program."""
    known = {base_name(one.path) for one in tests}
    for fact in case.facts[failed.action : passed.action - 1]:
        if fact.effects.scripts or fact.effects.installs or fact.effects.services:
            return True
        moved = known & set(map(base_name, fact.effects.deletes))
        for path in (*fact.effects.writes, *fact.effects.deletes):
            if base_name(path) not in known and not is_passing(path) and not moved:
                return True
    return False
