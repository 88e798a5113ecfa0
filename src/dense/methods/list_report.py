"""A report that is a list of lines, the most important first: what does not fit is left out from the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dense.message.page import ALWAYS, Fit, Item, ReportPage, fit_items, one_line, shortened, total_size

LEFT_OUT = "left out: "


def list_report(items: Sequence[Item], *, redacted: str = "") -> Fit:
    """These items, as many as there is room for, and a line on how many are left out."""
    head = [Item("redacted", ALWAYS, "redacted: ", one_line(redacted))] if redacted else []
    every = [*head, *items]

    def fit(room: int) -> ReportPage:
        if total_size(every) <= room:
            return ReportPage(tuple(every))
        reserve = left_out_line(len(every), total_size(every)).size
        kept, dropped = fit_items(every, room - reserve)
        if not kept and (first := shortened(every[0], room - reserve)):
            kept, dropped = [first], dropped[1:]
        note = left_out_line(len(dropped), total_size(dropped))
        items = [*kept, *([note] if total_size(kept) + note.size <= room else [])]
        return ReportPage(tuple(items), tuple(item.kind for item in reversed(dropped)))

    return fit


def left_out_line(count: int, size: int) -> Item:
    """The line that says how much is left out."""
    return Item("left-out", ALWAYS, LEFT_OUT, f"{count} {'entry' if count == 1 else 'entries'} ({size:,} bytes)")


def text_items(kind: str, contents: Iterable[str]) -> list[Item]:
    """A line for each text that is not blank, all of the same value."""
    return [Item(kind, 1, f"{kind}: ", one_line(content)) for content in contents if content.strip()]
