"""The whole trace, looked at once: facts, requirements, checks, findings, attempts. Every answer of the rules is a part
of this, put into the words of a question."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

from dense.actions import EffectsOf, Remembered, commands
from dense.analyst.rules.attempts import Attempt, attempts
from dense.analyst.rules.candidates import candidates
from dense.analyst.rules.checks import Check, checks, is_static, takes_back
from dense.analyst.rules.ending import Ending, ending
from dense.analyst.rules.facts import Facts, all_facts, same_file
from dense.analyst.rules.files import base_name, is_passing
from dense.analyst.rules.findings import Finding
from dense.analyst.rules.handovers import prints_work
from dense.analyst.rules.outputs import output
from dense.analyst.rules.phrases import LONGEST_DEED, did, one_line, saw
from dense.analyst.rules.sequence import History
from dense.analyst.rules.subagents import with_subagents
from dense.analyst.rules.submission import Submission, submission
from dense.analyst.rules.tracking import Tracked, track
from dense.observations import seen
from dense.requirements import requirements
from dense.trajectory import Step, Trajectory

TRIES = 3
"""How many tries an issue tells."""
MOST_SUBJECTS = 50
"""How many different things that one runner checked are kept in mind."""
PRODUCTS = 5
"""How many names an issue lists."""


class Analysis:
    """What the rules know of one trajectory."""

    def __init__(self, trajectory: Trajectory, effects: EffectsOf) -> None:
        self.task = trajectory.task
        self.steps = trajectory.steps
        self.requirements = requirements(trajectory.task)
        # One look after the other over all steps, not one step after the other: what a look needs stays in the caches.
        steps = trajectory.steps
        if isinstance(effects, Remembered):
            effects.look_at(steps)
        done = [with_subagents(step, effects(step)) if step.subagents else effects(step) for step in steps]
        texts = [effects.commands(step) if isinstance(effects, Remembered) else commands(step) for step in steps]
        came = [seen(*one) for one in zip(steps, done, texts, strict=True)]
        self.facts = all_facts(steps, done, came, texts)
        self.history = History(self.facts)

    def of(self, action: int) -> Facts:
        """What is known of an action, by its number."""
        return self.facts[action - 1]

    def step(self, action: int) -> Step:
        return self.steps[action - 1]

    def did(self, action: int, limit: int = LONGEST_DEED) -> str:
        """What an action did, in a few words."""
        return did(self.of(action), self.step(action), limit)

    def saw(self, action: int) -> str:
        """What came back, in a few words."""
        return saw(self.of(action), self.step(action))

    @cached_property
    def attempts(self) -> list[Attempt]:
        """Stretches that failed and were recovered or given up."""
        unsettled = frozenset(f.opened for f in self._failed_checks if f.closed is None)
        return attempts(self.facts, self.history, unsettled, self.first_change)

    def attempts_in(self, first: int, last: int) -> list[Attempt]:
        """The attempts that touch a stretch of actions. None overlaps another, so both ends are in order."""
        start = bisect_left(self.attempts, first, key=lambda one: one.last)
        return self.attempts[start : bisect_right(self.attempts, last, key=lambda one: one.first)]

    def checks_in(self, first: int, last: int) -> list[Check]:
        """The checks that ran in a stretch of actions."""
        start = bisect_left(self.checks, first, key=lambda one: one.action)
        return self.checks[start : bisect_right(self.checks, last, key=lambda one: one.action)]

    def findings_in(self, first: int, last: int) -> tuple[Finding, ...]:
        """The findings whose last evidence lies in a stretch of actions."""
        start = bisect_left(self.findings, first, key=lambda one: one.opened)
        return self.findings[start : bisect_right(self.findings, last, key=lambda one: one.opened)]

    def left_at(self, action: int) -> str:
        """What is open for good when an action hands over, in the words of its issue; empty for nothing."""
        kinds = {"failed_check", "failed_run", "unmet", "lost"}
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
        return not path.endswith(CODE) and any(same_file(path, one) for one in self.of(action).effects.reads)

    @cached_property
    def checks(self) -> list[Check]:
        """All tests and checks."""
        return checks(self.facts, self.steps, self.named_checks)

    @cached_property
    def named_checks(self) -> list[str]:
        """Commands that the task names: their result is the task's own word."""
        named = [one.subject for one in self.requirements if one.kind == "command" and one.role != "forbidden"]
        return [command for command in named if _is_check(command)]

    @cached_property
    def wanted(self) -> list[str]:
        """The files that the task asks for, by path."""
        return [one.subject for one in self.requirements if one.kind == "file" and one.role == "deliverable"]

    @cached_property
    def tracked(self) -> list[Tracked]:
        """The files that the task asks for."""
        return track(self.requirements, self.facts, self.steps)

    @cached_property
    def ending(self) -> Ending:
        """How it ends."""
        return ending(self.facts, self.steps)

    @cached_property
    def products(self) -> dict[str, int]:
        """Files that were made or changed and are still there, with the action that last did so."""
        by_name: dict[str, dict[str, int]] = {}
        for fact in self.facts:
            effects = fact.effects
            for gone in effects.deletes + effects.undoes if effects.undoes else effects.deletes:
                known = by_name.get(base_name(gone), {})
                for path in [path for path in known if same_file(path, gone)]:
                    del known[path]
            if not fact.has_failed:
                for path in fact.effects.writes:
                    if not is_passing(path) and path not in fact.effects.undoes:
                        by_name.setdefault(base_name(path), {})[path] = fact.action
        return {path: action for known in by_name.values() for path, action in known.items()}

    @cached_property
    def submission(self) -> Submission | None:
        """What is handed in at the end, where the trace shows it."""
        named = [one.subject for one in self.requirements if one.kind == "file" and one.role != "forbidden"]
        return submission(self.facts, self.steps, named)

    def stays(self, path: str) -> bool:
        """Whether a file that was changed is, with its change, among what is there at the end."""
        if self.submission is not None and self.submission.is_whole:
            return self.submission.holds(path)
        return not self.history.is_gone(path)

    @cached_property
    def last_change(self) -> int:
        """The last action that changed something that is still there; 0 for none."""
        return max(self.products.values(), default=0)

    @cached_property
    def first_change(self) -> int:
        """The first action that wrote anything that counts; one beyond the end for none."""
        writing = (f.action for f in self.facts if any(not is_passing(path) for path in f.effects.writes))
        return next(writing, len(self.facts) + 1)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is open or was, in the order in which it shows."""
        found = [*self._failed_checks, *self._failed_run(), *self._unmet(), *self._refused(), *self._end()]
        found += self._empty_handed()
        found += self._unverified()
        return tuple(sorted(found, key=lambda one: one.opened))

    @cached_property
    def is_shown_done(self) -> bool:
        """Whether the trace itself shows that what was asked for is there: every file of it was seen after it was
        made, or a check passed after the last change."""
        passed = [check for check in self.checks if check.has_passed]
        own = [check for check in passed if self._is_tasks_own(check)]
        if self.named_checks and not any(name in check.command for check in own for name in self.named_checks):
            return False
        if not self.named_checks and any(o.kind == "threshold" and o.role == "deliverable" for o in self.requirements):
            return False  # a limit that nobody checks for us
        if self.tracked:
            return all(one.is_shown and not one.is_missing for one in self.tracked)
        return bool(own) and own[-1].action > self.last_change > 0

    def _is_tasks_own(self, check: Check) -> bool:
        """Whether the task itself speaks of a check. What an agent thought of to check its work shows that the agent
        is content, not that the task is done."""
        if any(name in check.command for name in self.named_checks):
            return True
        tests = [base_name(one.subject) for one in self.requirements if one.kind == "file"]
        tests = [name for name in tests if any(word in name.lower() for word in ("test", "check", "spec"))]
        return any(name in check.command or not check.subjects for name in tests)

    def is_shown_within(self, first: int, last: int) -> bool:
        """The same for a stretch: what it made was looked at or checked, what it tried last did not fail; one that
        made nothing found something out."""
        inside = self.facts[first - 1 : last]
        changed = [
            fact.action for fact in inside if not fact.has_failed and (fact.effects.writes or fact.effects.deletes)
        ]
        acted = [fact for fact in inside if fact.phase not in {"talk", "deliver"}]
        given_up = any(
            one.recovery is None and first <= one.first and one.last <= last for one in self.attempts_in(first, last)
        )
        breaks_off = self.ending.kind == "broken_off" and last == len(self.facts)
        if not acted or acted[-1].has_failed or given_up or breaks_off:
            return False
        ran = self.checks_in(first, last)
        if ran and not ran[-1].has_passed:
            return False
        if changed and self._first_open_check < changed[-1]:
            return False  # what it changed was to mend that check, which nobody ran again
        if not changed:
            if any(fact.hands_to for fact in inside):
                return False  # what an agent was told to find out is asked in words, and only words say that it did
            return any(not fact.has_failed and _has_told(self.step(fact.action)) for fact in acted)
        return any(
            (fact.action >= changed[-1] and not fact.has_failed and (fact.is_check or fact.effects.scripts))
            or ((reads := self.history.reads_back(fact.action)) is not None and reads >= changed[-1])
            for fact in inside
        )

    @cached_property
    def _failed_checks(self) -> list[Finding]:
        """A failed check for each thing that was checked; the last failure of each counts."""
        found: dict[str, Finding] = {}
        passed: dict[str, dict[frozenset[str], Check]] = {}
        for check in reversed(self.checks):
            later = passed.setdefault(check.runner, {})
            key = f"{check.runner} {sorted(check.subjects)}"
            if check.has_passed:
                later.pop(check.subjects, None)
                later[check.subjects] = check
                if len(later) > MOST_SUBJECTS:
                    del later[next(iter(later))]
            elif check.has_passed is False and key not in found:
                closing = min((other.action for other in later.values() if takes_back(other, check)), default=None)
                found[key] = self._failed_check(check, closing)
        return list(found.values())

    @cached_property
    def _first_open_check(self) -> int:
        """The first action with a check that counts and never passed since; beyond the end for none."""
        found = [one.opened for one in self._failed_checks if one.is_serious and one.closed is None]
        return min(found, default=len(self.facts) + 1)

    @cached_property
    def _baseline(self) -> list[Check]:
        """Checks that ran before anything was changed, the first ones."""
        return [check for check in self.checks[:MOST_SUBJECTS] if check.action < self.first_change]

    def _failed_check(self, check: Check, closing: int | None) -> Finding:
        is_named = any(name in check.command or check.command in name for name in self.named_checks)
        before = check.action < self.first_change
        baseline = [c for c in self._baseline if c.action < check.action and not before and _is_same(c, check)]
        as_before = any(c.has_passed is False and c.failed >= check.failed for c in baseline)
        text = f"`{one_line(check.command, 100)}` failed at a{check.action}: {quoted(check.line)}"
        if check.names:
            text += f" ({', '.join(f'`{one_line(name, 60)}`' for name in check.names[:PRODUCTS])})"
        changed = self.last_change > check.action
        text += _since(closing, before=before, changed=changed, as_before=as_before)
        if is_named and closing is None:
            text += " The task itself names this check."
        is_serious = is_named or not (before or as_before or is_static(check))
        return Finding("failed_check", text, (check.action,), closing, is_serious)

    def _failed_run(self) -> list[Finding]:
        """The last program that ran, if it failed: nothing after it shows that its fault is gone."""
        ran = [f for f in self.facts if f.phase in {"run", "verify"} and (f.effects.scripts or f.effects.runs)]
        if not ran or not ran[-1].has_failed or any(c.action == ran[-1].action for c in self.checks):
            return []
        last = ran[-1]
        families = [failure.family for failure in last.seen.failures]
        if not families or families[-1] not in WRONG or not LACKS.isdisjoint(families):
            return []
        if last.action < self.first_change:
            return []
        text = f"At a{last.action} the last program that ran failed ({self.did(last.action)}): {self.saw(last.action)}"
        text += ". Nothing ran since that shows the fault gone."
        return [Finding("failed_run", text, (last.action,))]

    def _unmet(self) -> list[Finding]:
        found: list[Finding] = []
        for one in self.tracked:
            if one.removed is not None:
                text = f"The task asks for `{one.subject}`; it was removed at a{one.removed} and not made again."
                found.append(Finding("lost", text, (one.removed,), is_fatal=True))
            elif one.is_missing:
                found.append(self._missing(one))
        return found

    def _missing(self, one: Tracked) -> Finding:
        text = f"The task asks for `{one.subject}`, and no action made it."
        evidence = [*one.tried[-TRIES:], *one.missed[-1:]]
        if one.tried:
            tries = [
                f"a{n} {did(self.of(n), self.step(n), 70)}: {saw(self.of(n), self.step(n))}" for n in one.tried[-TRIES:]
            ]
            text += f" Tried without success: {'; '.join(tries)}."
        if fitting := candidates(self.task, self.requirements, self.steps):
            best = fitting[0]
            text += f" What fits the task was already seen at a{best.action}: `{one_line(best.text, 200)}`."
            text += " What is left is to write it there."
            evidence.append(best.action)
        return Finding("unmet", text, tuple(sorted(set(evidence))) or (len(self.facts),), is_tried=bool(one.tried))

    def _refused(self) -> list[Finding]:
        """A hand-over that was not taken: whoever took it says so, and no later one was."""
        handed = [fact for fact in self.facts if fact.phase == "deliver"]
        asking = [fact for fact in handed if not prints_work(fact)]
        refused = [(fact, line) for fact in asking if (line := _refusal(self.step(fact.action)))]
        if not refused:
            return []
        last, line = refused[-1]
        later = next((fact.action for fact in handed if fact.action > last.action), None)
        text = f"What was handed over at a{last.action} was not taken: {quoted(line)}"
        return [Finding("refused", text, (last.action,), later)]

    def _empty_handed(self) -> list[Finding]:
        """A hand-over that was to print the work, and printed nothing: nothing was handed in."""
        last = self.facts[-1]
        if (
            last.phase != "deliver"
            or not prints_work(last)
            or last.has_failed
            or not self.step(last.action).observations
        ):
            return []
        if output(last, self.step(last.action)).strip():
            return []
        text = f"What was handed in at a{last.action} is empty: `{one_line(last.commands[-1], 100)}` printed nothing."
        committed = [fact.action for fact in self.facts if fact.family == "git commit" and not fact.has_failed]
        evidence = [last.action]
        if committed:
            text += f" The changes were committed at a{committed[-1]}, and such a diff shows only what is not."
            evidence.insert(0, committed[-1])
        elif not self.products:
            text += " No change is left that it could show."
        return [Finding("empty", text, tuple(evidence))]

    def _end(self) -> list[Finding]:
        end = self.ending
        if end.kind == "broken_off":
            text = f"The attempt breaks off at a{end.action} without a hand-over. "
            text += f"The last action {self.did(end.action)}."
            text += f" It ended with {quoted(end.words)}." if end.words else ""
            return [Finding("broken_off", text, (end.action,), is_serious=not self.is_shown_done)]
        if end.kind == "given_up":
            return [
                Finding("admitted", f"The agent itself says that it is not done: {quoted(end.words)}", (end.action,))
            ]
        return []

    def _unverified(self) -> list[Finding]:
        """A program that the task asks for, that was changed last, and nothing ran it or looked at it since. What else
        nobody looked at is told in the summary of its part."""
        names = [path for path, action in self.products.items() if action == self.last_change][:PRODUCTS]
        if not any(path.endswith(CODE) and any(same_file(path, one) for one in self.wanted) for path in names):
            return []
        if NOT_TO_RUN.search(self.task.instruction if self.task is not None else ""):
            return []
        if any(self._looks_at_products(f) for f in self.facts[self.last_change - 1 :]):
            return []
        text = f"{', '.join(f'`{one_line(name, 80)}`' for name in names)} changed at a{self.last_change}"
        text += ", and nothing ran it or looked at it since."
        return [Finding("unverified", text, (self.last_change,), is_serious=False)]

    def _looks_at_products(self, fact: Facts) -> bool:
        if fact.effects.tests or fact.effects.scripts or fact.family in STORING:
            return True
        if fact.action == self.last_change:
            return False
        if fact.phase == "run" or fact.family in {"git diff", "git show"}:
            return True
        if any(base_name(path) in self._product_names for path in fact.effects.reads):
            return True
        return (
            fact.phase in {"explore", "verify"}
            and any(  # a listing in which it stands
                name in answer.text[:LONGEST_LISTING]
                for answer in self.step(fact.action).observations
                for name in self._product_names
            )
        )

    @cached_property
    def _product_names(self) -> frozenset[str]:
        return frozenset(map(base_name, self.products))


CODE = (".py", ".js", ".ts", ".c", ".cpp", ".go", ".rs", ".java", ".rb", ".sh", ".php", ".cs", ".pl", ".r", ".jl")
"""Ends of the names of programs."""
STORING = frozenset({"git add", "git commit", "git push"})
LONGEST_LISTING = 20_000
NOT_TO_RUN = re.compile(
    r"\b(?:no need to|(?:do|need|should)(?: not|n't)(?: need to)?|without|never) (?:run|execut|test|start)", re.I
)
"""Words of a task that wants something written and not run. Hints only."""
REFUSED = re.compile(r"\b(?:in|not )correct\b|\bwrong\b|\brejected\b|\bnot accepted\b|\btry again\b", re.IGNORECASE)
"""Words of whoever does not take what was handed over. Hints only."""
REFUSING = ("correct", "wrong", "reject", "not accept", "try again")
"""Without one of these there is none of them."""
LOOKS = frozenset("curl wget nc ping ssh cat ls cd git echo pip npm docker".split())
"""Commands that a task names for other reasons than to check by them."""
LACKS = frozenset({"no_such_module", "no_such_command"})
"""Families that say that something is missing around a program."""
WRONG = frozenset(
    {"syntax", "assertion", "exception", "build", "no_such_module", "out_of_memory", "killed", "time_out"}
)
"""Families of errors that say that a program is wrong, and not only the way in which it was called."""


def _is_check(command: str) -> bool:
    """Whether a command that the task names can be what it is checked by: it runs something of its own."""
    words = command.split()
    return len(words) > 1 and base_name(words[0]) not in LOOKS and words[1] not in {"-", "-c", "-e"}


def _has_told(step: Step) -> bool:
    """Whether a tool gave something back: what a harness says about who is next is nothing."""
    return any(answer.origin == "tool" and answer.text.strip() for answer in step.observations)


def _refusal(step: Step) -> str:
    """The line in which a hand-over is refused."""
    for answer in step.observations:
        head = answer.text[:2000]
        if "diff --git " in head or not any(map(head.lower().__contains__, REFUSING)):
            continue
        if found := REFUSED.search(head):
            start, end = answer.text.rfind("\n", 0, found.start()) + 1, answer.text.find("\n", found.end())
            return answer.text[start : end if end >= 0 else None].strip()
    return ""


def quoted(text: str) -> str:
    """A line of the trace within a sentence."""
    return f"`{one_line(text, 200)}`"


def _is_same(one: Check, other: Check) -> bool:
    return one.runner == other.runner and (one.subjects == other.subjects or bool(one.subjects & other.subjects))


def _since(closing: int | None, *, before: bool, changed: bool, as_before: bool) -> str:
    if closing is not None:
        return "."
    if as_before:
        return ". It failed in the same way before anything was changed."
    if before:
        return ". That was before anything was changed; it was not run again."
    return ". Files changed since, and it was not run again." if changed else ". Nothing was changed since."
