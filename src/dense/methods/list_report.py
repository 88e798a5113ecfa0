"""A report that is a list of blocks, the most important first: what does not fit is left out from the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dense.deliver import markup
from dense.deliver.delivery import Fit
from dense.deliver.markup import MarkupBlock


def list_report(
    blocks: Sequence[MarkupBlock], *, name: str = "report", redacted: str = "", **attributes: str | None
) -> Fit:
    """These blocks, as many as there is room for, in one block of this name."""

    def whole(shown: Sequence[MarkupBlock]) -> MarkupBlock:
        return markup.group(name, shown, redacted=redacted or None, **attributes)

    def fit(room: int) -> tuple[MarkupBlock, tuple[str, ...]]:
        over = markup.size(whole(blocks)) - room
        if over <= 0:
            return whole(blocks), ()
        width = markup.digits(len(blocks) + 1)
        count = len(blocks)
        while count and over > 0:
            count -= 1
            over -= markup.size(blocks[count], 1, width)
        return whole(blocks[:count]), tuple(block.name for block in reversed(blocks[count:]))

    return fit


def text_blocks(name: str, contents: Iterable[str]) -> list[MarkupBlock]:
    """A block for each text that is not blank."""
    return [markup.text(name, content.strip()) for content in contents if content.strip()]
