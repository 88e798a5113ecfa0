"""A title and a summary made from the actions themselves, where no analyst gave any: what was run, and how it ended."""

from __future__ import annotations

from dense.evidence.actions import commands
from dense.tree import Leaf, Node, leaves

TITLE = 80
SUMMARY = 600


def own_title(members: tuple[Node, ...]) -> str:
    """What the stretch begins with, and how long it is."""
    first, count = _first(members), len(leaves(*members))
    return _cut(f"{_doing(first)}, {count} actions" if count > 1 else _doing(first), TITLE)


def own_summary(members: tuple[Node, ...]) -> str:
    """The commands in order, shortened."""
    parts = [_doing(node) if isinstance(node, Leaf) else node.title for node in members]
    return _cut("; ".join(parts), SUMMARY)


def _first(members: tuple[Node, ...]) -> Leaf:
    return leaves(members[0])[0]


def _doing(leaf: Leaf) -> str:
    """One action in a few words: its command, its tool, or its message."""
    run = commands(leaf.step)
    if run:
        return _cut(" ".join(run[0].split()), TITLE)
    if leaf.step.calls:
        return leaf.step.calls[0].name
    return _cut(" ".join(leaf.step.message.split()) or "an action without words", TITLE)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
