"""Fits a report into its budget: what matters least is left out first (spec, section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dense.deliver import markup, render
from dense.deliver.markup import MarkupBlock
from dense.deliver.render import Renderer
from dense.tree import ReconciledTree

CUT = " […cut]"
"""The end of a text that was cut. Only the last resort cuts."""

_STAGES: tuple[tuple[render.Detail, str], ...] = (
    ("condensed", "text of succeeded shortcuts"),
    ("folded", "parts below the root's parts"),
)
_IDENTIFIER = re.compile(r"[a-z]{1,8}_?\d{1,9}")


def fit(renderer: Renderer, actions: Mapping[str, MarkupBlock], budget: int) -> tuple[MarkupBlock, tuple[str, ...]]:
    """The fullest report of at most so many bytes, and what was left out, in order."""
    report = renderer.report(actions)
    dropped: list[str] = []
    for detail, name in _STAGES:
        if markup.size(report) <= budget:
            return report, tuple(dropped)
        shorter = renderer.report(actions, detail)
        if markup.size(shorter) < markup.size(report):
            dropped.append(name)
        report = shorter
    if markup.size(report) > budget:
        kept, gone = without_last(report, actions, budget)
        report = renderer.report(kept, "folded")
        dropped += gone
    if markup.size(report) > budget:
        report = compact(renderer.tree, budget)
        dropped.append("all but a compact record of the root")
    return report, tuple(dropped)


def compact(tree: ReconciledTree, budget: int) -> MarkupBlock:
    """The root's state and scope, the open issues as far as they fit, and its summary."""
    root = tree.root
    summary = markup.text("summary", root.summary.strip())
    issues = render.open_issues(tree)
    width = markup.digits(3 + len(issues))

    def record(blocks: list[MarkupBlock], hidden: int) -> MarkupBlock:
        task = markup.group(
            "task",
            blocks,
            id=root.id if _IDENTIFIER.fullmatch(root.id) else None,
            state=render.state_of(root),
            completion_scope=render.SCOPE,
            open_issues_not_shown=str(hidden) if hidden else None,
        )
        return markup.group("report", [task])

    def needs(block: MarkupBlock) -> int:
        return markup.size(block, 2, width)

    # The empty record is measured with a child, because only then its tags have lines of their own.
    frame = markup.text("summary", "")
    room = budget - markup.size(record([frame], len(issues)), 0, width) + needs(frame)
    for_issues = room - min(needs(summary), room // 3)
    shown: list[MarkupBlock] = []
    for issue in issues:
        fitting = _cut(issue, for_issues, width)
        if fitting is None:
            break
        shown.append(fitting)
        for_issues -= needs(fitting)
        room -= needs(fitting)
        if fitting is not issue:
            break
    last = _cut(summary, room, width) if summary.content else None
    return record([*shown, *([last] if last else [])], len(issues) - len(shown))


def without_last(
    report: MarkupBlock, actions: Mapping[str, MarkupBlock], budget: int
) -> tuple[dict[str, MarkupBlock], list[str]]:
    """The actions that stay when as many as it takes go from the end, by the sizes that they are known to have."""
    width = markup.digits(report.blocks)
    total = markup.size(report)
    names = {id(block): name for name, block in actions.items()}
    kept, gone = dict(actions), list[str]()
    shown = [(block, depth) for block, depth in markup.walk(report) if block.name == "key-action"]
    for block, depth in reversed(shown):
        if total <= budget:
            break
        total -= markup.size(block, depth, width)
        kept.pop(names[id(block)], None)
        gone.append(f"key-action {block.attributes['action']}")
    return kept, gone


def _cut(block: MarkupBlock, room: int, width: int) -> MarkupBlock | None:
    """The block, or as much of its text as fits with a mark; None if not even a few words do."""
    if markup.size(block, 2, width) <= room:
        return block
    short = {key: value for key, value in block.attributes.items() if key == "id" and _IDENTIFIER.fullmatch(value)}
    # One line, so that its size does not depend on where it is cut.
    words = " ".join(block.content.split()) if isinstance(block.content, str) else ""
    least = markup.text(block.name, CUT, **short)
    left = room - markup.size(least, 2, width)
    if left < min(20, markup.byte_size(words)):
        return None
    start = words.encode("utf-8", "replace")[:left].decode("utf-8", "ignore")
    return markup.text(block.name, start if start == words else start + CUT, **short)
