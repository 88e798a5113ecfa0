"""What was taken out: counts, never values."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dense.redact.environment import LABEL
from dense.redact.rules.contexts import LABELS
from dense.redact.rules.token_formats import SEARCHED_FORMATS, TOKEN_FORMATS, kind_of


class Redactions(Struct, frozen=True, omit_defaults=True):
    """What was redacted. Contains no secret and nothing derived from one."""

    counts: dict[str, int] = {}
    """How many different secrets of each kind, in the order in which the kinds first appeared."""
    places: int = 0
    """In how many places they were."""

    def __bool__(self) -> bool:
        return self.places > 0

    def describe(self) -> str:
        """For people: `2 AWS access keys, 1 GitHub token`."""
        named = [f"{count} {_label(kind)}{'' if count == 1 else 's'}" for kind, count in self.counts.items()]
        return ", ".join(named) or "nothing"


@cache
def _labels() -> dict[str, str]:
    formats = (*(token.label for token in TOKEN_FORMATS), *(label for label, _, _ in SEARCHED_FORMATS))
    return {kind_of(label): label for label in (*formats, *LABELS, LABEL)}


def _label(kind: str) -> str:
    return _labels().get(kind) or kind.replace("-", " ")
