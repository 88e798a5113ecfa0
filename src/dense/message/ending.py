"""How an attempt ended, as far as its record shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.transcript import TranscriptAction
from dense.knowledge.words import pattern

MAX_AFTER_CLOSING = 3
"""A closing message may be followed by so many actions."""
CLOSING = pattern("closing")
HAND_OVER = re.compile(
    r"COMPLETE_TASK_AND_SUBMIT|\b(?:submit|finish|attempt_?completion|task_complete|mark_task_complete|return_result)\b",
    re.IGNORECASE,
)


def ending_sentence(actions: Sequence[TranscriptAction]) -> str:
    """How the attempt ended, as far as the record shows."""
    if not actions:
        return "The record is empty."
    last = actions[-1]
    if any(block.origin == "system" and "continu" in block.text[:300].lower() for block in last.blocks):
        return "The record continues elsewhere."
    if last.blocks and all(block.origin == "user" for block in last.blocks):
        return "The user had the last word."
    if last.is_message:
        ended = "It ended with a closing message." if CLOSING.search(last.says) else "It ended with a message."
        return ended if last.says else "The record stops with an empty action."
    if hands_over(last):
        return "It was handed in."
    closed = any(one.is_message and CLOSING.search(one.says) for one in actions[-MAX_AFTER_CLOSING - 1 : -1])
    return "It ended soon after a closing message." if closed else "The record stops there."


def hands_over(action: TranscriptAction) -> bool:
    """Whether a call of an action hands the work over."""
    return any(HAND_OVER.search(block.text[:400]) for block in action.blocks if block.kind == "call")
