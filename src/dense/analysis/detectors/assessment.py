"""What a trace comes to: findings, attempts, whether the work is shown to be done, which actions matter most."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice

from dense.analysis.actions.action import Actions
from dense.analysis.actions.check_commands import is_test_file
from dense.analysis.detectors.registry import Finding, detect
from dense.analysis.evidence.ending.done import DemandEvidence, demands, is_shown_done
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.outputs import found_nothing
from dense.analysis.evidence.facts.paths import base_name, is_among, is_temporary, is_trial_file
from dense.analysis.evidence.links.attempts import Attempt, attempts
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.file_names import PROGRAM_ENDINGS
from dense.text.quoting import as_text
from dense.trajectory import Trajectory

FAILED_CHECKS = ("check_failed", "required_check_failed")
MAX_CHANGING_CALLS = 8
MAX_SOURCES = 4
MAX_GIVEN_CHARS = 2_000
ID = re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z#])[\w#-]{5,40}\b")
"""A name that only a lookup gives: letters and digits."""


class TraceAssessment:
    """What the detectors and the links between actions make of one trace.

    The only place where evidence is built. Nothing is read before somebody asks for it, and everything once: whoever
    needs what a trace shows is handed this object."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.actions = Actions(trajectory.steps)
        """What each step did and showed."""

    @cached_property
    def evidence(self) -> TraceEvidence:
        """What the trace shows."""
        return TraceEvidence(self.trajectory, self.actions)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is open or was, in the order in which it shows."""
        return detect(self.evidence)

    def findings_in(self, first: int, last: int) -> tuple[Finding, ...]:
        """The findings whose last evidence lies in a range of actions."""
        start = bisect_left(self.findings, first, key=lambda finding: finding.evidence[-1])
        return self.findings[start : bisect_right(self.findings, last, start, key=lambda one: one.evidence[-1])]

    def left_at(self, action: int) -> Finding | None:
        """An issue that is open for good when an action hands over."""
        left = (
            finding for finding in self.findings if finding.opens_issue and finding.is_open and finding.opened < action
        )
        return next(left, None)

    @cached_property
    def demands(self) -> list[DemandEvidence]:
        """What the task demands, each with what the trace shows of it."""
        return demands(self.evidence)

    @cached_property
    def is_shown_done(self) -> bool:
        """Whether the trace itself shows that what was asked for is there."""
        return is_shown_done(self.evidence)

    @cached_property
    def is_complete(self) -> bool:
        """Whether the work is shown to be done and nothing is open."""
        return self.is_shown_done and not any(finding.is_open for finding in self.findings)

    @cached_property
    def attempts(self) -> list[Attempt]:
        """Ranges of actions that failed and were recovered or given up; none overlaps another."""
        evidence = self.evidence
        unsettled = frozenset(check.opened for check in self._failed_checks if check.is_open)
        return attempts(evidence.facts, evidence.history, unsettled, evidence.first_change)

    def attempts_in(self, first: int, last: int) -> list[Attempt]:
        """The attempts that touch a range of actions."""
        start = bisect_left(self.attempts, first, key=lambda attempt: attempt.last)
        end = bisect_right(self.attempts, last, key=lambda touched: touched.first)
        return self.attempts[start:end]

    def edited_tests(self, failed: Sequence[int], recovery: int) -> list[str]:
        """The tests that were edited between a failed check and its pass, if nothing else was and the attempt did not
        write them itself: then the pass says nothing about the product."""
        evidence = self.evidence
        before = [action for action in failed if action < recovery and evidence.fact(action).is_check]
        if not before or not evidence.fact(recovery).is_check:
            return []
        between = evidence.facts[before[-1] : recovery - 1]
        written = [path for fact in between if not fact.has_failed for path in fact.effects.writes]
        written = [path for path in dict.fromkeys(written) if not is_temporary(path)]
        if not written or not all(map(is_test_file, written)) or any(fact.effects.scripts for fact in between):
            return []
        first_write = {name: action for action, name in evidence.changes}
        return written if all(first_write.get(base_name(path), 0) > before[-1] for path in written) else []

    @cached_property
    def key_actions(self) -> list[int]:
        """The actions that matter most, in order: the evidence and resolution of findings, the last change of each
        product, the check that passed last, the last look at each deliverable, calls that changed something other than
        files."""
        evidence = self.evidence
        shown = [
            action
            for finding in self.findings
            for action in (*finding.evidence, finding.resolution)
            if action is not None
        ]
        passed = [check.action for check in evidence.checks if check.has_passed]
        looks = [
            file.seen_at
            for file in evidence.tracked_files
            if file.is_shown and self._reads_result(file.path, file.seen_at)
        ]
        changes = [fact.action for fact in evidence.facts if _changes_no_file(fact) and not fact.has_failed]
        made = [action for path, action in evidence.products.items() if not is_trial_file(path)]
        if evidence.submitted_diff is not None:
            made = []  # the diff shows what they came to
        changes = changes[-MAX_CHANGING_CALLS:]
        return sorted({*shown, *made, *passed[-1:], *looks, *changes, *self._sources(changes)})

    def _sources(self, changes: Sequence[int]) -> set[int]:
        """The calls that returned the ids which calls that change something pass on: a rerun needs what they say. In a
        dialog without a change, the last answers of tools."""
        evidence = self.evidence
        asked = [
            fact.action
            for fact in evidence.facts
            if fact.phase == "explore" and not fact.commands and not fact.has_failed and self.has_output(fact)
        ]
        if not changes:
            is_dialog = not evidence.products and any(fact.is_followed_by_user for fact in evidence.facts)
            return set(asked[-MAX_SOURCES:]) if is_dialog else set()
        sources: dict[int, None] = {}
        for change in changes:
            given = " ".join(as_text(call.arguments) for call in evidence.step(change).calls)[:MAX_GIVEN_CHARS]
            for name in dict.fromkeys(ID.findall(given)):
                before = (lookup for lookup in reversed(asked) if lookup < change)
                shows = (
                    lookup for lookup in before if any(name in seen.text for seen in evidence.step(lookup).observations)
                )
                sources.update(dict.fromkeys(islice(shows, 1)))
        return set(list(sources)[-MAX_SOURCES:])

    def _reads_result(self, path: str, action: int) -> bool:
        """Whether an action reads a file of results, not a program."""
        reads = self.evidence.fact(action).effects.reads
        return not path.endswith(PROGRAM_ENDINGS) and is_among(path, reads)

    def is_complete_within(self, first: int, last: int) -> bool:
        """Whether a range of actions reached something and leaves nothing open."""
        if (first, last) == (1, len(self.evidence.facts)):
            return self.is_complete
        inside = [finding for finding in self.findings_in(first, last) if first <= finding.evidence[0]]
        is_open = any(finding.resolution is None or finding.resolution > last for finding in inside)
        return not is_open and self.is_shown_within(first, last)

    def is_shown_within(self, first: int, last: int) -> bool:
        """Whether a range of actions reached something: what it changed was read or checked afterwards, and what it
        tried last did not fail; a range without changes found something out."""
        part = _Range(self, first, last)
        return next((is_shown for is_shown, applies in SHOWN if applies(part)), False)

    def gave_up_within(self, first: int, last: int, final: int) -> bool:
        """Whether an attempt was given up; in a complete whole only if it ends the range, at its `final` action."""
        inside = [
            attempt for attempt in self.attempts_in(first, last) if first <= attempt.first and attempt.last <= last
        ]
        inside = [attempt for attempt in inside if attempt.last >= final or not self.is_complete]
        return any(
            attempt.recovery is None or self.edited_tests(attempt.failed, attempt.recovery) for attempt in inside
        )

    def is_rejected_within(self, inside: Sequence[ActionFacts]) -> bool:
        """Whether the agent calls the last run wrong, or an answer was rejected."""
        evidence = self.evidence
        scripts = [fact.action for fact in inside if fact.effects.scripts][-1:]
        runs = [fact.action for fact in inside if fact.phase == "run"][-1:]
        if any(map(evidence.complaint_after, (*scripts, *runs))):
            return True
        return any(inside[0].action <= rejection.action <= inside[-1].action for rejection in evidence.rejections)

    def confirms(self, fact: ActionFacts, changed: int) -> bool:
        """Whether an action runs what was changed, or shows it and its contents are no guess."""
        if not fact.has_failed and (fact.is_check or fact.effects.scripts):
            return True
        made = self.evidence.history.reads_back(fact.action)
        if made is None or made < changed:
            return False
        return not self.evidence.origins.is_guess(self.evidence.output(fact.action), made)

    def has_output(self, fact: ActionFacts) -> bool:
        """Whether a tool returned something: what a harness says does not count."""
        observations = self.evidence.step(fact.action).observations
        return any(observation.origin == "tool" and observation.text.strip() for observation in observations)

    @cached_property
    def _failed_checks(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.code in FAILED_CHECKS]

    @cached_property
    def first_open_check(self) -> int:
        """The first serious failed check that never passed again; beyond the end if there is none."""
        openeds = [check.opened for check in self._failed_checks if check.is_serious and check.is_open]
        return min(openeds, default=len(self.evidence.facts) + 1)


def _changes_no_file(fact: ActionFacts) -> bool:
    """Whether an action changed something by calls of tools that are named so: a booking, a ticket."""
    return fact.phase == "produce" and not fact.commands and not _changes(fact)


def _changes(fact: ActionFacts) -> bool:
    return bool(fact.effects.writes or fact.effects.deletes)


# Whether a range of actions reached something


class _Range:
    """A range of actions, by the numbers of the first and the last."""

    def __init__(self, trace: TraceAssessment, first: int, last: int) -> None:
        self.trace, self.evidence, self.first, self.last = trace, trace.evidence, first, last
        self.facts = self.evidence.facts[first - 1 : last]
        self.acted = [fact for fact in self.facts if fact.phase not in {"talk", "deliver"}]

    @property
    def final(self) -> ActionFacts:
        """The last action that did something."""
        return self.acted[-1]

    @property
    def breaks_off(self) -> bool:
        return self.last == len(self.evidence.facts) and self.evidence.ending.kind == "broken_off"

    @property
    def fails_last_check(self) -> bool:
        checks = self.evidence.checks_in(self.first, self.last)
        return bool(checks) and not checks[-1].has_passed

    @cached_property
    def changed(self) -> int:
        """The last action that changed a file; 0 if none did."""
        return next((fact.action for fact in reversed(self.facts) if not fact.has_failed and _changes(fact)), 0)

    @property
    def is_confirmed(self) -> bool:
        """Whether something shows or runs what was changed last."""
        later = self.evidence.facts[self.changed - 1 : self.last]
        return any(self.trace.confirms(fact, self.changed) for fact in later)

    @property
    def found_nothing(self) -> bool:
        output = self.evidence.output(self.final.action)
        return bool(self.final.result.reported_problem) or found_nothing(self.final, output)

    @property
    def fetched_nothing(self) -> bool:
        fetched = [fact for fact in self.acted if any("://" in address for address in fact.effects.network)]
        return bool(fetched) and all(fact.has_failed for fact in fetched)


SHOWN: tuple[tuple[bool, Callable[[_Range], bool]], ...] = (
    (False, lambda part: not part.acted or part.final.has_failed or part.breaks_off),
    (False, lambda part: part.fails_last_check),
    (False, lambda part: part.trace.gave_up_within(part.first, part.last, part.final.action)),
    (False, lambda part: part.trace.is_rejected_within(part.facts)),
    # The change was to fix a check that never ran again.
    (False, lambda part: part.trace.first_open_check < part.changed),
    # Later evidence shows what came of it.
    (True, lambda part: part.trace.is_complete),
    (True, lambda part: bool(part.changed) and part.is_confirmed),
    (False, lambda part: bool(part.changed)),
    # Only words say whether another agent found out what it was asked.
    (False, lambda part: any(fact.delegates_to for fact in part.facts)),
    # A program that was to find something out printed nothing.
    (False, lambda part: part.final.phase == "run" and part.final.result.is_empty),
    (False, lambda part: part.found_nothing),
    (False, lambda part: part.fetched_nothing),
    (True, lambda part: any(not fact.has_failed and part.trace.has_output(fact) for fact in part.acted)),
)
"""Whether a range of actions reached something: the first row that applies; no row means that it did not."""
