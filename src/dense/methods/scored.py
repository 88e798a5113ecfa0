"""The dense source tree as a report: summaries and labels, without shortcuts, verdicts and issues."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from dense.actions import EffectsOf
from dense.deliver import Fit, budget, evidence, markup
from dense.deliver.markup import Block
from dense.methods.table import GUIDE_MARKERS
from dense.tree import NONE, Facets, Leaf, Node, ReconciledTree, SourceTree, Subtask, leaves

GUIDE = (
    """\
How to read it:
- The attempt as nested `task`s in order, each with its `summary` and what a rerun can use of it. Nobody has drawn them
  together: whether something that is open in one was settled in a later one is for you to see.
- `labels` tells of each action how it was judged within its part: 0 helped, -1 did not help, -2 harmed. They are hints.
- A `key-action` quotes an action and what came back, word for word, and `role` tells why it was picked. What is marked
  `omitted` was too long to quote.
- n1 and a2 are names within the report. A name without a block of its own was left out for length.
"""
    + GUIDE_MARKERS
)
STAGES: tuple[tuple[bool, bool], ...] = ((True, True), (False, True), (False, False))
"""What is shown when quoted actions alone do not give enough room: facets, labels."""


def scored(tree: SourceTree, *, effects: EffectsOf, redacted: str = "") -> Fit:
    """The report on a source tree."""
    bare = ReconciledTree(tree.trajectory, tree.task, tree.root, (), redacted)

    def fit(room: int) -> tuple[Block, tuple[str, ...]]:
        structure = markup.size(_report(bare, {}), 0, evidence.WIDTH)
        chosen = evidence.select(bare, effects=effects, room=max(room - structure, room // 2))
        report, dropped = _report(bare, chosen.blocks), list(chosen.left_out)
        if markup.size(report) > room:
            kept, gone = budget.without_last(report, chosen.blocks, room)
            report = _report(bare, kept)
            dropped += gone
        for has_facets, has_labels in STAGES:
            if markup.size(report) <= room:
                return report, tuple(dropped)
            report = _report(bare, {}, has_facets=has_facets, has_labels=has_labels)
        if markup.size(report) > room:
            report = budget.compact(bare, room)
            dropped.append("all but a compact record of the root")
        return report, tuple(dropped)

    return fit


def _report(
    tree: ReconciledTree, actions: Mapping[str, Block], *, has_facets: bool = True, has_labels: bool = True
) -> Block:
    names = Facets.__struct_fields__ if has_facets else ()
    root = _task(tree.root, actions, names, has_labels)
    return markup.group("report", [root], redacted=tree.redacted or None)


def _task(node: Subtask, actions: Mapping[str, Block], facets: Collection[str], has_labels: bool) -> Block:
    blocks = [*_text("summary", node.summary)]
    for name in facets:
        blocks += _text(name.replace("_", "-"), getattr(node.facets, name))
    blocks += _parts(node, actions, facets, has_labels)
    numbers = [leaf.action for leaf in leaves(node)]
    span = f"a{numbers[0]}-a{numbers[-1]}" if numbers else None
    return markup.group("task", blocks, id=node.id, title=node.title, actions=span)


def _parts(node: Subtask, actions: Mapping[str, Block], facets: Collection[str], has_labels: bool) -> Iterator[Block]:
    """The children in order: labels of neighbouring actions together, then those of them that are quoted."""
    for is_leaf, group in groupby(node.children, key=lambda child: isinstance(child, Leaf)):
        children: list[Node] = list(group)
        if is_leaf:
            own = [child for child in children if isinstance(child, Leaf)]
            if has_labels:
                yield from _labels(own)
            yield from (actions[leaf.id] for leaf in own if leaf.id in actions)
        else:
            yield from (_task(child, actions, facets, has_labels) for child in children if isinstance(child, Subtask))


def _labels(found: list[Leaf]) -> Iterator[Block]:
    judged = [leaf for leaf in found if leaf.label is not None]
    lines = [f"a{leaf.action} {leaf.label}: {' '.join(leaf.reason.split())}" for leaf in judged]
    if lines:
        yield markup.text("labels", "\n".join(lines))


def _text(name: str, content: str) -> Iterator[Block]:
    content = content.strip()
    if content.rstrip(".").casefold() not in {"", NONE}:
        yield markup.text(name, content)
