"""The words of a shortcut: what failed, and the shortest way that worked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.actions.tools import known
from dense.analyst.rules.changes_told import change, small_changes, standing
from dense.analyst.rules.phrases import Deed
from dense.analyst.rules.quoting import HEAD, listed, plain_text, quoted, ticked
from dense.analyst.rules.stretch import is_bare

LESSONS = 4
"""How many failures a dead end tells."""
STEPS = 3
"""How many changes a way tells, the last ones."""


def dead_end(failed: Sequence[Deed], wrong: Callable[[int], str] = lambda _: "") -> str:
    """What failed and what was seen, each failure once. `wrong`: what the agent said is wrong with what came back."""
    told: dict[str, Deed] = {}
    for deed in failed:
        told.setdefault(deed.saw, deed)
    lines = [f"{deed.did}: {_called_wrong(deed, seen, wrong)}" for seen, deed in list(told.items())[-LESSONS:]]
    more = f"; and {len(told) - LESSONS} more" if len(told) > LESSONS else ""
    return "; ".join(lines) + more


def _called_wrong(deed: Deed, seen: str, wrong: Callable[[int], str]) -> str:
    """What came back; of what nothing but the agent's word speaks against, that word too."""
    words = wrong(deed.action) if not deed.has_failed else ""
    return f"{seen}, of which the agent said {quoted(words, 160)}" if words else seen


def working_path(changes: Sequence[Deed], failed: Deed | None, recovery: Deed) -> str:
    """The changes that stood when it worked, then what showed that it did. Of a call that was tried again, only what
    is different."""
    steps = list(dict.fromkeys(map(_change, standing(changes)[-STEPS:])))
    shown = _difference(failed, recovery) if failed is not None else ""
    shown = shown or change(recovery, recovery.did)
    return ", then ".join([*steps, shown if is_bare(recovery.saw) else f"{shown}: {recovery.saw}"])


def _change(deed: Deed) -> str:
    """What a change is: the text that it replaced, or the agent's words for it."""
    told = change(deed, deed.did)
    if told == deed.did and not told.endswith(")") and len(small := list(small_changes(deed))) == 1:
        return f"changed {small[0]}" if "→" in small[0] else told
    return told


LONGEST_ARGUMENT = 60


def _difference(failed: Deed, worked: Deed) -> str:
    """What one call of a tool has that the one that failed had not; empty where they are not of one tool. An edit is
    told by what it changes."""
    if failed.facts.commands or worked.facts.commands or len(failed.step.calls) != 1 or len(worked.step.calls) != 1:
        return ""
    before, after = known(failed.step.calls[0]), known(worked.step.calls[0])
    if before.name != after.name or worked.facts.effects.changes_files:
        return ""
    told: list[str] = []
    for key, value in after.arguments.items():
        before_it = before.arguments.get(key)
        if not isinstance(value, str) and max(len(plain_text(value)), len(plain_text(before_it))) > LONGEST_ARGUMENT:
            if value != before_it:
                told.append(f"other {ticked(key, 30)}")  # a piece of a list or a record reads as nothing
            continue
        new, old = _differing(plain_text(value)[:HEAD], plain_text(before_it)[:HEAD])
        if new != old and max(len(new), len(old)) <= LONGEST_ARGUMENT:
            instead = f" instead of {ticked(old, LONGEST_ARGUMENT)}" if old.strip() else ""
            told.append(f"{ticked(key, 30)} {ticked(new, LONGEST_ARGUMENT)}{instead}")
    told += [f"without {ticked(key, 30)}" for key in before.arguments if key not in after.arguments]
    return f"called {ticked(after.name.split('__')[-1] or after.name, 40)} with {listed(told)}" if told else ""


def _differing(new: str, old: str) -> tuple[str, str]:
    """Two texts, of long ones the piece in which they differ, from the word before it on."""
    if max(len(new), len(old)) <= LONGEST_ARGUMENT or not old:
        return new, old
    start = _common(new, old)
    end = _common(new[start:][::-1], old[start:][::-1])
    start = max(new.rfind(" ", 0, start) + 1, start - LONGEST_ARGUMENT // 2)
    return new[start : len(new) - end], old[start : len(old) - end]


def _common(a: str, b: str) -> int:
    """How far two texts are the same."""
    return next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
