"""Lines in which a check prints that something is wrong although it ends with success.

Agents write checks that catch what they look for and print it. Such a check has not passed, and only its author can say
whether it failed."""

from __future__ import annotations

from itertools import islice

from dense.evidence.observations.error_sources import is_benign
from dense.knowledge.error_words import NO_PROBLEM_LINE, PROBLEM_LINE
from dense.text.guarded import GuardedPattern

MAX_CHARS = 20_000
"""Characters of an output that are looked at, the last ones."""
MAX_CANDIDATES = 40
PROBLEM = GuardedPattern(PROBLEM_LINE)
NO_PROBLEM = GuardedPattern(NO_PROBLEM_LINE)
"""Lines that say the opposite, or both."""


def reported_problem(text: str) -> str:
    """The first line in which a check prints that something is wrong; empty if there is none."""
    text = text[-MAX_CHARS:]
    for found in islice(PROBLEM.finditer(text), MAX_CANDIDATES):
        line = found[0].strip()
        if not NO_PROBLEM.search(line) and not is_benign(line):
            return line[:300]
    return ""
