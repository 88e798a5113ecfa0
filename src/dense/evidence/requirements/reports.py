"""Whether a text is somebody's report of a fault, pasted as it was: what it names is evidence, not a deliverable."""

from __future__ import annotations

import re

from dense.text.search import contains_any

STRONG = (
    "steps to reproduce",
    "to reproduce",
    "reproduces the",
    "reproducible example",
    "minimal example",
    "minimal repro",
    "expected behavio",
    "actual behavio",
    "current behavio",
    "expected result",
    "actual result",
    "describe the bug",
    "bug report",
    "(last modified by",
    "originally reported by",
    "traceback (most recent call last)",
    "github issue",
    "/issues/",
    "/blob/",
    "/pull/",
    "installed versions",
    "stack trace",
    "stacktrace",
    "feature request",
    "is your feature request",
    "<details>",
    "diff --git ",
    "\nthinking:",
    "\ndescription\n",
)
WEAK = (
    "i'm ",
    "i’m ",
    "i am ",
    "i get ",
    "i have ",
    "i think",
    "i found",
    "i would ",
    "i tried",
    "i can ",
    "i expect",
    "it seems",
    "seems to",
    "regression",
    " bug",
    "doesn't work",
    "does not work",
    "raises ",
    "would be nice",
    "workaround",
    "python 3.",
    "error:",
    'file "',
    "in version",
    "thanks",
    "we could",
    "we should",
    "currently",
)
COMPLAINT = re.compile(
    r"\b(?:but|and|then) (?:it|this|that|the \w+) (?:crash|fail|rais|throw|does not|doesn.t|gives|breaks|hangs)"
    r"|\b(?:it|this|which) (?:crashes|fails|raises|throws|breaks|hangs)\b"
)
"""What somebody says who reports what happens: after steps that lead there, the files in them are examples."""
DIRECT = ("your task", "you must", "you are given", "you need to", "your goal", "your job", "/app/")
ENOUGH = 3
PROMPTS = 4
"""With so many commands at a prompt a text is the record of a session."""


def is_report(low: str) -> bool:
    """Whether a text, in lower case, reads as a report of a fault or a wish, rather than as an order."""
    strong = sum(sign in low for sign in STRONG)
    strong += low.count("\n$ ") >= PROMPTS
    if COMPLAINT.search(low) and not contains_any(low, DIRECT):
        strong += 2
    if not strong and " i " not in low and "i'm " not in low and "we " not in low:
        return False
    weak = sum(sign in low for sign in WEAK)
    if not strong and weak < ENOUGH:
        return False
    direct = sum(sign in low for sign in DIRECT)
    return 2 * strong + weak - 2 * direct >= ENOUGH
