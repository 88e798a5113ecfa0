"""Show each thing once: lines that an earlier action showed become a reference, repeated actions one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.actions.blocks import Block
from dense.analysis.actions.transcript import TranscriptAction

WINDOW = 4
"""Lines in a row that must be the same before they count as repeated."""
MIN_REPEATED_CHARS = 300
"""A shorter repetition is read faster than looked up."""
MIN_REPEATED_WORDS_CHARS = 60
"""The same for what the agent says."""
MIN_FOLDED_ACTIONS = 3
LINE_NUMBER = re.compile(r"^\s*\d+[\t|:]")


class Fold(Struct, frozen=True):
    """Actions in a row that repeat earlier ones: the same call with the same result."""

    first: int
    last: int
    count: int
    sources: tuple[int, ...]
    """The actions that showed it first."""


type Entry = TranscriptAction | Fold


def without_repeats(actions: Sequence[TranscriptAction]) -> list[TranscriptAction]:
    """The actions with stretches of lines that an earlier action showed replaced by a reference to it."""
    shown_at: dict[int, int] = {}
    said_at: dict[str, int] = {}
    result: list[TranscriptAction] = []
    for action in actions:
        blocks: list[Block] = []
        fresh: list[int] = []
        for block in action.blocks:
            text, keys = _reduced(block.text, shown_at)
            blocks.append(block if text == block.text else replace(block, text=text))
            fresh += keys
        for key in fresh:
            shown_at.setdefault(key, action.last)
        source = said_at.setdefault(action.says, action.last)
        is_repeated = source != action.last and len(action.says) >= MIN_REPEATED_WORDS_CHARS
        says = f"(says the same as a{source})" if is_repeated else action.says
        result.append(replace(action, says=says, read_blocks=partial(iter, blocks)))
    return result


def _reduced(text: str, shown_at: dict[int, int]) -> tuple[str, list[int]]:
    lines = text.split("\n")
    if len(lines) < WINDOW:
        return text, []
    plain = [LINE_NUMBER.sub("", line).strip() for line in lines]  # a numbered listing repeats a plain one
    keys = [hash(tuple(plain[start : start + WINDOW])) for start in range(len(lines) - WINDOW + 1)]
    out: list[str] = []
    start = 0
    while start < len(lines):
        source = shown_at.get(keys[start]) if start < len(keys) else None
        if source is None:
            out.append(lines[start])
            start += 1
            continue
        end = start + WINDOW
        while end - WINDOW + 1 < len(keys) and shown_at.get(keys[end - WINDOW + 1]) == source:
            end += 1
        if sum(map(len, lines[start:end])) >= MIN_REPEATED_CHARS:
            out.append(f"[{end - start} lines as in a{source}]")
        else:
            out += lines[start:end]
        start = end
    return "\n".join(out), keys


def fold_repeated_actions(originals: Sequence[TranscriptAction], reduced: Sequence[TranscriptAction]) -> list[Entry]:
    """The reduced actions, with three or more in a row that repeat earlier ones folded into one entry."""
    first_at: dict[tuple[tuple[str, str], ...], int] = {}
    entries: list[Entry] = []
    run: list[tuple[TranscriptAction, int]] = []

    def flush() -> None:
        if len(run) >= MIN_FOLDED_ACTIONS:
            sources = tuple(sorted({source for _, source in run}))
            entries.append(Fold(run[0][0].first, run[-1][0].last, len(run), sources))
        else:
            entries.extend(action for action, _ in run)
        run.clear()

    for original, action in zip(originals, reduced, strict=True):
        signature = tuple((block.head, block.text) for block in original.blocks)
        source = first_at.setdefault(signature, original.last)
        if original.blocks and source != original.last:
            run.append((action, source))
            continue
        flush()
        entries.append(action)
    flush()
    return entries
