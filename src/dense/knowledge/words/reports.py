"""How people write when they report a bug, or give an order. English, in lower case."""

from __future__ import annotations

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
DIRECT = (
    "your task", "you must", "you are given", "you need to", "your goal", "your job", "/app/",
)  # fmt: skip
