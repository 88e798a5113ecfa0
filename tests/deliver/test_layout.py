"""One walk over a tree tells what asking at every node would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dense.deliver.layout import TreeLayout
from dense.trajectory import Source, Step
from dense.tree import Leaf, Node, Shortcut, Subtask, leaves, nodes

type Shape = list[Shape] | None

SHAPES: st.SearchStrategy[list[Shape]] = st.lists(
    st.recursive(st.none(), lambda inner: st.lists(inner, max_size=4), max_leaves=20), max_size=5
)


def tree(shape: list[Shape]) -> Subtask:
    """A tree of this shape: None is an action, a list a subtask or, at every other depth, a shortcut."""
    count = 0

    def make(one: Shape, depth: int) -> Node:
        nonlocal count
        count += 1
        if one is None:
            return Leaf(f"n{count}", count, Step(Source("x")))
        name, children = f"n{count}", tuple([make(child, depth + 1) for child in one])
        return Shortcut(name, name, children, "unknown") if depth % 2 else Subtask(name, depth, name, name, children)

    root = make(shape, 0)
    assert isinstance(root, Subtask)
    return root


@given(shape=SHAPES)
def test_the_layout_is_the_tree(shape: list[Shape]) -> None:
    root = tree(shape)
    layout = TreeLayout(root)
    assert layout.leaves == list(leaves(root))
    assert layout.parents == [node for node in nodes(root) if not isinstance(node, Leaf)]
    assert layout.by_id == {node.id: node for node in nodes(root)}
    for node in nodes(root):
        assert list(layout.below(node)) == list(leaves(node))
        if not isinstance(node, Leaf):
            below = leaves(node)
            assert layout.span(node) == ((below[0], below[-1]) if below else None)


def test_depths_count_from_the_reports_own_block() -> None:
    assert TreeLayout(tree([None, [None, [None]]])).depths == {"n2": 2, "n4": 3, "n6": 4}
