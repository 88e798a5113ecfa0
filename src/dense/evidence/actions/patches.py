"""The files that a patch names: unified diffs, git's, and the form of `apply_patch`."""

from __future__ import annotations

import re

from dense.evidence.actions.builder import EffectsBuilder

HEADER = re.compile(
    r"^(?:\*\*\* (Add|Update|Delete) File: |\*\*\* Move to: |(--- )(?:a/)?|(\+\+\+ )(?:b/)?)(.+)$", re.MULTILINE
)


def record_patch(patch: str, builder: EffectsBuilder, cwd: str = "") -> bool:
    """Records what a patch changes; whether it named any file."""
    old = ""
    is_known = False
    for found in HEADER.finditer(patch):
        verb, minus, plus, rest = found.groups()
        path = rest.strip().split("\t")[0]
        if minus:
            old = path
            continue
        is_known = True
        if verb == "Delete":
            builder.delete(path, cwd=cwd)
        elif plus and path == "/dev/null":
            builder.delete(old, cwd=cwd)
        else:
            builder.write(path, cwd=cwd)
    return is_known
