"""The noun of the scan: where a secret stands."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of a text that must go."""

    start: int
    end: int
    rank: int
    """Who found it: where two overlap, the lower one names it."""
    kind: str
    is_contextual: bool
    """Whether only its surroundings gave it away, so that it may stand elsewhere unseen."""


BY_SHAPE, BY_CONTEXT, BY_NAME, BY_VALUE = range(4)
"""The ranks: its own shape, the place where it stands, the name before it, a value known from elsewhere."""
