"""Which actions of a subtree are kept by rule, and which an analyst may name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from msgspec import Struct

from dense.evidence.actions import EffectsOf
from dense.tree import Leaf, Node, Shortcut, Subtask, nodes


class Reach(Struct, frozen=True):
    """What lies below a parent."""

    nodes: Mapping[str, Node]
    """All nodes but the parent itself, by identifier, parents first, in the order of the trajectory."""
    kept: Set[str]
    """The actions that are kept by rule: writes and edits, commands that change files or test, and the last action
    under each parent."""
    retained: Set[str]
    """The actions that its children put forward: a child that is an action itself; of any other child what is kept by
    rule, or was named by an analyst before."""

    @property
    def key_actions(self) -> tuple[str, ...]:
        """What is kept by rule, in order."""
        return tuple([identifier for identifier in self.nodes if identifier in self.kept])


class Retention:
    """Knows the key actions of a trajectory: looked at once, asked for at every parent."""

    def __init__(self, all_leaves: Iterable[Leaf], effects: EffectsOf) -> None:
        self.keys = frozenset([leaf.id for leaf in all_leaves if effects(leaf.step).is_key])

    def reach(self, parent: Subtask) -> Reach:
        """What a reply about a parent may speak of, in one walk."""
        under = nodes(parent)[1:]
        below = {node.id: node for node in under}
        kept = {*self.keys.intersection(below), _last(parent)}
        retained = [child.id for child in parent.children if type(child) is Leaf]
        if len(retained) < len(under):
            for node in under:
                if type(node) is not Leaf:
                    kept.add(_last(node))
                    retained += _selected(node)
        return Reach(below, kept, kept.union(retained))


def _last(node: Node) -> str:
    while type(node) is not Leaf:
        node = node.children[-1]
    return node.id


def _selected(node: Subtask | Shortcut) -> tuple[str, ...]:
    if type(node) is Shortcut:
        return node.key_actions
    return node.verdict.key_actions if node.verdict is not None else ()
