"""What the trace comes to: open and closed issues, attempts, what matters most. Every answer of the rules is a part
of this, put into the words of a question."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property

from dense.detectors.failed_actions import failed_deed
from dense.detectors.failed_checks import failed_checks, no_tests
from dense.detectors.failed_runs import doubted, failed_run
from dense.detectors.finding import Finding
from dense.detectors.hand_over import empty_handed, end, refused
from dense.detectors.missing_deliverables import unmet
from dense.detectors.rejected_messages import refused_messages
from dense.detectors.reverted_work import only_new, taken_away
from dense.detectors.services import unanswered
from dense.detectors.unfinished_plan import left_of_plan
from dense.detectors.unverified import unverified
from dense.detectors.weakened_tests import weakened
from dense.evidence.actions.check_commands import is_test_file
from dense.evidence.ending.done import is_shown_done
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import PROGRAM_ENDINGS, base_name, is_temporary, same_file
from dense.evidence.links.attempts import Attempt, attempts
from dense.evidence.trace import Case
from dense.trajectory import Step


class Analysis(Case):
    """What the rules make of one trajectory."""

    @cached_property
    def failed_checks(self) -> list[Finding]:
        """A failed check for each thing that was checked; the last failure of each counts."""
        return failed_checks(self)

    @cached_property
    def is_shown_done(self) -> bool:
        """Whether the trace itself shows that what was asked for is there."""
        return is_shown_done(self)

    @cached_property
    def attempts(self) -> list[Attempt]:
        """Stretches that failed and were recovered or given up."""
        unsettled = frozenset(f.opened for f in self.failed_checks if f.closed is None)
        return attempts(self.facts, self.history, unsettled, self.first_change, self.wrong)

    def changed_tests(self, failed: Sequence[int], recovery: int) -> list[str]:
        """The tests that were changed between a check that failed and its pass, where nothing else was and the attempt
        did not write them itself: then the pass says nothing about the product."""
        before = [action for action in failed if action < recovery and self.of(action).is_check]
        if not before or not self.of(recovery).is_check:
            return []
        between = self.facts[before[-1] : recovery - 1]
        written = [path for fact in between if not fact.has_failed for path in fact.effects.writes]
        written = [path for path in dict.fromkeys(written) if not is_temporary(path)]
        if not written or not all(map(is_test_file, written)) or any(f.effects.scripts for f in between):
            return []
        first = {name: action for action, name in self.changes}
        return written if all(first.get(base_name(path), 0) > before[-1] for path in written) else []

    def attempts_in(self, first: int, last: int) -> list[Attempt]:
        """The attempts that touch a stretch of actions. None overlaps another, so both ends are in order."""
        start = bisect_left(self._attempts_last, first)
        return self.attempts[start : bisect_right(self._attempts_first, last)]

    @cached_property
    def _attempts_first(self) -> list[int]:
        return [one.first for one in self.attempts]

    @cached_property
    def _attempts_last(self) -> list[int]:
        return [one.last for one in self.attempts]

    def findings_in(self, first: int, last: int) -> tuple[Finding, ...]:
        """The findings whose last evidence lies in a stretch of actions."""
        return self.findings[bisect_left(self._opened, first) : bisect_right(self._opened, last)]

    @cached_property
    def _opened(self) -> list[int]:
        """The actions that opened the findings."""
        return [one.opened for one in self.findings]

    def left_at(self, action: int) -> str:
        """What is open for good when an action hands over, in the words of its issue; empty for nothing."""
        kinds = {"failed_check", "failed_run", "failed_deed", "unanswered", "unmade", "taken_away", "unmet", "lost"}
        left = (f for f in self.findings if f.kind in kinds and f.is_serious and f.closed is None and f.opened < action)
        return next((one.text for one in left), "")

    @cached_property
    def closed(self) -> dict[str, int]:
        """The findings that a later action closed, by their words."""
        return {one.text: one.closed for one in self.findings if one.closed is not None}

    @cached_property
    def telling(self) -> list[int]:
        """The actions that matter most, in order: those that show a finding or its recovery, those that made what is
        still there, the check that passed last, the last looks at what the task asks for."""
        shown = [action for one in self.findings for action in (*one.evidence, one.closed) if action is not None]
        passed = [check.action for check in self.checks if check.has_passed]
        seen = [one.shown[-1] for one in self.tracked if one.is_shown and self._reads(one.shown[-1], one.subject)]
        return sorted({*shown, *self.products.values(), *passed[-1:], *seen})

    def _reads(self, action: int, path: str) -> bool:
        """Whether an action looks at a file with results, as against a program, or against only naming it."""
        return not path.endswith(PROGRAM_ENDINGS) and any(same_file(path, one) for one in self.of(action).effects.reads)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is open or was, in the order in which it shows."""
        found = [*self.failed_checks]
        if self.ending.kind != "continued":  # what is not there yet may be made where the trace goes on
            found += [*failed_run(self), *unmet(self), *doubted(self), *unanswered(self)]
            found += [*only_new(self), *taken_away(self, self.failed_checks)]
            found += [*refused_messages(self), *left_of_plan(self)]
        found += [*refused(self), *end(self), *empty_handed(self)]
        if self.ending.kind != "continued":
            found += [*unverified(self), *weakened(self), *no_tests(self)]
            found += failed_deed(self, found)
        return tuple(sorted(found, key=lambda one: one.opened))

    def is_shown_within(self, first: int, last: int) -> bool:
        """The same for a stretch: what it made was looked at or checked, what it tried last did not fail; one that
        made nothing found something out."""
        inside = self.facts[first - 1 : last]
        acted = [fact for fact in inside if fact.phase not in {"talk", "deliver"}]
        breaks_off = last == len(self.facts) and self.ending.kind == "broken_off"
        if not acted or acted[-1].has_failed or breaks_off:
            return False
        ran = self.checks_in(first, last)
        if ran and not ran[-1].has_passed:
            return False
        for one in self.attempts_in(first, last):
            is_inside = first <= one.first and one.last <= last
            if is_inside and (one.recovery is None or self.changed_tests(one.failed, one.recovery)):
                return False  # given up
        ran_last = next((fact.action for fact in reversed(inside) if fact.effects.scripts), None)
        if ran_last is not None and self.wrong(ran_last):
            return False
        if self.refused and bisect_left(self._refused_at, first) < bisect_right(self._refused_at, last):
            return False
        changed = next((fact.action for fact in reversed(inside) if not fact.has_failed and _changes(fact)), 0)
        if self.first_open_check < changed:
            return False  # what it changed was to mend that check, which nobody ran again
        if not changed:
            if any(fact.delegates_to for fact in inside):
                return False  # what an agent was told to find out is asked in words, and only words say that it did
            if acted[-1].phase == "run" and acted[-1].result.is_empty:
                return False  # a program that was to find something out, and gave nothing
            return any(not fact.has_failed and _has_told(self.step(fact.action)) for fact in acted)
        return any(
            (not fact.has_failed and (fact.is_check or fact.effects.scripts)) or self._reads_back(fact, changed)
            for fact in self.facts[changed - 1 : last]
        )

    @cached_property
    def _refused_at(self) -> list[int]:
        return [one.action for one in self.refused]

    def _reads_back(self, fact: ActionFacts, changed: int) -> bool:
        """Whether an action shows what was made by a change or since, and that is no guess."""
        made = self.history.reads_back(fact.action)
        if made is None or made < changed:
            return False
        return not self.origins.is_guess(program_output(fact, self.step(fact.action)), made)

    @cached_property
    def first_open_check(self) -> int:
        """The first action with a check that counts and never passed since; beyond the end for none."""
        found = [one.opened for one in self.failed_checks if one.is_serious and one.closed is None]
        return min(found, default=len(self.facts) + 1)


def _changes(fact: ActionFacts) -> bool:
    return bool(fact.effects.writes or fact.effects.deletes)


def _has_told(step: Step) -> bool:
    """Whether a tool gave something back: what a harness says about who is next is nothing."""
    return any(answer.origin == "tool" and answer.text.strip() for answer in step.observations)
