"""Trees of large traces for their files: the texts of actions are shortened, because the trace itself has them.

A tree of a usual trace holds its steps whole, so that it renders to the same feedback again. One of a trace with more
than `MAX_CHARS` of text would be a second copy of the trace in each of its two files."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dense.redact.walk import rewrite_trajectory, texts_of
from dense.text.clip import clip_middle
from dense.trajectory import Source, Step, Trajectory
from dense.tree import Leaf, Node, ReconciledTree, Shortcut, SourceTree, Subtask, leaves

MAX_CHARS = 8_000_000
"""Characters of all texts up to which a tree is written whole."""
KEPT_CHARS = 300_000
"""Characters that remain of a larger one, shared equally by its texts."""
MIN_CHARS = 40
"""No text is made shorter."""


def light[Tree: SourceTree | ReconciledTree](tree: Tree) -> Tree:
    """The tree with shortened texts if they are very long, else the same."""
    steps = Trajectory("", "", Source(""), steps=tuple([leaf.step for leaf in leaves(tree.root)]))
    sizes = [len(text) for text in texts_of(steps)]
    if sum(sizes) <= MAX_CHARS:
        return tree
    limit = max(MIN_CHARS, KEPT_CHARS // max(1, sum(size > MIN_CHARS for size in sizes)))
    short = iter(rewrite_trajectory(steps, lambda text: clip_middle(text, limit)).steps)
    return replace(tree, root=_with_steps(tree.root, short))


def _with_steps[N: Node](node: N, steps: Iterator[Step]) -> N:
    """A node with the next of these steps in its leaves."""
    if isinstance(node, Leaf):
        return replace(node, step=next(steps))
    inner: Subtask | Shortcut = node
    return replace(node, children=tuple([_with_steps(child, steps) for child in inner.children]))
