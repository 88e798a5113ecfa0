"""The last state of each check of a trace: what ran, how it ended, which tests failed and why, what changed since.

`last_checks(evidence)` gives `LastCheck`s (`dense.tree`), which the tree carries as `ReconciledTree.last_checks`. A
message renders each as a line of the kind `last-check`: "last run of `pytest tests/x.py`: a41, 2 failed: `test_a`,
`test_b`; not run again after the change at a43". Such a line states a fact. Only if `is_required` is set is the failure
an issue, too (`required_check_failed`), and then the message has it there already."""

from __future__ import annotations

import re

from dense.analysis.evidence.checks.checks import Check, overtakes
from dense.analysis.evidence.checks.required import is_required
from dense.analysis.evidence.trace import TraceEvidence
from dense.text.quoting import one_line
from dense.tree import LastCheck

MAX_CHECKS = 12
"""How many checks are kept, the last ones."""
MAX_NAMES = 5
MAX_LINE_CHARS = 240
MAX_COMMAND_CHARS = 400
MAX_OUTPUT_CHARS = 64 * 1024
REASONS = (
    re.compile(r"^E  +(\S.*)$", re.MULTILINE),  # pytest
    re.compile(r"^\s*(\w+_test\.go:\d+: .+)$", re.MULTILINE),  # go
    re.compile(r"^\s*((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Failed)\b(?:: .*|))$", re.MULTILINE),  # Python
    re.compile(r"^\s*(assertion .+)$", re.MULTILINE),  # Rust
    re.compile(r"^\s*error: ['\"](.+)['\"]$", re.MULTILINE),  # node
    re.compile(r"^\s*error: [|>]-\s*\n\s*(\S.*)$", re.MULTILINE),
    re.compile(r"^\s*(expect\(.+)$", re.MULTILINE),  # jest
)
"""How runners print why a test failed: the first that an output has."""


def last_checks(evidence: TraceEvidence) -> tuple[LastCheck, ...]:
    """The last run of each thing that was checked, in order. A failure that the same or a stronger check got past later
    is left out, and so are runs while the changes were reverted."""
    known: set[tuple[str, frozenset[str]]] = set()
    later: list[Check] = []
    found: list[LastCheck] = []
    for check in reversed(evidence.checks):
        key = (check.runner, check.subjects)
        if check.has_passed is None or (check.action, check.command) in evidence.reverted_checks:
            continue
        if key not in known and not any(overtakes(passed, check) for passed in later):
            found.append(_last_check(evidence, check))
        known.add(key)
        if check.has_passed:
            later.append(check)
    return tuple(reversed(found[:MAX_CHECKS]))


def _last_check(evidence: TraceEvidence, check: Check) -> LastCheck:
    return LastCheck(
        command=one_line(check.command, MAX_COMMAND_CHARS),
        action=check.action,
        has_passed=bool(check.has_passed),
        failed=check.failed,
        names=tuple(one_line(name, MAX_LINE_CHARS) for name in check.names[:MAX_NAMES]),
        line=one_line(check.line, MAX_LINE_CHARS),
        reason="" if check.has_passed else failure_reason(evidence, check),
        changed_at=evidence.last_change if evidence.last_change > check.action else 0,
        is_required=is_required(evidence, check),
    )


def failure_reason(evidence: TraceEvidence, check: Check) -> str:
    """The line of a check's output that says why the first of its tests failed; empty if none does."""
    output = evidence.output(check.action)[-MAX_OUTPUT_CHARS:]
    match = next(filter(None, (reason.search(output) for reason in REASONS)), None)
    return one_line(match[1], MAX_LINE_CHARS) if match else ""
