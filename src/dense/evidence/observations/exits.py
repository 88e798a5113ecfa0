"""What exit codes mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.evidence.observations.result import Family, ObservedFailure

SIGNALS: dict[int, Family] = {
    124: "time_out",
    126: "permission",
    127: "no_such_command",
    **dict.fromkeys((130, 132, 134, 135, 136, 137, 139, 143), "killed"),
}
QUIET = frozenset((0, 141, -13, -1))
"""Codes that tell of no failure: a closed pipe; and -1, by which harnesses say that a command still runs."""
SHOWN = re.compile(r"\n[^\n\d]{0,40}(?i:exit|rc|status|code|ret)[^\n\d]{0,12}(\d{3})(?=[^\n\d]{0,12}(?:\n|$))")
"""`exit: 137`, as agents have it printed by `echo "exit: $?"`."""


def is_quiet(code: int) -> bool:
    """Whether a code tells of no failure."""
    return code in QUIET


def by_exit(code: int) -> ObservedFailure:
    """A failure that only an exit code tells of."""
    return ObservedFailure(SIGNALS.get(code, "killed" if code < 0 else "exit"), f"exit code {code}", str(code))


def shown_exits(text: str) -> Iterator[ObservedFailure]:
    """Codes that the agent had printed, where they mean that a program was stopped or was not there. Small codes are
    left alone: that a program refuses bad input is often what is being tried."""
    for found in SHOWN.finditer(text):
        family = SIGNALS.get(int(found[1]))
        if family is not None:
            # A code says what happened, not to which program.
            yield ObservedFailure(family, found[0].strip()[:300], "" if family == "no_such_command" else found[1])


PRINTED = re.compile(r"\n[^\n\d]{0,40}(?i:exit|rc|status|code|ret)[^\n\d]{0,12}(\d{1,3})(?!\d)")


def printed_exit(command: str, typed: str, text: str) -> tuple[int, str] | None:
    """The code of a command that the agent had printed right after it (`make check; echo "exit $?"`), and the line over
    it; None where it had none printed, or the output does not show it. A terminal's output has what was typed, too."""
    at = typed.find(command)
    rest = typed[at + len(command) :] if at >= 0 else ""
    if not re.match(r"[^\n;|&]{0,200}[;\n]\s*echo\s[^\n;]{0,80}\$\?", rest):
        return None
    start = max(text.rfind(command), 0)
    found = PRINTED.search(text, start)
    if found is None:
        return None
    above = text[start : found.start()].rstrip().rpartition("\n")[2].strip()
    return int(found[1]), "" if command in above else above[:300]
