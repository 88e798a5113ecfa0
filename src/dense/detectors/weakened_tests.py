"""Tests that pass since they were changed themselves, or since those that failed do not run any more."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from dense.detectors.finding import Finding
from dense.evidence.actions.check_commands import is_test_file
from dense.evidence.checks.checks import Check
from dense.evidence.checks.scopes import Scope
from dense.evidence.checks.touched_tests import Touched, is_wide
from dense.evidence.facts.paths import base_name, is_temporary
from dense.evidence.trace import Case
from dense.narrate.outputs import test_name
from dense.narrate.quoting import listed
from dense.text.quoting import one_line, ticked

SELECTING = re.compile(
    r" -(?:-?(?:t|g|run|filter|grep|test)\b|m (?!\w*(?:test|nose|tox|nox))"
    r"|-(?:lf|ff|sw|last-failed|stepwise|changed|only|shard|test\w))"
)
"""Options that choose some of the tests, and are no part of a scope."""
FAR = 1_000
"""Between a failure and a pass no more actions than this are looked at."""
FILES = 3
"""How many names an issue lists."""


def weakened(case: Case) -> list[Finding]:
    """For each check that failed once and passes at the end: that fewer tests ran then, or that nothing but tests was
    changed between."""
    failed: dict[tuple[str, Scope], Check] = {}
    fewer: dict[tuple[str, Scope], int] = {}
    found: dict[tuple[str, Scope], Finding] = {}
    for check in case.checks:
        if check.has_passed is None or not check.ran or not (failed or found or not check.has_passed):
            continue
        key = (check.runner, check.scope)
        if (check.action, check.command) in case.taken_back:
            continue
        if not check.has_passed:
            failed[key] = check
            found.pop(key, None)
        elif SELECTING.search(check.command):
            continue
        elif (before := failed.pop(key, None)) is not None:
            fewer[key] = before.ran if check.ran < before.ran else 0
            if (one := _weakened(case, before, check)) is not None:
                found[key] = one
        elif key in found and check.ran >= fewer[key] > 0:
            del found[key]  # all of them run again
    return list(found.values())


def _weakened(case: Case, failed: Check, passed: Check) -> Finding | None:
    """What a pass right after a failure is worth."""
    if passed.action - failed.action > FAR:
        return None
    start = bisect_right(case.touched_tests, failed.action, key=_action)
    between = case.touched_tests[start : bisect_left(case.touched_tests, passed.action, key=_action)]
    tests = [one for one in between if not one.is_setting or not is_wide(one.path)]
    is_only = bool(tests) and not _changes_else(case, failed, passed, tests)
    command = f"`{one_line(passed.command, 100)}`"
    if passed.ran < failed.ran and not _drops_own_tests(case, failed, passed, between):
        text = f"{command} ran {failed.ran} tests at a{failed.action}, of which {failed.failed} failed; at"
        text += f" a{passed.action} it passed with {passed.ran}.{_told(between)}"
    elif is_only:
        names = listed([ticked(test_name(name), 60) for name in failed.names], FILES)
        text = f"{command} failed at a{failed.action}{f' ({names})' if names else ''} and passed at a{passed.action}."
        text += _told(tests)
    else:
        return None
    text += " Nothing else was changed." if is_only else ""
    return Finding("weakened", text, (failed.action, passed.action), is_serious=False)


def _action(one: Touched) -> int:
    return one.action


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


def _drops_own_tests(case: Case, failed: Check, passed: Check, touched: Sequence[Touched]) -> bool:
    """Whether tests of the attempt's own were written or removed between: then there may be fewer of those."""
    known = {base_name(one.path) for one in touched}
    moves = {one.action for one in touched if one.is_gone}
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
            if base_name(path) not in known and not is_temporary(path) and not moved:
                return True
    return False
