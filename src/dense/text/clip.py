"""Clip a text to a length. The only place where DENSE shortens text of a trace."""

from __future__ import annotations

ELLIPSIS = "…"


def clip_end(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning of the text, with an ellipsis if anything is missing."""
    if len(text) <= limit:
        return text
    return text[: max(0, limit - 1)] + ELLIPSIS * (limit > 0)


def clip_middle(text: str, limit: int, *, head: float = 0.6) -> str:
    """At most `limit` characters: the beginning and the end, and between them how many characters are missing.

    `head` is the share of the beginning. If there is no room for the count, the text is clipped at its end."""
    if len(text) <= limit:
        return text
    room = limit - len(_left_out(len(text)))
    if room < 8:
        return clip_end(text, limit)
    front = int(room * head)
    missing = len(text) - room
    return text[:front] + _left_out(missing) + text[front + missing :]


def _left_out(count: int) -> str:
    return f" [{ELLIPSIS}{count:,} characters cut{ELLIPSIS}] "
