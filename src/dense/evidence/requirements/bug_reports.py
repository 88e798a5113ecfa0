"""Whether a task is a bug report, pasted as it was: the files that it names are evidence, not deliverables."""

from __future__ import annotations

from dense.knowledge.words.reports import COMPLAINT, DIRECT, STRONG, WEAK
from dense.text.search import contains_any

REPORT_SCORE = 3
MIN_PROMPTS = 4
"""With so many commands at a prompt a text is the record of a session."""


def is_session_record(low: str) -> bool:
    """Whether a text in lower case is what a terminal or another agent printed: the commands in it ran already."""
    return low.count("\n$ ") >= MIN_PROMPTS or low.count("\nthinking:") > 1


def is_bug_report(low: str) -> bool:
    """Whether a text in lower case reads as a report of a bug or a wish, rather than as an order."""
    strong = sum(sign in low for sign in STRONG) + is_session_record(low)
    if COMPLAINT.search(low) and not contains_any(low, DIRECT):
        strong += 2
    if not strong and not contains_any(low, (" i ", "i'm ", "we ")):
        return False
    weak = sum(sign in low for sign in WEAK)
    direct = sum(sign in low for sign in DIRECT)
    return (strong > 0 or weak >= REPORT_SCORE) and 2 * strong + weak - 2 * direct >= REPORT_SCORE
