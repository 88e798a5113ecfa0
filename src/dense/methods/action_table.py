"""The action–observation table: every action with what came back, word for word, and what was said of it.

Shared by the methods that hand over the trajectory itself, with or without assessments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dense.analysis.actions.action import Actions
from dense.analysis.actions.transcript import TranscriptAction
from dense.message.page import ALWAYS, Fit, Item, ReportPage, one_line, shortened, total_size
from dense.message.quotes import Quotes, quote_block, quote_text, quote_whole, quotes_size
from dense.methods.truncation import describe_gap, keep_ends
from dense.trajectory import Trajectory
from dense.tree import Leaf

MAX_ROW_SHARE = 4
"""A row may take one in so many parts of the room before its texts are clipped."""

type TableHead = Callable[[int], Sequence[Item]]
"""What a report begins with, in at most so many bytes."""


class ActionRow(Struct, frozen=True):
    """An action and what was said of it."""

    leaf: Leaf
    remark: str = ""
    """Its label and the reason."""


def numbered_actions(trajectory: Trajectory) -> tuple[Leaf, ...]:
    """The actions of a trajectory, numbered."""
    return tuple([Leaf(f"n{index}", index + 1, step) for index, step in enumerate(trajectory.steps)])


def action_table(rows: Sequence[ActionRow], *, head: TableHead = lambda _: (), redacted: str = "") -> Fit:
    """A report that begins with `head` and goes through the attempt row by row."""
    actions = Actions([row.leaf.step for row in rows]).transcript
    remarks = {row.leaf.action: row.remark for row in rows if row.remark}
    first = [Item("redacted", ALWAYS, "redacted: ", one_line(redacted))] if redacted else []

    def fit(room: int) -> ReportPage:
        whole = [*first, *head(room), *(_row(action, remarks) for action in actions)]
        if total_size(whole) <= room:
            return ReportPage(tuple(whole))
        top = [*first, *head((room - total_size(first)) // 2)]
        if total_size(top) > room:
            top = [item for title in head(room)[:1] if (item := shortened(title, room))]
        return _shortened(top, actions, remarks, room - total_size(top))

    return fit


def _shortened(
    top: Sequence[Item], actions: Sequence[TranscriptAction], remarks: dict[int, str], room: int
) -> ReportPage:
    """As many rows as there is room for, from both ends, large ones with clipped texts, and a line for the gap."""
    rows = [_row(action, remarks, room // MAX_ROW_SHARE) for action in actions]
    sizes = [row.size for row in rows]
    ends = keep_ends(sizes, room)
    first, last = ends.head, max(ends.head, ends.tail)
    while True:
        gap: list[Item] = []
        if first < last:
            text = describe_gap(actions[first].first, actions[last - 1].last, sum(sizes[first:last]))
            gap = [Item("left-out", ALWAYS, "left out: ", text)]
        shown = [*rows[:first], *gap, *rows[last:]]
        if total_size(shown) <= room:
            names = tuple(item.text for item in gap) or ("parts of long texts",)
            return ReportPage((*top, *shown), names)
        if last < len(rows):  # the room was planned too tightly, or the last row alone is larger than all of it
            last += 1
        elif first:
            first -= 1
        else:
            return ReportPage(tuple(top), ("all actions",))


def _row(action: TranscriptAction, remarks: dict[int, str], limit: int | None = None) -> Item:
    """The row; with a limit, its texts clipped so that it has about so many bytes."""
    said = [remarks[number] for number in range(action.first, action.last + 1) if number in remarks]
    who = f" {one_line(action.agent)}" if action.agent else ""
    text = f"a{action.last}{who}{': ' if said else ''}{'; '.join(map(one_line, said))}"
    quotes: Quotes = [("message", action.says)] if action.says else []
    for block in action.blocks:
        quotes += quote_whole(block)
    if limit is not None and quotes_size(quotes) > limit:
        share = max(limit // (len(action.blocks) + 1), 0)
        quotes = quote_text("message", action.says, share, is_listing=True) if action.says else []
        for block in action.blocks:
            quotes += quote_block(block, share)
    return Item("action", 1, "action ", text, tuple(quotes))
