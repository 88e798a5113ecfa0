"""Lines in which a check prints that something is wrong although it ends with success.

Agents write checks that catch what they look for and print it. Such a check has not passed, and only its author can say
whether it failed."""

from __future__ import annotations

import re
from itertools import islice

from dense.evidence.observations.error_sources import is_benign
from dense.text.guarded import GuardedPattern

MAX_CHARS = 20_000
"""Characters of an output that are looked at, the last ones."""
MAX_CANDIDATES = 40
PROBLEM = GuardedPattern(
    re.compile(
        r"""^[ \t]*(?:[-*•>]\ |\[\w+\]\ |\d+[.)]\ )?(?:
        (?:FAIL(?:ED|URE)?|MISMATCH|NOT\ OK|INCORRECT|WRONG|BUG|ISSUE\ REPRODUCED)\b[^\n]*
        | not\ ok\b[^\n]* | [❌✗✘✖][^\n]* | (?:Error|ERROR|Exception):[ \t][^\n]+
        | (?:An\ )?(?:unexpected\ )?[Ee]rror\ occurred\b[^\n]*
        | [^\n]{0,160}\b(?:FAIL(?:ED|URE|S)?|MISMATCH|NOT\ OK|INCORRECT|WRONG)[.!]?[ \t]*$
        | [^\n]{0,160}[❌✗✘✖][^\n]{0,40}$
        | [^\n]{0,100}\b(?:[Ff]ailed|[Ff]ailure):[ \t][^\n]+
        | [^\n]{0,100}\b(?:[Tt]ests?|[Cc]hecks?|[Cc]ases?)\b[^\n]{0,20}\bfailed[.!]?[ \t]*$
        | (?i:[^\n]{0,60}\b(?:issue|bug|problem|error)\b[^\n]{0,20}
            \b(?:reproduced|confirmed|still\ (?:present|exists?|there|occurs?))\b)[^\n]*)""",
        re.MULTILINE | re.VERBOSE,
    )
)
NO_PROBLEM = GuardedPattern(
    re.compile(
        r"\b(?:fail\w*|errors?|mismatch\w*)\s*[:=]\s*(?:0\b|none\b|\[\])|\b(?:0|no|zero|not|never|without|correctly)\s+\w*\s?"
        r"(?:fail|error|mismatch|reproduc|confirm|present)|no longer|\bPASS|[✅✓✔]|\bcorrectly\b|\bexpected to fail\b",
        re.IGNORECASE,
    )
)
"""Lines that say the opposite, or both."""


def reported_problem(text: str) -> str:
    """The first line in which a check prints that something is wrong; empty if there is none."""
    text = text[-MAX_CHARS:]
    for found in islice(PROBLEM.finditer(text), MAX_CANDIDATES):
        line = found[0].strip()
        if not NO_PROBLEM.search(line) and not is_benign(line):
            return line[:300]
    return ""
