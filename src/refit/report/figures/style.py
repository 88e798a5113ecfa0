"""How figures look: one colour, marker and hatch for each method wherever it is drawn, and names that fit.

The colours are Okabe and Ito's and Tol's, which people with the common colour blindnesses can distinguish; markers and
hatches carry the same information for grey print. Names come from users and imported tables: they are cut to a length,
and no character in them acts. (That `$` starts no formula is the canvas's business.)"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from refit.results import RUN0


class MethodStyle(Struct, frozen=True):
    """How one method is drawn."""

    colour: str
    """Of its bars, lines and markers."""
    marker: str
    """In scatter plots and lines."""
    hatch: str = ""
    """Over its bars."""
    dash: tuple[float, ...] = ()
    """Of its line: on, off, …; empty is solid."""


STYLES = {
    RUN0: MethodStyle("#4d4d4d", "o"),
    "none": MethodStyle("#a0a0a0", "s", "...", (1, 1)),
    "advisor": MethodStyle("#e69f00", "v", "///", (5, 1.5)),
    "self-reflection": MethodStyle("#56b4e9", "D", "\\\\\\", (3, 1)),
    "all-at-once": MethodStyle("#cc79a7", "P", "xxx", (4, 1, 1, 1)),
    "step-by-step": MethodStyle("#009e73", "^", "---", (2, 1)),
    "dense": MethodStyle("#d55e00", "*"),
    "dense+lessons": MethodStyle("#00c800", "d", "..", (3, 3)),
    "dense-no-shortcuts": MethodStyle("#999933", "<", "|||", (6, 1, 1, 1)),
    "dense-no-hierarchy": MethodStyle("#0072b2", ">", "+++", (6, 1, 1, 1, 1, 1)),
    "dense-flat": MethodStyle("#aa4499", "p", "oo", (2, 2)),
    "verifier-feedback": MethodStyle("#000000", "X", "///", (4, 2)),
}
"""Ours, fixed: the same in every figure of every report."""
OTHERS = (
    MethodStyle("#332288", "h", "\\\\\\", (3, 1, 1, 1)),
    MethodStyle("#f0e442", "d", "---", (5, 2)),
    MethodStyle("#7b1632", "8", "xxx", (1, 2)),
    MethodStyle("#8fe3b4", "H", "|||", (4, 1, 2, 1)),
    MethodStyle("#9c7bff", "s", "///", (6, 2)),
    MethodStyle("#6b4423", "v", "+++", (2, 1, 1, 1)),
    MethodStyle("#ffb3a0", "<", "...", (3, 3)),
    MethodStyle("#14532d", ">", "oo", (7, 1)),
)
"""Those of users' own methods, by their order in the experiment; after the last the first comes again."""


def method_styles(methods: Sequence[str]) -> dict[str, MethodStyle]:
    """How each method of an experiment is drawn."""
    own = [method for method in methods if method not in STYLES]
    return STYLES | {method: OTHERS[number % len(OTHERS)] for number, method in enumerate(own)}


def short_name(text: str, length: int = 28) -> str:
    """A name on one line of at most `length` characters, its end kept, with nothing in it that acts."""
    plain = "".join(" " if _acts(character) else character for character in text)
    plain = " ".join(plain.split()) or "(no name)"
    if len(plain) > length:
        tail = (length - 1) // 3
        plain = f"{plain[: length - 1 - tail].rstrip()}…{plain[len(plain) - tail :].lstrip()}"
    return plain


def _acts(character: str) -> bool:
    """Whether a character is a control, a mark of direction, or of no script at all."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def darker(colour: str) -> str:
    """The same colour for edges and hatches; of one that is nearly black, a lighter one, so that a hatch is seen."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    factor, more = (0.55, 0) if sum(parts) > 120 else (1, 130)
    return "#" + "".join(f"{round(part * factor) + more:02x}" for part in parts)
