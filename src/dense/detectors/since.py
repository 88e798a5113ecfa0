"""Whether what an action shows may have changed since."""

from __future__ import annotations

import re

from dense.evidence.trace import Case

BEHIND = re.compile(r"[^&>]&\s*(?:$|\n|;|\)|[a-z])|\b(?:nohup|setsid|screen|tmux)\b")
"""How a command is left running."""


def goes_on(case: Case, action: int) -> bool:
    """Whether anything after an action may make or fill a file: a program, a change."""
    return any(f.effects.changes_files or f.effects.scripts or f.phase in {"run", "setup"} for f in case.facts[action:])


def is_under_way(case: Case, action: int) -> bool:
    """Whether what an action started may still run."""
    fact = case.of(action)
    return bool(fact.effects.services) or any(map(BEHIND.search, fact.commands))
