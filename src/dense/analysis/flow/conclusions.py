"""Sentences of the agent, with the output that backs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dense.analysis.flow.flow import Flow

MAX_BACKING = 2
ANNOUNCING = (":", "?", "：", "？")
MIN_JOINED = 2
MOST = 0.6
"""Of the names and numbers of what is said, so much must have been shown before."""


def is_conclusion(flow: Flow, index: int) -> bool:
    """Whether a sentence joins several pieces of information that outputs showed, and announces nothing."""
    piece = flow.pieces[index]
    if piece.kind != "says" or piece.text.endswith(ANNOUNCING):
        return False
    shown = [word for word in flow.tokens(index) if flow.first_shown_at(word) <= piece.at and not word.isalpha()]
    return len(shown) >= MIN_JOINED and bool(backing(flow, [index]))


def backing(flow: Flow, said: Sequence[int]) -> list[int]:
    """The actions whose outputs showed what these sentences of one action say, the most telling first; empty if nothing
    showed most of it before."""
    at = flow.pieces[said[0]].at
    words = {word for index in said for word in flow.tokens(index) if not word.isalpha() and word not in flow.task}
    shown = {word: flow.first_shown_at(word) for word in words}
    before = {word: first for word, first in shown.items() if first <= at}
    if not before or len(before) < MOST * len(words):
        return []
    counts = Counter(before.values())
    return [flow.actions[int(first)].last for first, _ in counts.most_common(MAX_BACKING)]
