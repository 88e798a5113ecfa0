"""The words of a shortcut: what failed, and the shortest way that worked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from dense.evidence.actions.tool_calls import parse_call
from dense.narrate.actions import NarratedAction
from dense.narrate.changes import change, small_changes, standing
from dense.narrate.quoting import HEAD, listed
from dense.narrate.stretch import is_bare
from dense.text.differences import differing_leaves, differing_parts
from dense.text.quoting import plain_text, quoted, ticked

LESSONS = 4
"""How many failures a dead end tells."""
TRIED = 2
"""How many changes before a failure it tells, the last ones."""
STEPS = 3
"""How many changes a way tells, the last ones."""


type Tried = Callable[[NarratedAction], Sequence[NarratedAction]]
"""The changes that a check or a run put to the test."""


def dead_end(
    failed: Sequence[NarratedAction], wrong: Callable[[int], str] = lambda _: "", tried: Tried = lambda _: ()
) -> str:
    """What was tried, and what was seen then, each failure once. `wrong`: what the agent said is wrong with what came
    back. A check says only that it failed: what it was that failed are the changes before it."""
    told: dict[str, list[NarratedAction]] = {}
    for deed in failed:
        told.setdefault(deed.output_text, []).append(deed)
    lines = [_failed(deeds, seen, wrong, tried) for seen, deeds in list(told.items())[-LESSONS:]]
    more = f"; and {len(told) - LESSONS} more" if len(told) > LESSONS else ""
    return "; ".join(lines) + more


def _failed(deeds: Sequence[NarratedAction], seen: str, wrong: Callable[[int], str], tried: Tried) -> str:
    """One failure, with what was changed before it, and what was changed in vain since."""
    first, last = deeds[0], deeds[-1]
    before = _changes_before(first, tried)
    is_counted = bool(before) and bool(first.facts.result.tests)
    did = before if is_counted else f"{before}, then {first.action_text}" if before else first.action_text
    told = f"{did}: {_called_wrong(first, seen, wrong)}{_complaint(first)}"
    if first is last:
        return told
    again = _changes_before(last, tried)
    return f"{told}, and the same after this: {again}" if again and again != before else told


def _changes_before(deed: NarratedAction, tried: Tried) -> str:
    """The changes that a check or a run put to the test, the last ones."""
    if deed.facts.effects.changes_files or deed.could_not_run:
        return ""
    return ", then ".join(dict.fromkeys(map(_change, standing(tried(deed))[-TRIED:])))


COMPLAINT = re.compile(
    r"E {2,8}(\S[^\n]{2,200})|((?:\w{1,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception): [^\n]{1,200})"
    r"|FAILED [^\n]{1,200}? - (\S[^\n]{0,200})|\s{2,12}\w{1,60}_test\.go:\d{1,6}: ([^\n]{1,200})"
)
COMPLAINTS = ("\nE  ", "Error: ", "Exception: ", "\nFAILED ", "_test.go:")
"""How pytest, unittest and go say what a test expected: the line, and what is looked for to find it."""
MOST_LINES = 3
FAR = 1600
"""So far from its end an output is looked at for it."""


def _complaint(deed: NarratedAction) -> str:
    """What the first test that failed says."""
    if not deed.facts.result.tests or deed.could_not_run or not deed.step.observations:
        return ""
    text = deed.step.observations[-1].text[-FAR:]
    for sign in COMPLAINTS:
        at = text.find(sign)
        for _ in range(MOST_LINES):
            if at < 0:
                break
            end = text.find("\n", at + 1)
            end = len(text) if end < 0 else end
            if found := COMPLAINT.fullmatch(text, text.rfind("\n", 0, at + 1) + 1, end):
                return f" ({ticked(next(filter(None, found.groups())), 110)})"
            at = text.find(sign, end)
    return ""


def _called_wrong(deed: NarratedAction, seen: str, wrong: Callable[[int], str]) -> str:
    """What came back; of what nothing but the agent's word speaks against, that word too."""
    words = wrong(deed.action) if not deed.has_failed else ""
    return f"{seen}, of which the agent said {quoted(words, 160)}" if words else seen


def working_path(changes: Sequence[NarratedAction], failed: NarratedAction | None, recovery: NarratedAction) -> str:
    """The changes that stood when it worked, then what showed that it did. Of a call that was tried again, only what
    is different."""
    steps = list(dict.fromkeys(map(_change, standing(changes)[-STEPS:])))
    shown = _difference(failed, recovery) if failed is not None else ""
    shown = shown or change(recovery, recovery.action_text)
    return ", then ".join([*steps, shown if is_bare(recovery.output_text) else f"{shown}: {recovery.output_text}"])


def _change(deed: NarratedAction) -> str:
    """What a change is: the text that it replaced, or the agent's words for it."""
    told = change(deed, deed.action_text)
    if told == deed.action_text and not told.endswith(")") and len(small := list(small_changes(deed))) == 1:
        return f"changed {small[0].replace(ARROW, TO, 1)}" if ARROW in small[0] else told
    return told


ARROW, TO = "` → `", "` to `"
LONGEST_ARGUMENT = 60
MOST_LEAVES = 3
"""So many single values are told in which two lists or records differ."""


def _difference(failed: NarratedAction, worked: NarratedAction) -> str:
    """What one call of a tool has that the one that failed had not; empty where they are not of one tool. An edit is
    told by what it changes."""
    if failed.facts.commands or worked.facts.commands or len(failed.step.calls) != 1 or len(worked.step.calls) != 1:
        return ""
    before, after = parse_call(failed.step.calls[0]), parse_call(worked.step.calls[0])
    if before.name != after.name or worked.facts.effects.changes_files:
        return ""
    told: list[str] = []
    for key, value in after.arguments.items():
        told += _other_values(key, value, before.arguments.get(key))
    told += [f"without {ticked(key, 30)}" for key in before.arguments if key not in after.arguments]
    return f"called {ticked(after.name.split('__')[-1] or after.name, 40)} with {listed(told)}" if told else ""


def _other_values(key: str, value: Any, before: Any) -> list[str]:
    """In what an argument differs from what it was; of lists and records the single values, where they are few and
    short."""
    told: list[str] = []
    for name, new, old in islice(differing_leaves(value, before, key), MOST_LEAVES + 1):
        text, text_before = plain_text(new)[:HEAD], plain_text(old)[:HEAD]
        if not isinstance(new, str) and max(len(text), len(text_before)) > LONGEST_ARGUMENT:
            return [f"other {ticked(key, 30)}"]  # a piece of a list or a record reads as nothing
        text, text_before = differing_parts(text, text_before, LONGEST_ARGUMENT)
        if text != text_before and max(len(text), len(text_before)) <= LONGEST_ARGUMENT:
            instead = f" instead of {ticked(text_before, LONGEST_ARGUMENT)}" if text_before.strip() else ""
            told.append(f"{ticked(name, 60)} {ticked(text, LONGEST_ARGUMENT)}{instead}")
    return told if len(told) <= MOST_LEAVES else [f"other {ticked(key, 30)}"]
