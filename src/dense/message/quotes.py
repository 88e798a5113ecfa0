"""The bytes of an action between marker lines: calls in full, outputs by whole lines, each gap with its true size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.analysis.actions.blocks import Block
from dense.message.page import CALL, KEY_LENGTH, byte_size, one_line
from dense.text.clip import Gap, clip_end, clip_to_parts, line_worth

type Quotes = list[tuple[str, str]]
"""Marker lines and the texts below them: the quotes of an `Item`."""
type QuoteBlock = Callable[[Block, int, str], Quotes]
"""Quotes a block in at most so many bytes, with a line that must be among them: `quote_block`, or the same cached."""

MAX_MARK_CHARS = 100
MIN_QUOTE_BYTES = 80
"""Fewer bytes of a text are not worth their marker lines."""
MAX_FITTING_TRIES = 5
MAX_GAPS = 2
LEFT_OUT = "characters left out …]"
"""Ends a line of which a part is left out."""


def quotes_size(quotes: Quotes) -> int:
    """Bytes of quotes, their marker lines included, without the line that ends them."""
    return sum([KEY_LENGTH + byte_size(mark) + 3 + (byte_size(text) + 1 if text else 0) for mark, text in quotes])


def quote_whole(block: Block) -> Quotes:
    """A block of an action, whole."""
    return [(mark_of(block), block.text)]


def quote_block(block: Block, room: int, focus: str = "") -> Quotes:
    """A block of an action in at most so many bytes: whole, or by its telling lines; empty if there is no room."""
    is_listing = block.is_listing or block.kind != "output"
    return quote_text(mark_of(block), block.text, room, is_listing=is_listing, focus=focus)


def quote_text(mark: str, text: str, room: int, *, is_listing: bool = False, focus: str = "") -> Quotes:
    """A text below a marker line in at most so many bytes: whole, or by its telling lines; empty for no room."""
    whole = [(mark, text)]
    size = quotes_size(whole)
    if size <= room:
        return whole
    limit = room - quotes_size([(mark, "")]) - 1
    for _ in range(MAX_FITTING_TRIES):
        if limit < MIN_QUOTE_BYTES:
            return []
        parts = clip_to_parts(text, limit, is_listing=is_listing, focus=focus)
        found = _with_gaps(mark, _with_few_gaps(parts, focus))
        size = quotes_size(found)
        if size <= room:
            return found
        limit = min(limit * room // size, limit - 20)
    return []


def _with_gaps(mark: str, parts: Sequence[str]) -> Quotes:
    found: Quotes = [(mark, "")]
    for part in parts:
        if isinstance(part, Gap):
            found.append((str(part), ""))
        else:
            found[-1] = (found[-1][0], part)
    return found


def _with_few_gaps(parts: list[str], focus: str) -> list[str]:
    """The parts with the least telling stretches between gaps left out too, so that few gaps remain."""
    while sum(isinstance(part, Gap) for part in parts) > MAX_GAPS:
        between = [
            (place, before, part, after)
            for place, (before, part, after) in enumerate(zip(parts, parts[1:], parts[2:], strict=False))
            if isinstance(before, Gap) and isinstance(after, Gap) and _may_go(part, focus)
        ]
        if not between:
            break
        place, before, part, after = min(between, key=lambda one: (_most_telling(one[2]), len(one[2])))
        gap = Gap(
            before.lines + part.count("\n") + 1 + after.lines, before.characters + len(part) + 1 + after.characters
        )
        parts = [*parts[:place], gap, *parts[place + 3 :]]
    return parts


def _most_telling(part: str) -> int:
    return max(map(line_worth, part.split("\n")))


def _may_go(part: str, focus: str) -> bool:
    """Whether a stretch can be left out, and its size is known: no line of it is clipped."""
    return LEFT_OUT not in part and not (focus and focus in part)


def mark_of(block: Block) -> str:
    """What the marker line before a block says: `tool-call`, `tool-call argument content`, `observation exit 1`."""
    head = clip_end(one_line(block.head), MAX_MARK_CHARS).rstrip(":")
    if block.kind == "output":
        return f"observation {head.removeprefix('>').strip()}".rstrip()
    if block.kind == "body":
        return f"argument {head}"
    return CALL + (f" {head.removesuffix('$').rstrip()}" if head not in {"", "$"} else "")
