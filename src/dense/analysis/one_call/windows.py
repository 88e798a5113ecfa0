"""How a trace is divided among calls: one for what fits, else windows at natural breaks, then closing calls."""

from __future__ import annotations

from collections.abc import Sequence

from dense.analysis.actions.show import shown_size
from dense.analysis.actions.transcript import TranscriptAction

WHOLE_TEXT_CHARS = 1_500
"""A trace fits if it does with every text shown up to this length; longer texts may be clipped."""
BREAK_SHARE = 0.2
"""A window ends at the best break within its last fifth."""


def split_windows(actions: Sequence[TranscriptAction], room: int) -> list[list[TranscriptAction]]:
    """The actions in stretches whose view fits `room` characters each; a single action may be larger."""
    sizes = [shown_size(action, WHOLE_TEXT_CHARS) for action in actions]
    if sum(sizes) <= room:
        return [list(actions)]
    count = -(-sum(sizes) // room)
    target = min(room, sum(sizes) // count + room // 10)  # windows of about the same size
    windows: list[list[TranscriptAction]] = []
    start = 0
    while start < len(actions):
        end, total = start, 0
        while end < len(actions) and (end == start or total + sizes[end] <= target):
            total += sizes[end]
            end += 1
        if end < len(actions):
            end = _best_break(actions, start, end)
        windows.append(list(actions[start:end]))
        start = end
    return windows


def _best_break(actions: Sequence[TranscriptAction], start: int, end: int) -> int:
    """The place in the last fifth of a window at which the next action most clearly begins something new."""
    earliest = max(start + 1, end - max(1, int((end - start) * BREAK_SHARE)))

    def newness(index: int) -> tuple[int, int]:
        before, after = actions[index - 1], actions[index]
        score = 2 * (after.first != after.last) + (len(after.says) > 80) - 2 * before.has_failed
        score += 3 * any(block.head.endswith("from the user") for block in before.blocks)
        return score, index

    return max(range(earliest, end + 1), key=newness) if earliest <= end < len(actions) else end
