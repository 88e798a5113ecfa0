"""Tests and checks that failed and did not pass again, with what speaks for or against the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from dense.analysis.detectors.admissions import closing_sentence, closing_text
from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.checks.checks import Check, first_retest, is_static
from dense.analysis.evidence.checks.last_state import failure_reason
from dense.analysis.evidence.checks.required import is_required
from dense.analysis.evidence.facts.facts import find_excuse
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern

CHECK_FAILED = FindingCode(
    name="check_failed", meaning="A test or check failed and did not pass again.", severity="serious"
)
REQUIRED_CHECK_FAILED = FindingCode(
    name="required_check_failed",
    meaning="The task asks for a check to pass, and its last run fails.",
    severity="serious",
    opens_issue=True,
)
UNEXCUSED = ("edited_later", "unchanged")
TESTS_PASS = GuardedPattern(pattern("tests_pass"))
TESTS_FAIL = GuardedPattern(pattern("tests_fail"))
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
    """The last failure of each thing that was checked. What the task asks to pass is one open finding: its last
    failure."""
    is_reported = False
    for finding in _last_failures(evidence):
        is_open_requirement = finding.code == REQUIRED_CHECK_FAILED.name and finding.is_open
        if not (is_open_requirement and is_reported):
            yield finding
        is_reported |= is_open_requirement


def _last_failures(evidence: TraceEvidence) -> Iterator[Finding]:
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
    resolution = first_retest(check, later)
    context = _context(evidence, check, later)
    if is_required(evidence, check) and context.after != "passed_before":
        return _required_check(evidence, check, resolution or _unnamed_retest(check, later))
    is_excused = check.action < evidence.first_change if resolution else context.after not in UNEXCUSED
    return CHECK_FAILED.found(
        check.command,
        check.action,
        resolution=resolution,
        severity="doubt" if is_excused or is_static(check) else "serious",
        line=check.line,
        tests=check.names[:MAX_TEST_NAMES],
        after="" if resolution else context.after,
        after_action=context.action,
        quote=context.quote,
    )


def _required_check(evidence: TraceEvidence, check: Check, resolution: int | None) -> Finding:
    """A check that the task asks to pass: the last run decides, and nothing excuses it."""
    claim = "" if resolution else _claim(evidence, check)
    is_start = resolution is not None and check.action < evidence.first_change
    return REQUIRED_CHECK_FAILED.found(
        check.command,
        *sorted({check.action, evidence.ending.action} if claim else {check.action}),
        resolution=resolution,
        severity="doubt" if is_start else "serious",
        line=check.line,
        tests=check.names[:MAX_TEST_NAMES],
        assertion=failure_reason(evidence, check),
        failed_at=check.action,
        changed_at=evidence.last_change if evidence.last_change > check.action else 0,
        claim=claim,
        claimed_at=evidence.ending.action if claim else 0,
    )


def _unnamed_retest(check: Check, later: Sequence[Check]) -> int | None:
    """A later pass by the same runner of what the task asks to pass, if the tests that failed are not known by name."""
    passed = [run.action for run in later if run.has_passed and run.runner == check.runner and run.ran]
    return min(passed, default=None) if check.ran and not check.names else None


def _claim(evidence: TraceEvidence, check: Check) -> str:
    """The sentence of the closing words that says that a check passes, if none says that something fails. "All tests
    pass" is about any test run, unless the sentence names another command."""
    text = closing_text(evidence)
    claim = "" if closing_sentence(TESTS_FAIL, text) else closing_sentence(TESTS_PASS, text)
    if check.command in claim or any(subject in claim for subject in check.subjects):
        return claim
    names_other = any(other.command in claim for other in evidence.checks)
    return claim if check.ran and not names_other else ""


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


DETECTOR = Detector(failed_checks, (CHECK_FAILED, REQUIRED_CHECK_FAILED), needs_end=False)
