"""Sentences of the agent, with the output that backs them."""

from __future__ import annotations

from collections.abc import Sequence

from dense.analysis.flow.flow import Flow

ANNOUNCING = (":", "?", "：", "？")


def is_conclusion(flow: Flow, index: int) -> bool:
    """Whether a sentence joins pieces of information that an output showed together, and announces nothing."""
    piece = flow.pieces[index]
    return piece.kind == "says" and not piece.text.endswith(ANNOUNCING) and flow.shown_in(index) is not None


def backing(flow: Flow, said: Sequence[int]) -> list[int]:
    """The actions whose outputs show what these sentences of one action say: all names and numbers of a sentence that
    are new stand in one line. Empty if that does not hold for each of them."""
    shown = [flow.shown_in(index) for index in said]
    return sorted({flow.actions[at].last for at in shown if at is not None}) if None not in shown else []
