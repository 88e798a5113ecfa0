"""Lines in which a check prints that something is wrong, though it ends as if all were well: agents write checks that
catch what they look for and print it. Such a check has not passed, and whether it failed is for its author to say."""

from __future__ import annotations

import re

from dense.evidence.observations.harmless import is_harmless

LONGEST = 20_000
"""Characters of an output that are looked at, the last ones."""
SIGNS = ("FAIL", "ail", "❌", "✗", "✘", "✖", "MISMATCH", "NOT OK", "not ok", "WRONG", "INCORRECT", "rror", "REPRODUCED")
"""Without one of these there is no such line; nor without one of the next."""
MORE_SIGNS = ("eproduced", "onfirmed", "still ", "BUG")
DOUBT = re.compile(
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
FINE = re.compile(
    r"\b(?:fail\w*|errors?|mismatch\w*)\s*[:=]\s*(?:0\b|none\b|\[\])|\b(?:0|no|zero|not|never|without|correctly)\s+\w*\s?"
    r"(?:fail|error|mismatch|reproduc|confirm|present)|no longer|\bPASS|[✅✓✔]|\bcorrectly\b|\bexpected to fail\b",
    re.IGNORECASE,
)
"""Lines that say the opposite, or both."""
MOST = 40
"""Candidates that are looked at in one text."""


def doubt(text: str) -> str:
    """The first line in which a check prints that something is wrong; empty for none."""
    if not any(map(text.__contains__, SIGNS)) and not any(map(text.__contains__, MORE_SIGNS)):
        return ""
    for number, found in enumerate(DOUBT.finditer(text[-LONGEST:])):
        line = found[0].strip()
        if number == MOST:
            break
        if not FINE.search(line) and not is_harmless(line):
            return line[:300]
    return ""
