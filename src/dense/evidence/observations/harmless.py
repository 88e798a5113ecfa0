"""Lines that speak of errors and complain of nothing."""

from __future__ import annotations

import re

from dense.evidence.observations.families import phrases
from dense.text.search import contains_any

SAID = phrases("""
    warning
    warn:
    deprecat
    binary file
    removing leading
    omitting directory
    up to date
    nothing to be done
    entering directory
    leaving directory
    no error
    0 error
    zero error
    0 failures
    no failures
    pip's dependency resolver
    errorhandl
    error handl
    error_handl
    unable to resolve host
    delaying package configuration
    unable to initialize frontend
    falling back
    no process found
    no such process
    as expected
    (expected
    expected error
    cannot set terminal process group
    no job control
    not a tty
    inappropriate ioctl
    skipping
""")
"""In lower case. Notices, counts of nothing, processes that were gone already, and what was meant to fail."""
ENDINGS = ("is a directory", "broken pipe")
NUMBERED = re.compile(r"[1-9]0 error|[1-9]0 failures")

MEASURE = re.compile(
    r"\s{0,9}(?:[-+±~<>=≈]{0,3}\s{0,9}[\d.]{1,40}(?:e[-+]?\d{1,4})?\s{0,9}(?:%|\w{0,12}|\([^)]{0,60}\))\s{0,9}$"
    r"|[-+]?\d+\.\d|exit code \d{1,10}$"
    r"|(?:nan|\(?none|no|null|false|n/a|undefined)\W{0,3}$|-{1,40}\s{0,9}$|\[\]|\{\}|0\b|''$|\"\"$)",
    re.IGNORECASE,
)


def is_harmless(line: str) -> bool:
    """Whether a line only warns, counts, or tells of what was expected."""
    lower = line.lower()
    if contains_any(lower, SAID):
        return not NUMBERED.search(lower)
    return lower.rstrip(" .").endswith(ENDINGS)


def is_measure(text: str) -> bool:
    """Whether what stands behind `error:` is a number or nothing: `Error: 0.003`, `error: None`."""
    return MEASURE.match(text) is not None
