"""The text of a transcript within a number of characters: whole while it fits, then whole lines, most telling first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.blocks import Block
from dense.analysis.actions.repeats import Entry, Fold, fold_repeated_actions, without_repeats
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.actions.wrappers import visible
from dense.text.clip import clip_lines, clip_middle

MIN_TEXT_CHARS = 200
"""No text is clipped below this."""
MAX_SAYS_CHARS = 700
"""What the agent says beside a call; its reasons matter less than what it did."""
MAX_CLOSING_CHARS = 6_000
"""What the agent says without a call: it may be the product itself."""
WRITTEN_SHARE = 3
"""What was written (a file, a patch) gets so many times the share of another text: it is clipped last."""
NOTHING = "(nothing recorded)"
HEADER = re.compile(r"^(?=\[(?:a\d|… ))", re.MULTILINE)


def show(actions: Sequence[TranscriptAction], limit: int) -> str:
    """All actions in at most `limit` characters, as far as their number allows: every action keeps a line and the
    beginning of its call. The longest text is clipped first."""
    entries = fold_repeated_actions(actions, without_repeats(actions))
    longest = max((len(block.text) for action in actions for block in action.blocks), default=0)
    low, high = MIN_TEXT_CHARS, 2 * longest + MAX_SAYS_CHARS  # a listing gets half of the limit for one text
    text = _shown(entries, high)
    if len(text) <= limit:
        return text
    best = _shown(entries, low)
    while high - low > 20:
        middle = (low + high) // 2
        text = _shown(entries, middle)
        if len(text) <= limit:
            low, best = middle, text
        else:
            high = middle
    return best if len(best) <= limit else _calls_only(entries, limit)


def shown_size(action: TranscriptAction, share: int) -> int:
    """How many characters an action takes if each of its texts gets `share`."""
    return len(_entry(action, share)) + 1


def escape_headers(text: str) -> str:
    """The text of a trace on visible characters, in which no line begins as an action of ours does."""
    return HEADER.sub(" ", visible(text))


def _shown(entries: Sequence[Entry], share: int) -> str:
    return "\n".join(_entry(entry, share) for entry in entries)


def _entry(entry: Entry, share: int) -> str:
    if isinstance(entry, Fold):
        sources = ", ".join(f"a{number}" for number in entry.sources)
        return f"[a{entry.first} to a{entry.last}] {entry.count} actions that repeat {sources}: same call, same result"
    if entry.is_message:
        most = min(share * WRITTEN_SHARE, MAX_CLOSING_CHARS)
        says = clip_lines(escape_headers(entry.says), most, is_listing=True)
    else:
        says = clip_middle(" ".join(visible(entry.says).split()), min(share, MAX_SAYS_CHARS))
    empty = NOTHING if not says and not entry.blocks else ""
    parts = [f"{_header(entry)} {says}{empty}".rstrip()]
    parts += [shown_block(block, share) for block in entry.blocks]
    return "\n".join(parts)


def _header(action: TranscriptAction) -> str:
    number = f"a{action.last}" if action.first == action.last else f"a{action.first}+a{action.last}"
    return f"[{number} {action.agent}]" if action.agent else f"[{number}]"


def shown_block(block: Block, share: int) -> str:
    """A text of an action behind its head, if a text gets `share` characters."""
    is_written = block.kind == "body" or block.text.startswith("diff --git")
    room = share * WRITTEN_SHARE if is_written else share // 2 if block.is_listing else share
    keeps_ends = block.is_listing or block.kind != "output"
    text = clip_lines(escape_headers(block.text), max(room, MIN_TEXT_CHARS), is_listing=keeps_ends)
    if block.kind == "call":
        return f"{block.head} {text}".strip()
    return f"{block.head}\n{text}" if text else block.head


def _calls_only(entries: Sequence[Entry], limit: int) -> str:
    """The last resort for very many actions: one line each, and of those as many as fit from both ends."""
    lines: list[str] = []
    for entry in entries:
        if isinstance(entry, Fold):
            lines.append(_entry(entry, MIN_TEXT_CHARS))
            continue
        call = next((block for block in entry.blocks if block.kind == "call"), None)
        what = call.text if call is not None else entry.says
        mark = " (failed)" if entry.has_failed else ""
        lines.append(f"{_header(entry)} {clip_middle(' '.join(visible(what).split()), 120)}{mark}")
    return clip_lines("\n".join(lines), limit, is_listing=True)
