"""The dense source tree as a report: summaries, facets and labels, without shortcuts, verdicts and issues.

What does not fit goes by `KINDS`: quoted actions first, then labels and facets, then whole tasks, the deepest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dense.deliver.key_actions import KeyAction, quote_action
from dense.deliver.page import ALWAYS, Fit, Item, ReportPage, fit_items, one_line, shortened, total_size
from dense.evidence.actions import EffectsOf
from dense.methods.list_report import left_out_line
from dense.transcript import TranscriptAction, transcript_actions
from dense.tree import NONE, Facets, Leaf, SourceTree, Subtask, first_action, last_action, leaves

KINDS = ("label", "facet", "task", "summary")
"""What goes first if there is too little room, and what last; of a kind, the deepest first."""
MAX_DEPTH = 20
"""Deeper tasks have the value of this depth."""


def source_report(tree: SourceTree, *, effects: EffectsOf, redacted: str = "") -> Fit:
    """The report on a source tree."""
    items = list(_items(tree.root, 0))
    if redacted:
        items.insert(0, Item("redacted", ALWAYS, "redacted: ", one_line(redacted)))
    actions = transcript_actions([leaf.step for leaf in leaves(tree.root)])
    keys = list(_key_actions(tree.root, actions, effects))

    def fit(room: int) -> ReportPage:
        reserve = 0 if total_size(items) <= room else left_out_line(len(items), total_size(items)).size
        kept, dropped = fit_items(items, room - reserve)
        if not kept and (first := shortened(items[-1] if len(items) == 1 else items[0], room - reserve)):
            kept, dropped = [first], items[1:]
        quoted: list[Item] = []
        left = room - reserve - total_size(kept)
        for key in keys:
            item = quote_action(key, left)
            if item is not None and item.size <= left:
                quoted.append(item)
                left -= item.size
        note = left_out_line(len(dropped), total_size(dropped))
        notes = [note] if dropped and note.size <= reserve else []
        shown = {item.text for item in quoted}
        names = [f"key-action a{key.action} ({key.size} bytes)" for key in keys if f"a{key.action}" not in shown]
        names = [f"{item.kind} ({item.size} bytes)" for item in dropped] + names
        return ReportPage((*kept, *reversed(quoted), *notes), tuple(names))

    return fit


def _items(node: Subtask, depth: int) -> Iterator[Item]:
    """A task, what a rerun can use of it, its labels, and the tasks below it."""
    indent = " " * depth
    span = f"a{first_action(node)}-a{last_action(node)}" if node.children else ""
    text = ". ".join(part for part in (one_line(node.title), one_line(node.summary)) if part and part != NONE)
    yield _item("task" if depth else "summary", depth, f"{indent}task ", f"{span}: {text}")
    for name in Facets.__struct_fields__:
        said = one_line(getattr(node.facets, name))
        if said.casefold() not in {"", NONE}:
            yield _item("facet", depth, f"{indent} {name.replace('_', '-')}: ", said)
    for child in node.children:
        if isinstance(child, Subtask):
            yield from _items(child, depth + 1)
        elif isinstance(child, Leaf) and child.label is not None:
            yield _item("label", depth, f"{indent} label ", f"a{child.action} {child.label}: {one_line(child.reason)}")


def _item(kind: str, depth: int, label: str, text: str) -> Item:
    value = KINDS.index(kind) * (MAX_DEPTH + 1) + MAX_DEPTH - min(depth, MAX_DEPTH)
    return Item(kind, min(value, ALWAYS - 1), label, text)


def _key_actions(root: Subtask, actions: Sequence[TranscriptAction], effects: EffectsOf) -> Iterator[KeyAction]:
    """The actions that changed files or ran checks, the latest first: they show how it ended."""
    steps = {leaf.action: leaf.step for leaf in leaves(root)}
    for action in reversed(actions):
        if effects(steps[action.last]).is_key:
            yield KeyAction(action.last, "needed", "", action.blocks)
