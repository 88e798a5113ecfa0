"""What the lead of several agents holds of the request, in its own ledger: whether it is satisfied, and why not.

The lead writes it before it names the next speaker. An answer that the harness draws from a run which it ended says
nothing about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.trajectory import Step

KEY = "is_request_satisfied"
MAX_ENTRY_CHARS = 3000
ANSWER = re.compile(r"""["']answer["']\s*:\s*["']?(true|false)\b""", re.IGNORECASE)
REASON = re.compile(r"""["']reason["']\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")


class LeadVerdict(Struct, frozen=True):
    """The last verdict of a lead."""

    action: int
    is_satisfied: bool
    reason: str


def last_verdict(steps: Sequence[Step]) -> LeadVerdict | None:
    """What the last ledger says; None if there is none that can be read."""
    for number in range(len(steps), 0, -1):
        text = steps[number - 1].message
        place = text.rfind(KEY)
        entry = text[place : place + MAX_ENTRY_CHARS].partition("}")[0] if place >= 0 else ""
        if found := ANSWER.search(entry):
            reason = REASON.search(entry)
            words = (reason[1] or reason[2] or "") if reason else ""
            return LeadVerdict(
                number, found[1].lower() == "true", words.replace('\\"', '"').replace("\\'", "'").strip()
            )
    return None
