"""Checks that ran while the changes were taken back: `git stash`, the test again, `git stash pop`. They tell how things
were before the changes, and nothing about the changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.checks.checks import Check
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, is_temporary

STASHED = re.compile(r"\bgit stash(?!\s+(?:pop|apply|list|show|drop|clear|branch|create)\b)")
CHECKED_OUT = re.compile(r"\bgit (?:checkout|restore|reset --hard)\b(?!\s+-[bB]\b)(?! --staged)")
BESIDE = re.compile(r"\bgit worktree add\s+(?:-\S+\s+)*(\S+)")
"""A second copy of what was committed, which lies beside the changes."""
BROUGHT_BACK = re.compile(r"\bgit stash (?:pop|apply)\b|\bgit apply\b|\bpatch -p|(?:^|[\n;&|]\s*)(?:cp|mv) ")
UNDOING = ("git stash", "git worktree", "git checkout", "git restore", "git reset")
"""Without one of these nothing is taken back."""
WRITTEN = ("sed -i", "<<", "python -c", "python3 -c")
"""What changes files again in the action that took them back."""


class _State(Struct):
    """What is taken back as actions go by."""

    since: int = 0
    """The action that took the changes back; 0 where they are there."""
    files: frozenset[str] = frozenset()
    """The files, by base name; empty for all."""
    beside: tuple[str, ...] = ()
    """Folders with copies of what was committed."""


def taken_back(facts: Sequence[ActionFacts], checks: Sequence[Check]) -> dict[tuple[int, str], bool]:
    """The checks, by action and command, that ran while changes were taken back; and whether the same changes were
    brought back after it."""
    texts = ["\n".join(fact.commands) if "git" in fact.effects.runs else "" for fact in facts]
    if not any(word in text for text in texts if text for word in UNDOING):
        return {}
    by_action: dict[int, list[Check]] = {}
    for check in checks:
        by_action.setdefault(check.action, []).append(check)
    found: dict[tuple[int, str], bool] = {}
    pending: list[tuple[int, str]] = []
    written: set[str] = set()
    state = _State()
    for fact in facts:
        text = texts[fact.action - facts[0].action] or "\n".join(fact.commands)
        own = by_action.get(fact.action, ())
        start, end = _within(text, fact, written, state) if any(word in text for word in UNDOING) else (-1, -1)
        for check in own:
            key = (check.action, check.command)
            place = text.rfind(check.command)
            if any(folder in text for folder in state.beside):
                found[key] = True
            elif start >= 0 and place > start and (end < 0 or place < end):
                found[key] = end >= 0 or BESIDE.search(text) is not None
                pending += [] if found[key] else [key]
            elif state.since and fact.action > state.since and not _ends_before(place, state, fact, text):
                found[key] = False
                pending.append(key)
        if state.since and fact.action > state.since and _ends(state, fact, text):
            found.update(dict.fromkeys(pending, BROUGHT_BACK.search(text) is not None))
            pending, state.since = [], 0
        written.update(base_name(path) for path in fact.effects.writes if not is_temporary(path))
    return found


def _within(text: str, fact: ActionFacts, written: set[str], state: _State) -> tuple[int, int]:
    """Where in an action the changes are taken back, and where they are brought back; -1 for nowhere. Notes what stays
    taken back after it."""
    if beside := BESIDE.search(text):
        state.beside = (*state.beside, beside[1].rstrip("/"))
        return beside.end(), -1
    stashed = STASHED.search(text)
    undone = stashed or CHECKED_OUT.search(text)
    if undone is None or (fact.has_failed and not fact.is_check):
        return -1, -1
    names = frozenset(base_name(path) for path in fact.effects.writes)
    files: frozenset[str] = names & written if not stashed and "." not in names else frozenset()
    if not written or not (stashed or "." in names or files) or any(word in text[undone.end() :] for word in WRITTEN):
        return -1, -1
    again = BROUGHT_BACK.search(text, undone.end())
    if again is None:
        state.since, state.files = fact.action, files
    return undone.start(), again.start() if again else -1


def _ends(state: _State, fact: ActionFacts, text: str) -> bool:
    """Whether an action ends it: it brings the changes back, or changes the same files anew."""
    names = [base_name(path) for path in fact.effects.writes if not is_temporary(path)]
    if state.files:
        return not state.files.isdisjoint(names) or ("." in names and BROUGHT_BACK.search(text) is not None)
    return "." in names or (bool(names) and "git stash" not in text)


def _ends_before(place: int, state: _State, fact: ActionFacts, text: str) -> bool:
    """Whether it does so before what stands at a place of its text."""
    if not _ends(state, fact, text):
        return False
    again = BROUGHT_BACK.search(text)
    return again is None or again.start() < place
