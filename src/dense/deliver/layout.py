"""The nodes, actions and depths of a tree, from one walk: selection asks for them at every node."""

from __future__ import annotations

from collections.abc import Sequence

from dense.tree import Leaf, Node, Shortcut, Subtask


class TreeLayout:
    """The nodes of a tree and the actions below each of them."""

    def __init__(self, root: Subtask) -> None:
        self.leaves: list[Leaf] = []
        """All actions, in order."""
        self.parents: list[Subtask | Shortcut] = []
        """All other nodes, the root first, parents before what is below them."""
        self.depths: dict[str, int] = {}
        """The depth of each action's block: its depth in the tree, below the report's own block."""
        self.by_id: dict[str, Node] = {}
        """All nodes by their identifiers."""
        self._reach: dict[int, tuple[int, int]] = {}
        self._visit(root, 1)

    def below(self, node: Node) -> Sequence[Leaf]:
        """The actions below a node of the tree, in order."""
        if isinstance(node, Leaf):
            return (node,)
        first, end = self._reach[id(node)]
        return self.leaves[first:end]

    def span(self, node: Subtask | Shortcut) -> tuple[Leaf, Leaf] | None:
        """The first and the last action below a node of the tree."""
        first, end = self._reach[id(node)]
        return (self.leaves[first], self.leaves[end - 1]) if first < end else None

    def _visit(self, node: Subtask | Shortcut, depth: int) -> None:
        self.by_id[node.id] = node
        self.parents.append(node)
        first = len(self.leaves)
        for child in node.children:
            if isinstance(child, Leaf):
                self.by_id[child.id] = child
                self.depths[child.id] = depth + 1
                self.leaves.append(child)
            else:
                self._visit(child, depth + 1)
        self._reach[id(node)] = (first, len(self.leaves))
