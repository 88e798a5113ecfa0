"""Which actions of a subtree are kept by rule, and which an analyst may name."""

from __future__ import annotations

from collections.abc import Iterable

from dense.actions import effects
from dense.tree import Leaf, Node, Shortcut, Subtask, leaves


class Retention:
    """Knows the key actions of a trajectory: looked at once, asked for at every parent."""

    def __init__(self, all_leaves: Iterable[Leaf]) -> None:
        self.keys = {leaf.id for leaf in all_leaves if effects(leaf.step).is_key}

    def deterministic(self, children: Iterable[Node]) -> set[str]:
        """Writes and edits, commands that change files or test, and the last action under each parent."""
        kept: set[str] = set()
        last = ""
        for child in children:
            below = [leaf.id for leaf in leaves(child)]
            kept |= self.keys.intersection(below)
            last = below[-1]
            if not isinstance(child, Leaf):
                kept |= self.deterministic(child.children)
        return kept | {last}

    def of(self, node: Node) -> set[str]:
        """The actions that a node puts forward: itself, or what is kept of what lies below it."""
        if isinstance(node, Leaf):
            return {node.id}
        kept = self.deterministic(node.children) | set(_selected(node))
        for child in node.children:
            if not isinstance(child, Leaf):
                kept |= self.of(child)
        return kept


def _selected(node: Subtask | Shortcut) -> tuple[str, ...]:
    if isinstance(node, Shortcut):
        return node.key_actions
    return node.verdict.key_actions if node.verdict is not None else ()
