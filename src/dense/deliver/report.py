"""The report on an accepted tree: the most useful thing first, each fact once, within so many bytes.

    state, summary        what the attempt came to, how it ended
    next-step             what to do differently, in order
    open-issue            with the lines that show it; then what the task demands and nobody checked
    proven                values with the check that proved them, what a rerun needs, what must come before what
    dead-end              one line each
    task                  the subtasks in order, one line each
    key-action            original bytes: final products, what shows an open issue, the last verification

What does not fit goes by `IMPORTANCE`, whatever its place; the evidence of open issues goes last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dense.deliver.key_actions import KeyAction, quote_action, rank_key_actions
from dense.deliver.page import ALWAYS, Item, byte_size, fit_items, one_line
from dense.text.clip import clip_middle
from dense.transcript import TranscriptAction
from dense.tree import NONE, Issue, Leaf, Node, ReconciledTree, Shortcut, Subtask, first_action, last_action, nodes

IMPORTANCE = (
    "met",  # a requirement that is met: good to know, nothing to do
    "verdict",  # why a subtask is not complete
    "complete-task",
    "task",  # a subtask that is not complete
    "working-path",
    "dead-end",
    "unchecked",
    "order",
    "needs",
    "proven",
    "summary",
    "not-met",
    "next-step",
    "open-issue",
    "evidence",
)
"""What goes first if there is too little room, and what last."""
PRODUCT_SHARE = 0.6
"""Of the room, at most so much is kept free for the final products while prose of little value is chosen."""
MIN_KEY_ACTION_BYTES = 240
MAX_EVIDENCE_CHARS = 240
MAX_EVIDENCE_LINES = 3
SHINGLE = 8
MAX_REPEATED = 0.5
"""A line of which a larger part was said above is not said again."""


class Report(Struct, frozen=True):
    """A report and what became of its parts."""

    items: tuple[Item, ...]
    """In the order of reading."""
    dropped: tuple[str, ...] = ()
    """What there was no room for, with its size."""


def make_report(tree: ReconciledTree, actions: Sequence[TranscriptAction], budget: int, marker: str) -> Report:
    """The report in at most so many bytes, as far as its first lines allow."""
    prose = _once(list(_prose(tree, actions)))
    ranked = rank_key_actions(tree, actions)
    reserved = _reserved(ranked, actions, budget)
    kept, dropped = fit_items(prose, max(budget - reserved, int(budget * (1 - PRODUCT_SHARE))))
    room = budget - sum(item.size for item in kept)
    note = _left_out_note(dropped, ())
    room -= note.size if note else 0
    quoted: list[Item] = []
    missing: list[tuple[KeyAction, int]] = []
    for key in ranked:
        item = quote_action(key, actions, max(room, 0), marker) if room >= MIN_KEY_ACTION_BYTES else None
        if item is None or item.size > room:
            missing.append((key, key.size(actions)))
            continue
        quoted.append(item)
        room -= item.size
    items = [*kept, *sorted(quoted, key=_action_number)]
    # With room left after all, prose that had made way for key actions comes back, the most useful first.
    kept_again = _refill(prose, kept, room)
    if kept_again:
        items = [item for item in prose if item in kept or item in kept_again] + items[len(kept) :]
        dropped = [item for item in dropped if item not in kept_again]
    note = _left_out_note(dropped, missing)
    if note is not None:
        items.append(note)
    names = [f"{item.kind} ({item.size} bytes)" for item in dropped]
    names += [f"key-action a{key.action} ({size} bytes)" for key, size in missing]
    return Report(tuple(items), tuple(names))


def _refill(prose: Sequence[Item], kept: Sequence[Item], room: int) -> list[Item]:
    found: list[Item] = []
    for item in sorted((item for item in prose if item not in kept), key=lambda item: -item.value):
        if item.size <= room:
            found.append(item)
            room -= item.size
    return found


def _action_number(item: Item) -> int:
    found = re.search(r"a(\d+)", item.label)
    return int(found[1]) if found else 0


def _reserved(ranked: Sequence[KeyAction], actions: Sequence[TranscriptAction], budget: int) -> int:
    """Bytes kept free for the final products, whole, and for what shows the open issues, in brief."""
    total = 0
    for key in ranked:
        if key.role == "final":
            total += key.size(actions) + 80
        elif key.role == "shows":
            total += min(key.size(actions) + 80, 900)
    return min(total, int(budget * PRODUCT_SHARE))


def _left_out_note(dropped: Sequence[Item], missing: Sequence[tuple[KeyAction, int]]) -> Item | None:
    parts: list[str] = []
    if dropped:
        parts.append(f"{len(dropped)} less useful lines ({sum(item.size for item in dropped):,} bytes)")
    parts += [f"a{key.action} {key.purpose} ({size:,} bytes)" for key, size in missing[:12]]
    if len(missing) > 12:
        parts.append(f"{len(missing) - 12} more key actions")
    return Item("left-out", ALWAYS, "left out for size: ", "; ".join(parts)) if parts else None


# --- prose ---------------------------------------------------------------------------------------------------------


def _item(kind: str, label: str, text: str) -> Item:
    value = IMPORTANCE.index(kind) if kind in IMPORTANCE else ALWAYS
    return Item(kind, value, label, text)


def _prose(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> Iterator[Item]:
    yield from _head(tree, actions)
    yield from _next_steps(tree)
    yield from _open_issues(tree, actions)
    yield from _requirements(tree)
    yield from _proven(tree)
    yield from _dead_ends(tree)
    for child in tree.root.children:
        yield from _subtask(child, tree, 0)


def _head(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> Iterator[Item]:
    verdict = tree.root.verdict
    state = verdict.state if verdict is not None else "unknown"
    unchecked = sum(one.met == "unchecked" for one in tree.requirements)
    limits = f", {unchecked} of {len(tree.requirements)} requirements unchecked" if unchecked else ""
    count = actions[-1].last if actions else 0
    ended = ending_sentence(actions)
    text = (
        f"{state}{limits} (trajectory_local: judged from the record of {count} actions, no grader was asked). {ended}"
    )
    yield Item("state", ALWAYS, "state: ", text)
    if tree.redacted:
        yield Item("redacted", ALWAYS, "", one_line(f"{tree.redacted} replaced before analysis"))
    if summary := one_line(tree.root.summary):
        yield _item("summary", "summary: ", summary)


def ending_sentence(actions: Sequence[TranscriptAction]) -> str:
    """How the attempt ended, as far as the record shows."""
    if not actions:
        return "The record is empty."
    last = actions[-1]
    if last.is_message:
        return "It ended with a closing message of the agent."
    if any(HAND_OVER.search(block.text[:400]) for block in last.blocks if block.kind == "call"):
        return f"The agent handed in its work at a{last.last}."
    return f"The record stops after a{last.last} without a closing message."


HAND_OVER = re.compile(
    r"COMPLETE_TASK_AND_SUBMIT|\b(?:submit|finish|attempt_?completion|task_complete|mark_task_complete|return_result)\b",
    re.IGNORECASE,
)


def _next_steps(tree: ReconciledTree) -> Iterator[Item]:
    for number, step in enumerate(tree.next_steps, 1):
        mark = "untested, " if step.is_untested else ""
        yield _item("next-step", f"next-step {number}: ", f"{mark}{one_line(step.text)}{_refs(step.evidence)}")


def _open_issues(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> Iterator[Item]:
    for issue in open_issues(tree):
        fatal = " (fatal)" if issue.is_fatal else ""
        refs = _refs(_action_ids(issue.evidence, tree))
        yield _item("open-issue", f"open-issue {issue.id}{fatal}: ", f"{one_line(issue.text)}{refs}")
        for action, line in evidence_lines(issue, tree, actions):
            yield _item("evidence", f"  a{action}| ", line)


def open_issues(tree: ReconciledTree) -> list[Issue]:
    """The issues that are still open, fatal ones first."""
    return sorted((issue for issue in tree.issues if issue.resolved_at is None), key=lambda issue: not issue.is_fatal)


def evidence_lines(issue: Issue, tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> list[tuple[int, str]]:
    """The quoted line with its action. An issue about something that was never done has none."""
    if not issue.quote:
        return []
    wanted = " ".join(issue.quote.split())
    numbers = [int(name[1:]) for name in _action_ids(issue.evidence, tree)]
    cited = [action for action in actions if any(action.first <= number <= action.last for number in numbers)]
    for action in [*reversed(cited), *actions]:
        for text in (*(block.text for block in reversed(action.blocks)), action.says):
            for line in text.split("\n"):
                if wanted in " ".join(line.split()):
                    return [(action.last, one_line(clip_middle(line.strip(), MAX_EVIDENCE_CHARS)))]
    return []


def _requirements(tree: ReconciledTree) -> Iterator[Item]:
    unmet = [one for one in tree.requirements if one.met == "no"]
    unchecked = [one for one in tree.requirements if one.met == "unchecked"]
    for one in unmet:
        yield _item("not-met", "not met: ", one_line(one.text) + _refs(one.evidence))
    if unchecked:
        yield _item("unchecked", "nobody checked: ", "; ".join(one_line(one.text) for one in unchecked))


def _proven(tree: ReconciledTree) -> Iterator[Item]:
    for node in nodes(tree.root):
        if type(node) is Subtask and node.facets.key_values != NONE:
            yield _item("proven", "proven: ", one_line(node.facets.key_values))
    met = [one for one in tree.requirements if one.met == "yes"]
    if met:
        text = "; ".join(one_line(one.text) + _refs(one.evidence) for one in met)
        yield _item("met", "shown by an output: ", text)


def _dead_ends(tree: ReconciledTree) -> Iterator[Item]:
    for node in nodes(tree.root):
        if type(node) is Shortcut:
            yield from _shortcut(node)
        elif type(node) is Subtask and node.facets.dead_ends != NONE:
            yield _item("dead-end", "dead-end: ", one_line(node.facets.dead_ends))


def _shortcut(node: Shortcut) -> Iterator[Item]:
    way = f"; working-path: {one_line(node.working_path)}" if node.working_path else ""
    failed = one_line(node.dead_end) or one_line(node.title)
    label = f"dead-end {_span(node)} ({node.id}, {node.outcome}): "
    yield _item("dead-end", label, f"{failed}{way}")


def _subtask(node: Node, tree: ReconciledTree, depth: int) -> Iterator[Item]:
    indent = "  " * depth
    if type(node) is Leaf:
        return
    if type(node) is Shortcut:
        return  # its dead end is above; what it replaces is not shown again
    state = node.verdict.state if node.verdict is not None else "unknown"
    kind = "complete-task" if state == "complete" else "task"
    text = f"{one_line(node.title)}. {one_line(node.summary)}"
    yield _item(kind, f"{indent}task {node.id} {_span(node)} {state}: ", text)
    if node.facets.key_mechanisms != NONE:
        yield _item("needs", f"{indent}  needs ({_span(node)}): ", one_line(node.facets.key_mechanisms))
    if node.facets.critical_order != NONE:
        yield _item("order", f"{indent}  order ({_span(node)}): ", one_line(node.facets.critical_order))
    for child in node.children:
        yield from _subtask(child, tree, depth + 1)


def _once(items: Sequence[Item]) -> list[Item]:
    """The items without those that mostly repeat what stands above them."""
    said: set[tuple[str, ...]] = set()
    kept: list[Item] = []
    for item in items:
        words = re.findall(r"[\w./-]+", item.text.lower())
        shingles = {tuple(words[place : place + SHINGLE]) for place in range(len(words) - SHINGLE + 1)}
        if item.value < ALWAYS and shingles and len(shingles & said) > MAX_REPEATED * len(shingles):
            continue
        said |= shingles
        kept.append(item)
    return kept


def _span(node: Node) -> str:
    first, last = first_action(node), last_action(node)
    return f"a{first}" if first == last else f"a{first}-a{last}"


def _action_ids(references: Sequence[str], tree: ReconciledTree) -> tuple[str, ...]:
    """The actions that nodes stand for: a leaf for itself, another node for its last action."""
    by_id = {node.id: node for node in nodes(tree.root)}
    return tuple(f"a{last_action(by_id[name])}" for name in references if name in by_id)


def _refs(actions: Sequence[str]) -> str:
    """Actions in brackets; of many, the first and the last three."""
    shown = list(dict.fromkeys(actions))
    if len(shown) > 5:
        shown = [shown[0], "…", *shown[-3:]]
    return f" [{' '.join(shown)}]" if shown else ""


def report_size(items: Sequence[Item]) -> int:
    """Bytes of a report."""
    return sum(item.size for item in items)


__all__ = ["IMPORTANCE", "Report", "byte_size", "ending_sentence", "evidence_lines", "make_report", "open_issues"]
