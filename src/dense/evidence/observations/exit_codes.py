"""What exit codes mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.evidence.observations.result import ObservedFailure
from dense.knowledge.errors import ERRORS, EXIT, NO_SUCH_COMMAND, ErrorTable

NO_FAILURE = frozenset((0, 141, -13, -1))
"""Codes that show no failure: a closed pipe; and -1, by which harnesses say that a command is still running."""
LABELLED = r"\n[^\n\d]{0,40}(?i:exit|rc|status|code|ret)[^\n\d]{0,12}"
PRINTED_SIGNAL = re.compile(rf"{LABELLED}(\d{{3}})(?=[^\n\d]{{0,12}}(?:\n|$))")
"""`exit: 137`, as agents print it by `echo "exit: $?"`."""
PRINTED_CODE = re.compile(rf"{LABELLED}(\d{{1,3}})(?!\d)")
PRINTS_CODE = re.compile(r"[^\n;|&]{0,200}[;\n]\s*echo\s[^\n;]{0,80}\$\?")


def failure_of_code(code: int, errors: ErrorTable = ERRORS) -> ObservedFailure:
    """A failure of which nothing but the exit code is known."""
    return ObservedFailure(errors.by_exit_code(code) or EXIT, f"exit code {code}", str(code))


def printed_failures(text: str, errors: ErrorTable = ERRORS) -> Iterator[ObservedFailure]:
    """Codes that the agent printed and that mean that a program was stopped or is missing. Small codes are left out:
    that a program refuses bad input is often what is being tried."""
    for found in PRINTED_SIGNAL.finditer(text):
        family = errors.by_exit_code(int(found[1]))
        if family is not None:
            # A code says what happened, not to which program.
            yield ObservedFailure(family, found[0].strip()[:300], "" if family is NO_SUCH_COMMAND else found[1])


def printed_code(command: str, typed: str, text: str) -> tuple[int, str] | None:
    """The code of a command, printed right after it (`make check; echo "exit $?"`), and the line above the code.

    None if it printed none, or the output does not show it. The output of a terminal repeats what was typed."""
    _, found_command, rest = typed.partition(command)
    if not found_command or not PRINTS_CODE.match(rest):
        return None
    start = max(text.rfind(command), 0)
    found = PRINTED_CODE.search(text, start)
    if found is None:
        return None
    above = text[start : found.start()].rstrip().rpartition("\n")[2].strip()
    return int(found[1]), "" if command in above else above[:300]
