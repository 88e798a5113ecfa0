"""How runs end: limits of harnesses, errors of clients, marks of hand-over tools, rejected answers."""

from __future__ import annotations

import re

BOUNDS = r"(?:limits?|max(?:imum)?|budget|quota|rounds?|turns?|steps?|iterations?|tokens?|time|context|cost|counter)"
LIMITED = re.compile(
    rf"\b{BOUNDS}\b[^.\n]{{0,60}}\b(?:reached|exceeded|exhausted|used up)\b"
    rf"|\b(?:reached|exceed(?:s|ed)|exhausted|hit|ran out of)\b[^.\n]{{0,40}}\b{BOUNDS}\b"
    r"|LimitsExceeded|\bexit_(?:cost|context|format|error)|\b(?:was |got |been |^)killed\b|\btime(?:d|d[ -]|-)?out\b",
    re.IGNORECASE,
)
"""Words of a harness that stopped a run at a limit."""
CRASHES = re.compile(
    r"^(?:Traceback \(most recent call last\).*|(?:[a-z_]\w*\.)+\w*(?:Error|Exception)\b.*|API Error: .*"
    r"|Error code: [45]\d\d\b.*)",
    re.MULTILINE,
)
"""An error of the agent's client, at the beginning of a line."""
VERDICT_ARGUMENTS = ("task_completed", "success", "is_successful", "completed", "done", "finished", "status")
"""Arguments of hand-over tools by which an agent says whether it is done."""
NOT_DONE = frozenset({"false", "no", "failed", "failure", "fail", "error", "impossible", "infeasible", "blocked"})
PARTIAL = frozenset({"partial", "partially", "incomplete"})
CALL_MARKUP = re.compile(r"<(?:tool_call|function_calls?|function=|invoke )|<\|tool_calls?_")
"""A call that the harness left in the text of a message."""
EXIT_COMMANDS = frozenset(["exit", "exit 0", "logout", "quit"])
_NO = r"(?:incorrect|not (?:\w+ )?correct|wrong|rejected|not accepted)"
_SUBMITTED = r"(?:submission|answer|flag|solution|response|result|guess|key|password|patch)"
REJECTED = re.compile(
    rf"\b{_SUBMITTED}\b[^.\n]{{0,40}}\b{_NO}\b|\b{_NO}\s+{_SUBMITTED}\b|^\W*(?:{_NO}|try again)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Words that reject what was submitted: of that very thing, or at the start of a line."""
PRINTS_WORK = re.compile(
    r"\bgit\b[^|;&\n]{0,80}\b(?:diff|show|format-patch)\b|\bcat\b[^|;&\n]{0,80}\.(?:patch|diff|txt)\b"
)
ANSWER_LINE = re.compile(r"^[*# ]{0,6}FINAL ANSWER[*]{0,2}:[* ]{0,4}(\S[^\n]{0,300})", re.MULTILINE | re.IGNORECASE)
