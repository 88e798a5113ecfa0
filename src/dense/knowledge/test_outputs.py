"""What test runs print besides the summaries of known runners: counts, headings, complaints."""

from __future__ import annotations

import re

SIGNS_OF_RUN = ("FAIL", "ERROR", "%]")
"""Without one of these no run without a summary is shown."""
PASSED_WORDS = ("assed", "PASSED")
BOTH_COUNTS = re.compile(
    r"\b(\d+) (?:tests? )?(passed|failed)[,;|] *(\d+) (?:tests? )?(?:passed|failed)\b", re.IGNORECASE
)
SHARE = re.compile(r"\b(\d+) ?(?:/|of|out of) ?(\d+) (?:tests? |checks? |cases? )?(passed|failed)\b", re.IGNORECASE)
DIFFERENCE = re.compile(
    r"^(?:\S{1,300} \S{1,300} differ: (?:byte|char) \d+, line \d+|cmp: EOF on \S[^\n]{0,300}"
    r"|(?:Binary files|Files) \S[^\n]{0,300} differ)$",
    re.MULTILINE,
)
"""A line by which `cmp` or `diff` say that files differ."""
ALL_PASSED = re.compile(r"\ball (?:(\d+) )?(?:tests?|checks?) passed\b", re.IGNORECASE)
MAKE_ERROR = re.compile(r"\nmake(?:\[\d+\])?: \*\*\* \[(?:[^\]\n:]{1,200}:\d+: )?([^\]\n]{1,200})\] Error \d+[^\n]*")
TEST_TARGET = re.compile(r"test|check|verify|spec\b|lint", re.IGNORECASE)
SUBTEST = re.compile(r"(\w+ \([\w.]+\)) [(\[]")
"""The name of a test by unittest, and the beginning of what says which subtest it is."""
COMPLAINT_LINE = re.compile(
    r"^(?:E {2,8}(\S[^\n]{2,200})|((?:\w{1,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception): [^\n]{1,200})"
    r"|FAILED [^\n]{1,200}? - (\S[^\n]{0,200})|\s{2,12}\w{1,60}_test\.go:\d{1,6}: ([^\n]{1,200}))$",
    re.MULTILINE,
)
HEADING_LINE = re.compile(
    r"^(?:(?:FAIL|ERROR): (\w{1,200})|_{3,200} (?:ERROR at \w{1,20} of )?(\S{1,300}) _{3,200}$"
    r"| {0,40}--- FAIL: (\S{1,300}))",
    re.MULTILINE,
)
SKIPPED = re.compile(r"\b([1-9]\d*) skipped\b")
PYTEST_ERROR = re.compile(r"^E  [^\n]{6,}(?<!%\])$", re.MULTILINE)
"""A line that pytest marks as an error."""
IDLE_LINE = re.compile(
    r"Waiting for the debugger|Debugger attached|npm notice|Done in |\(Open file:|bash-"
    r"|(?:real|user|sys)\s+(?:\d+m)?[\d.,]+s?$|\(\d+ more lines (?:above|below)\)"
)
"""Last lines that say nothing: how long it took, what an editor does not show."""
