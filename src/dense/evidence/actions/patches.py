"""The files that a patch names: unified diffs, git's, and the form of `apply_patch`."""

from __future__ import annotations

import re

from dense.evidence.actions.ledger import Ledger

HEADER = re.compile(
    r"^(?:\*\*\* (Add|Update|Delete) File: |(?:\*\*\* Move to: |rename to |copy to )|(rename from )|(--- )|(\+\+\+ ))"
    r"(.+)$",
    re.MULTILINE,
)


def note_patch(patch: str, ledger: Ledger, cwd: str = "") -> bool:
    """Notes what a patch changes; whether it named any file."""
    old = ""
    is_known = False
    for found in HEADER.finditer(patch):
        verb, source, minus, plus, rest = found.groups()
        path = rest.strip().split("\t")[0]
        if minus:
            old = bare(path)
            continue
        is_known = True
        if verb == "Delete" or source:
            ledger.delete(path, cwd=cwd)
        elif plus:
            (ledger.delete(old, cwd=cwd) if path == "/dev/null" else ledger.write(bare(path), cwd=cwd))
        else:
            ledger.write(path, cwd=cwd)
    return is_known


def bare(path: str) -> str:
    """Without the `a/` and `b/` of git."""
    return path[2:] if path[:2] in ("a/", "b/") else path
