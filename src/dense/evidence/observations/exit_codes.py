"""What exit codes mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.evidence.observations.result import ObservedFailure
from dense.knowledge.errors import ERRORS, EXIT, NO_SUCH_COMMAND, ErrorTable

NO_FAILURE = frozenset((0, 141, -13, -1))
"""Codes that show no failure: a closed pipe; and -1, by which harnesses say that a command is still running."""
PRINTED_SIGNAL = re.compile(r"\n[^\n\d]{0,40}(?i:exit|rc|status|code|ret)[^\n\d]{0,12}(\d{3})(?=[^\n\d]{0,12}(?:\n|$))")
"""`exit: 137`, as agents print it by `echo "exit: $?"`."""


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
