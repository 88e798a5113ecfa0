"""The cue of each word, from the word lists of all languages."""

from __future__ import annotations

from typing import get_args

from dense.knowledge.words import LANGUAGES, Cue, words

ORDERS: tuple[Cue, ...] = ("make", "put", "move", "read")
"""The cues of verbs that may be orders."""


def _cues() -> dict[str, Cue]:
    cues: dict[str, Cue] = {}
    for languages in (["english"], [name for name in LANGUAGES if name != "english"]):
        for cue in get_args(Cue):
            cues.update((word, cue) for word in words(cue, *languages) if word not in cues)
    return cues


CUES = _cues()
IMPERATIVES = frozenset(word for word, cue in CUES.items() if cue in ORDERS and word not in words(cue, "english"))
"""Forms that are orders wherever they are. The English ones are nouns and infinitives as well."""
NEGATIONS = words("negation")
