"""The action–observation table: every action with what came back, word for word, and what was said of it.

Shared by the methods that hand over the trajectory itself, with or without assessments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dense.deliver import action_quote, markup
from dense.deliver.delivery import Fit
from dense.deliver.markup import MarkupBlock
from dense.deliver.selection import NUMBER_WIDTH
from dense.methods.truncation import describe_gap, keep_ends
from dense.trajectory import Trajectory
from dense.tree import Leaf

MAX_ROW_SHARE = 4
"""A row may take one in so many parts of the room before its largest bodies are left out."""

GUIDE_ROWS = """\
- Each `action` is one action of the attempt, in order: what the agent said, each `tool-call` with its arguments, and
  each `observation` that came back, word for word. What is marked `omitted` was too long to quote; `left-out` names
  actions that had to go for length.
"""
type TableHead = Callable[[int], Sequence[MarkupBlock]]
"""What a report begins with, in about so many bytes."""

_EMPTY = markup.text("left-out", "")


class ActionRow(Struct, frozen=True):
    """An action and what was said of it."""

    leaf: Leaf
    remarks: tuple[MarkupBlock, ...] = ()
    """Blocks below its observations."""
    label: str | None = None
    """Its label, as it is shown."""


def numbered_actions(trajectory: Trajectory) -> tuple[Leaf, ...]:
    """The actions of a trajectory, numbered."""
    return tuple([Leaf(f"n{index}", index + 1, step) for index, step in enumerate(trajectory.steps)])


def action_table(rows: Sequence[ActionRow], *, head: TableHead = lambda _: (), redacted: str = "") -> Fit:
    """A report that begins with `head` and goes through the attempt row by row."""

    def fit(room: int) -> tuple[MarkupBlock, tuple[str, ...]]:
        whole = _report(head(room), [_row(row) for row in rows], redacted)
        return (whole, ()) if markup.size(whole) <= room else _shortened(head, rows, redacted, room)

    return fit


def _shortened(
    head: TableHead, rows: Sequence[ActionRow], redacted: str, room: int
) -> tuple[MarkupBlock, tuple[str, ...]]:
    """As many rows as there is room for beside a head of at most half of it, large ones without their largest bodies.

    The head goes last of all."""
    top = head(room // 2)
    left = room - markup.size(_report(top, [], redacted), 0, NUMBER_WIDTH)
    blocks = [_row(row, left // MAX_ROW_SHARE) for row in rows]
    sizes = [markup.size(block, 1, NUMBER_WIDTH) for block in blocks]
    rest = keep_ends(sizes, left)
    first, last = rest.head, max(rest.head, rest.tail)
    while True:
        notes = _gap_note(rows[first:last], sum(sizes[first:last]))
        gap = [markup.text("left-out", text) for text in notes]
        if first == 0 and last == len(rows):
            return _rowless(head, gap, room), notes
        found = _report(top, [*blocks[:first], *gap, *blocks[last:]], redacted)
        if markup.size(found) <= room:
            return found, notes or ("large bodies",)
        if last < len(rows):  # the room was planned too tightly, or the last row alone is larger than all of it
            last += 1
        else:
            first -= 1


def _rowless(head: TableHead, gap: Sequence[MarkupBlock], room: int) -> MarkupBlock:
    """The head, in all the room that there is once no row fits; the note on the rows gives way to it."""
    for rest in (gap, ()):
        # Measured with a block in it, because only then its tags have lines of their own.
        left = room - markup.size(_report(rest or [_EMPTY], [], ""), 0, NUMBER_WIDTH)
        found = _report(head(left), rest, "")
        if markup.size(found) <= room:
            return found
    return _report([], [], "")


def _report(head: Sequence[MarkupBlock], blocks: Sequence[MarkupBlock], redacted: str) -> MarkupBlock:
    return markup.group("report", [*head, *blocks], redacted=redacted or None)


def _gap_note(missing: Sequence[ActionRow], size: int) -> tuple[str, ...]:
    return (describe_gap(missing[0].leaf.action, missing[-1].leaf.action, size),) if missing else ()


def _row(row: ActionRow, limit: int | None = None) -> MarkupBlock:
    """The row, without its largest bodies where it is larger than its limit."""
    block = action_quote.key_action(row.leaf)
    if limit is not None and markup.unindented(block) > limit:
        block = action_quote.without(block, action_quote.oversized(block, action_quote.bodies(row.leaf, block), limit))
    blocks = [*block.parts, *row.remarks]
    return markup.group("action", blocks, id=f"a{row.leaf.action}", agent=row.leaf.step.agent, label=row.label)
