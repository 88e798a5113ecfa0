"""What the lead of several agents holds of the request, in its own ledger: whether it is satisfied, and why not. The
lead writes it before it says who is next; an answer that the harness draws from a run which it ended says nothing of
it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.trajectory import Step

KEY = "is_request_satisfied"
LONGEST = 3000
"""How long the entry in a ledger is at most."""
ANSWER = re.compile(r"""["']answer["']\s*:\s*["']?(true|false)\b""", re.IGNORECASE)
REASON = re.compile(r"""["']reason["']\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")


class Ledger(Struct, frozen=True):
    """The last word of a lead."""

    action: int
    is_satisfied: bool
    reason: str


def last_ledger(steps: Sequence[Step]) -> Ledger | None:
    """What the last ledger says; None where there is none that can be read."""
    for number in range(len(steps), 0, -1):
        text = steps[number - 1].message
        place = text.rfind(KEY) if KEY in text else -1
        if place < 0:
            continue
        entry = text[place : place + LONGEST].partition("}")[0]
        if found := ANSWER.search(entry):
            reason = REASON.search(entry)
            told = (reason[1] or reason[2] or "") if reason else ""
            return Ledger(number, found[1].lower() == "true", told.replace('\\"', '"').replace("\\'", "'").strip())
    return None
