"""Where a secret is in a text."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A part of a text that is replaced."""

    start: int
    end: int
    rank: int
    """How it was found; of two that overlap, the lower rank gives the kind."""
    kind: str


BY_FORMAT, BY_CONTEXT, BY_NAME, BY_VALUE = range(4)
"""Ranks: by its own format, its surroundings, the name before it, a value known from elsewhere."""
