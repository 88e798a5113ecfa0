"""Whether a task is a bug report, pasted as it was: the files that it names are evidence, not deliverables."""

from __future__ import annotations

import re

from dense.text.search import contains_any

STRONG = (
    "steps to reproduce", "to reproduce", "reproduces the", "reproducible example", "minimal example",
    "minimal repro", "expected behavio", "actual behavio", "current behavio", "expected result",
    "actual result", "describe the bug", "bug report", "(last modified by", "originally reported by",
    "traceback (most recent call last)", "github issue", "/issues/", "/blob/", "/pull/", "installed versions",
    "stack trace", "stacktrace", "feature request", "is your feature request", "<details>", "diff --git ",
    "\nthinking:", "\ndescription\n",
)  # fmt: skip
WEAK = (
    "i'm ", "i’m ", "i am ", "i get ", "i have ", "i think", "i found", "i would ", "i tried", "i can ",
    "i expect", "it seems", "seems to", "regression", " bug", "doesn't work", "does not work", "raises ",
    "would be nice", "workaround", "python 3.", "error:", 'file "', "in version", "thanks", "we could",
    "we should", "currently",
)  # fmt: skip
COMPLAINT = re.compile(
    r"\b(?:but|and|then) (?:it|this|that|the \w+) (?:crash|fail|rais|throw|does not|doesn.t|gives|breaks|hangs)"
    r"|\b(?:it|this|which) (?:crashes|fails|raises|throws|breaks|hangs)\b"
)
"""How somebody describes what happens: the files in the steps that lead there are examples."""
DIRECT = (
    "your task", "you must", "you are given", "you need to", "your goal", "your job", "/app/",
)  # fmt: skip
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
