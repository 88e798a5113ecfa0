"""A report that is a list of blocks, the weightiest first: what does not fit goes from the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dense.deliver import Fit, markup
from dense.deliver.markup import Block


def listing(blocks: Sequence[Block], *, name: str = "report", redacted: str = "", **attributes: str | None) -> Fit:
    """These blocks, as many as there is room for, in one block of this name."""

    def fit(room: int) -> tuple[Block, tuple[str, ...]]:
        shown, dropped = list(blocks), list[str]()
        while True:
            whole = markup.group(name, shown, redacted=redacted or None, **attributes)
            if not shown or markup.size(whole) <= room:
                return whole, tuple(dropped)
            dropped.append(shown.pop().name)

    return fit


def texts(name: str, contents: Iterable[str]) -> list[Block]:
    """A block for each text that says something."""
    return [markup.text(name, content.strip()) for content in contents if content.strip()]
