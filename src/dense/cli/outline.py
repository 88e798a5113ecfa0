"""A reconciled tree in the terminal: a line for each part, the open issues in full."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.text import Text
from rich.tree import Tree

from dense.cli.text import printable, shortened
from dense.tree import Leaf, Node, ReconciledTree, Shortcut, State, Subtask, first_action, last_action, open_issues

STYLES: dict[str, str] = {
    "complete": "green",
    "incomplete": "yellow",
    "broken": "red",
    "unknown": "cyan",
    "succeeded": "green",
    "failed": "red",
    "partial": "yellow",
}
MAX_TITLE_CHARS = 70
MAX_PARTS = 12
"""How many parts of one node are shown: the first and the last ones; those between are counted."""
MAX_LEVELS = 2
"""How deep the tree is shown."""


class PlainTree(Tree):
    """A tree without drawn lines, for screen readers and simple terminals."""

    TREE_GUIDES = [("  ", "  ", "  ", "  ")] * 3


def outline(tree: ReconciledTree, source: str) -> Group:
    """The tree, two levels of it, below the name of its trace, and the issues that are open."""
    return Group(outline_tree(tree, source), *_issues(tree))


def outline_tree(tree: ReconciledTree, source: str, *, is_plain: bool = False) -> Tree:
    """The tree, two levels of it, below the name of its trace; indented by blanks alone if it is to be plain."""
    kind = PlainTree if is_plain else Tree
    shown = kind(_line(source, _state(tree.root), tree.root), guide_style="dim")
    _add(shown, tree.root.children, MAX_LEVELS)
    return shown


def _add(shown: Tree, children: tuple[Node, ...], levels: int) -> None:
    for child in _some(children):
        if isinstance(child, int):
            shown.add(Text(f"… {child} more", style="dim"))
        elif isinstance(child, Subtask):
            branch = shown.add(_line(child.title, _state(child), child))
            if levels > 1 and _state(child) != "complete":
                _add(branch, tuple(node for node in child.children if not isinstance(node, Leaf)), levels - 1)
        elif isinstance(child, Shortcut):
            branch = shown.add(_line(child.title, f"shortcut, {child.outcome}", child, STYLES.get(child.outcome, "")))
            for name, text in (("dead end", child.dead_end), ("what worked", child.working_path)):
                if text.strip():
                    branch.add(Text(f"{name}: {shortened(text, 160)}", style="dim"))
        else:
            shown.add(Text(f"a{child.action}", style="dim"))


def _some(children: tuple[Node, ...]) -> Iterator[Node | int]:
    """The children; of very many the first and the last, with the number of those between."""
    if len(children) <= MAX_PARTS:
        yield from children
        return
    yield from children[: MAX_PARTS // 2]
    yield len(children) - MAX_PARTS
    yield from children[-(MAX_PARTS // 2) :]


def _line(title: str, state: str, node: Node, style: str = "") -> Text:
    first, last = first_action(node), last_action(node)
    span = f"a{first}" if first == last else f"a{first}-a{last}"
    line = Text(shortened(title, MAX_TITLE_CHARS))
    line.append("  ")
    line.append(state, style=style or STYLES.get(state, ""))
    return line.append(f"  {span}", style="dim")


def _state(node: Subtask) -> State:
    return node.verdict.state if node.verdict is not None else "unknown"


def _issues(tree: ReconciledTree) -> Iterator[Text]:
    for issue in open_issues(tree):
        line = Text("open: ", style="bold yellow")
        yield line.append(printable(issue.text), style="default")
