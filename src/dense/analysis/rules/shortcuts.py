"""Attempts that failed and were recovered or given up, as groups of neighbouring parts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from dense.analysis.detectors.assessment import FAILED_CHECKS, TraceAssessment
from dense.analysis.detectors.registry import Finding
from dense.analysis.evidence.links.attempts import Attempt
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.narrator import Narrator
from dense.analysis.wording.shortcuts import dead_end, working_path
from dense.draft import GroupDraft, PartDraft, leaf_reference
from dense.tree import ShortcutOutcome

MAX_LOOKBACK = 8
"""How many actions before a failure may hold the changes that it put to the test."""
MAX_OTHER_FINDINGS = 20


def shortcuts(children: Sequence[PartDraft], assessment: TraceAssessment, narrator: Narrator) -> list[GroupDraft]:
    """A group for each attempt that covers two or more neighbouring children."""
    firsts, lasts = [child.first for child in children], [child.last for child in children]
    found: list[GroupDraft] = []
    place = 0
    for attempt in assessment.attempts_in(firsts[0], lasts[-1]):
        start = max(place, bisect_left(lasts, attempt.first))
        end = bisect_right(firsts, attempt.last)
        covered = [i for i in range(start, end) if _is_mostly(attempt, firsts[i], lasts[i])]
        if len(covered) < 2 or covered[-1] - covered[0] >= len(covered):
            continue
        if (group := _group(attempt, firsts[covered[0]], lasts[covered[-1]], assessment, narrator)) is None:
            continue
        found.append(group)
        place = covered[-1] + 1
    return found


def _is_mostly(attempt: Attempt, first: int, last: int) -> bool:
    """Whether more than half of a part belongs to the attempt: a subtask that only begins in it has its own end."""
    return 2 * (min(last, attempt.last) - max(first, attempt.first) + 1) > last - first + 1


def _group(
    attempt: Attempt, first: int, last: int, assessment: TraceAssessment, narrator: Narrator
) -> GroupDraft | None:
    """The group of an attempt; None if all that failed in it are baselines: those are no dead ends."""
    failed = [action for action in attempt.failed if first <= action <= last]
    baselines = [action for action in failed if assessment.evidence.is_baseline(action)]
    if failed and baselines == failed:
        return None
    recovery = attempt.recovery if attempt.recovery is not None and attempt.recovery <= last else None
    evidence = [*failed[-2:], *([recovery] if recovery else [])]
    return GroupDraft(
        first=first,
        last=last,
        title=narrator.attempt_title(attempt),
        dead_end=dead_end(
            [narrator.action(action) for action in failed],
            assessment.evidence.complaint_after,
            lambda action: _tested(action, narrator),
            baselines,
        ),
        working_path=_working_path(attempt.first, recovery, failed, assessment, narrator) if recovery else "",
        outcome=_outcome(recovery, assessment, failed, last),
        evidence=tuple(map(leaf_reference, evidence)),
    )


def _tested(failed: NarratedAction, narrator: Narrator) -> list[NarratedAction]:
    """The changes that a failed action put to the test: those after the last check or run before it."""
    found: list[NarratedAction] = []
    result = failed.facts.result
    if not result.tests and any(failure.family.is_external for failure in result.failures):
        return found
    for number in range(failed.action - 1, max(0, failed.action - 1 - MAX_LOOKBACK), -1):
        action = narrator.action(number)
        if action.facts.effects.writes and action.is_change and not action.has_failed:
            found.append(action)
        if action.is_check or action.phase == "run":
            break
    return found[::-1]


def _outcome(recovery: int | None, assessment: TraceAssessment, failed: Sequence[int], last: int) -> ShortcutOutcome:
    """A recovery is no success while a check is open that it does not cover, or if the check itself was changed."""
    if recovery is None:
        after = (failed[-1] if failed else last) + 1
        return (
            "partial"
            if any(assessment.evidence.fact(n).effects.changes_files for n in range(after, last + 1))
            else "failed"
        )
    is_partial = assessment.edited_tests(failed, recovery) or _not_covered(recovery, assessment)
    return "partial" if is_partial else "succeeded"


def _not_covered(recovery: int, assessment: TraceAssessment) -> list[Finding]:
    """Failed checks and missed limits that are open: those before a recovery, and later ones of the task."""
    commands = assessment.evidence.fact(recovery).commands
    later = assessment.findings_in(recovery + 1, len(assessment.evidence.facts))[-MAX_OTHER_FINDINGS:]
    later = [
        one
        for one in later
        if one.code == "required_check_failed" and not any(one.subject in text for text in commands)
    ]
    found = (*assessment.findings_in(1, recovery)[-MAX_OTHER_FINDINGS:], *later)
    return [one for one in found if one.code in (*FAILED_CHECKS, "limit_missed") and one.is_serious and one.is_open]


def _working_path(
    first: int, recovery: int, failed: Sequence[int], assessment: TraceAssessment, narrator: Narrator
) -> str:
    """The way from the first failure to the recovery."""
    changes = [
        narrator.action(n)
        for n in range(first, recovery)
        if assessment.evidence.fact(n).effects.changes_files and not assessment.evidence.fact(n).has_failed
    ]
    before = [action for action in failed if action < recovery]
    last_failure = narrator.action(before[-1]) if before else None
    return working_path(
        changes,
        last_failure,
        narrator.action(recovery),
        assessment.edited_tests(failed, recovery),
        [(one.subject, one.opened) for one in _not_covered(recovery, assessment)],
    )
