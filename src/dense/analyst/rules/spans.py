"""The actions that a part of a draft covers."""

from __future__ import annotations

from dense.draft import LeafDraft, SubtaskDraft

type Part = LeafDraft | SubtaskDraft


def first_of(part: Part) -> int:
    """The number of the first action of a part."""
    while isinstance(part, SubtaskDraft):
        part = part.children[0]
    return part.action


def last_of(part: Part) -> int:
    """The number of the last action of a part."""
    while isinstance(part, SubtaskDraft):
        part = part.children[-1]
    return part.action
