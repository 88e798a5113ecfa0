"""Words by which a line is an error, or none, whoever prints it."""

from __future__ import annotations

import re

SEVERITIES = frozenset("error fatal failure panic e fail failed critical".split())
EXCEPTION_ENDINGS = ("Error", "Exception", "Interrupt", "Exit", "Failure")
ERROR_WORDS = (
    *(" such ", "enied", "not found", "annot ", "an't ", "nvalid", "nrecognized", "refused", "rror", "already in use"),
    *("ould not ", "not permitted", "ssertion", "not exist", "o space left", "o module named"),
)
"""One of these must follow an unknown name for the line to be an error."""
BENIGN_WORDS = (
    *("warning", "warn:", "deprecat", "binary file", "removing leading", "omitting directory", "up to date"),
    *("nothing to be done", "entering directory", "leaving directory", "no error", "0 error", "zero error"),
    *("0 failures", "no failures", "pip's dependency resolver", "errorhandl", "error handl", "error_handl"),
    *("unable to resolve host", "delaying package configuration", "unable to initialize frontend", "falling back"),
    *("no process found", "no such process", "as expected", "(expected", "expected error"),
    *("cannot set terminal process group", "no job control", "not a tty", "inappropriate ioctl", "skipping"),
)
"""In lower case. Notices, counts of nothing, processes that were gone already, and expected failures."""
BENIGN_ENDINGS = ("is a directory", "broken pipe")
ROUND_COUNT = re.compile(r"[1-9]0 error|[1-9]0 failures")
MEASUREMENT = re.compile(
    r"\s{0,9}(?:[-+±~<>=≈]{0,3}\s{0,9}[\d.]{1,40}(?:e[-+]?\d{1,4})?\s{0,9}(?:%|\w{0,12}|\([^)]{0,60}\))\s{0,9}$"
    r"|[-+]?\d+\.\d|exit code \d{1,10}$"
    r"|(?:nan|\(?none|no|null|false|n/a|undefined)\W{0,3}$|-{1,40}\s{0,9}$|\[\]|\{\}|0\b|''$|\"\"$)",
    re.IGNORECASE,
)
SHELL_PREFIXES = ("bash:", "sh:", "/bin/bash:", "/bin/sh:", "zsh:", "dash:")
"""How a line begins in which a shell says that there is no such program."""
UNSTARTED = re.compile(
    r"can't open file '|[Cc]annot open \S{1,200}: No such file|Can't open perl script|Could not read package\.json"
    r"|No rule to make target"
)
"""How interpreters and builders say that what they were to run is not there."""
STOPPED = ("aborted", "interrupted", "cancelled", "canceled")
"""What a line says if somebody stopped the run."""
PROBLEM_LINE = re.compile(
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
NO_PROBLEM_LINE = re.compile(
    r"\b(?:fail\w*|errors?|mismatch\w*)\s*[:=]\s*(?:0\b|none\b|\[\])|\b(?:0|no|zero|not|never|without|correctly)\s+\w*\s?"
    r"(?:fail|error|mismatch|reproduc|confirm|present)|no longer|\bPASS|[✅✓✔]|\bcorrectly\b|\bexpected to fail\b",
    re.IGNORECASE,
)
ABSENT = ("no such file", "cannot open", "can't open", "cannot access", "not found", "does not exist", "enoent")
"""How programs say that a file is not there."""
