"""Tests and checks that failed and did not pass again, with what speaks for or against the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.checks.checks import Check, first_retest, is_static
from dense.analysis.evidence.facts.facts import find_excuse
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.evidence.trace import TraceEvidence

CHECK_FAILED = FindingCode("check_failed", "A test or check failed and did not pass again.", "serious")
EXCUSE_DISTANCE = 2
"""The agent may comment on a failed check within this many actions."""
MAX_TEST_NAMES = 5

AfterFailure = Literal[
    "before_changes",  # nothing had been changed when it failed
    "fails_without_changes",  # it fails in the same way with the changes reverted
    "passed_before",  # it had passed, and nothing but temporary files changed since then
    "own_check_removed",  # the agent wrote the check itself and removed it later
    "own_check_edited",  # the agent wrote the check itself and edited it later
    "own_check_overtaken",  # the agent wrote the check itself, and another check passed later
    "excused",  # the agent says that the failure is not its own
    "edited_later",  # files changed later, and it was not run again
    "unchanged",  # nothing changed later
]


class _Context(Struct, frozen=True):
    """What is known of the time after a failure."""

    after: AfterFailure
    action: int = 0
    """The action that shows it; 0 if there is none."""
    quote: str = ""
    """The file, or the agent's words."""


def failed_checks(evidence: TraceEvidence) -> Iterator[Finding]:
    """The last failure of each thing that was checked."""
    reported: set[str] = set()
    later: list[Check] = []
    for check in reversed(evidence.checks):
        is_restored = evidence.reverted_checks.get((check.action, check.command))
        if is_restored or (is_restored is not None and check.has_passed is False):
            continue  # it shows the state before the changes
        if check.has_passed is not False:
            later.append(check)
        elif (subject := f"{check.runner} {sorted(check.subjects)}") not in reported:
            reported.add(subject)
            yield _failed_check(evidence, check, later)


def _failed_check(evidence: TraceEvidence, check: Check, later: list[Check]) -> Finding:
    is_named = any(name in check.command or check.command in name for name in evidence.named_checks)
    is_early = check.action < evidence.first_change
    resolution = first_retest(check, later)
    context = _context(evidence, check, later)
    is_excused = is_early if resolution else context.after not in ("edited_later", "unchanged")
    is_serious = is_named or not (is_excused or is_static(check))
    is_serious = is_serious and context.after != "passed_before"
    return CHECK_FAILED.found(
        check.command,
        check.action,
        resolution=resolution,
        severity="serious" if is_serious else "doubt",
        line=check.line,
        tests=check.names[:MAX_TEST_NAMES],
        after="" if resolution else context.after,
        after_action=context.action,
        quote=context.quote,
        is_named=int(is_named and not resolution),
    )


def _context(evidence: TraceEvidence, check: Check, later: Sequence[Check]) -> _Context:
    """What speaks for or against the agent: the first that applies."""
    if check.action < evidence.first_change:
        return _Context("before_changes")
    return (
        _fails_without_changes(evidence, check)
        or _passed_before(evidence, check)
        or _dropped(evidence, check)
        or _overtaken(evidence, check, later)
        or _excused(evidence, check)
        or _Context("edited_later" if evidence.last_change > check.action else "unchanged")
    )


def _fails_without_changes(evidence: TraceEvidence, check: Check) -> _Context | None:
    """The same check fails without the changes of the attempt, too."""
    for baseline in evidence.baseline_checks:
        is_same = baseline.subjects == check.subjects or bool(baseline.subjects & check.subjects)
        is_same = is_same and baseline.runner == check.runner
        if is_same and baseline.has_passed is False and baseline.failed >= check.failed:
            return _Context("fails_without_changes", baseline.action)
    return None


def _passed_before(evidence: TraceEvidence, check: Check) -> _Context | None:
    """The same command passed on the same work."""
    passed = [
        before.action
        for before in evidence.checks
        if before.action < check.action and before.command == check.command and before.has_passed
        if (before.action, before.command) not in evidence.reverted_checks
    ]
    is_same_work = bool(passed) and evidence.last_change <= passed[-1]
    return _Context("passed_before", passed[-1]) if is_same_work else None


def _overtaken(evidence: TraceEvidence, check: Check, later: Sequence[Check]) -> _Context | None:
    """A check of the agent's own, and another one passed after the last change."""
    passed = (run.action for run in reversed(later) if run.has_passed and run.action > evidence.last_change)
    action = next(passed, 0)
    own = _own_files(evidence, check) if action else []
    return _Context("own_check_overtaken", action, own[-1]) if own else None


def _excused(evidence: TraceEvidence, check: Check) -> _Context | None:
    """The agent ascribes the failure to something other than its changes."""
    following = evidence.steps[check.action : check.action + EXCUSE_DISTANCE]
    quote = next((words for step in following if (words := find_excuse(step.message or step.reasoning))), "")
    return _Context("excused", quote=quote) if quote else None


def _own_files(evidence: TraceEvidence, check: Check) -> list[str]:
    """The files of a check, if the agent wrote all of them and the task names none."""
    names = [base_name(path) for path in check.scope.paths if path not in check.scope.folders]
    written = {base_name(path) for fact in evidence.facts[: check.action] for path in fact.effects.writes}
    named = {base_name(requirement.subject) for requirement in evidence.requirements if requirement.kind == "file"}
    return names if written.issuperset(names) and named.isdisjoint(names) else []


def _dropped(evidence: TraceEvidence, check: Check) -> _Context | None:
    """The last file of a check, if the agent wrote all of them and removed or edited each later."""
    dropped: _Context | None = None
    following = evidence.facts[check.action :]
    for name in [base_name(path) for path in check.scope.paths if path not in check.scope.folders]:
        if not any(base_name(path) == name for fact in evidence.facts[: check.action] for path in fact.effects.writes):
            return None
        removed = next((fact.action for fact in following if name in map(base_name, fact.effects.deletes)), 0)
        edited = next((fact.action for fact in following if name in map(base_name, fact.effects.writes)), 0)
        if not removed and not edited:
            return None
        dropped = (
            _Context("own_check_removed", removed, name) if removed else _Context("own_check_edited", edited, name)
        )
    return dropped


DETECTOR = Detector(failed_checks, (CHECK_FAILED,), needs_end=False)
