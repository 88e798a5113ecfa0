"""The whole trace, looked at once: facts, requirements, checks, findings, attempts. Every answer of the rules is a part
of this, put into the words of a question."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property

from dense.actions import EffectsOf, Remembered, commands
from dense.actions.tests import is_test_file
from dense.analyst.rules.attempts import Attempt, attempts
from dense.analyst.rules.candidates import candidates
from dense.analyst.rules.checks import Check, checks, is_static
from dense.analyst.rules.ending import Ending, ending
from dense.analyst.rules.facts import Facts, all_facts, same_file
from dense.analyst.rules.families import LOOKERS
from dense.analyst.rules.files import base_name, is_passing, is_trial
from dense.analyst.rules.findings import Finding
from dense.analyst.rules.handovers import prints_work
from dense.analyst.rules.origins import Origins
from dense.analyst.rules.outputs import output
from dense.analyst.rules.phrases import LONGEST_DEED, did, one_line, saw
from dense.analyst.rules.refusals import Refusal, handed_in, refusals, refused_told
from dense.analyst.rules.reruns import Reruns
from dense.analyst.rules.sequence import History
from dense.analyst.rules.subagents import with_subagents
from dense.analyst.rules.submission import Submission, submission
from dense.analyst.rules.taken_back import taken_back
from dense.analyst.rules.tracking import Tracked, may_be_made, track
from dense.analyst.rules.verdicts import excuse, is_meant, is_raised_in, wrong
from dense.observations import seen
from dense.observations.setting import last_program
from dense.redact.words import searching
from dense.requirements import requirements
from dense.trajectory import Step, Trajectory

TRIES = 3
"""How many tries an issue tells."""
MOST_CHECKS = 50
"""How many checks from before the first change are kept in mind."""
SOON = 2
"""So many actions after a failed check, the agent may say what it thinks of it."""
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
        return attempts(self.facts, self.history, unsettled, self.first_change, self.wrong)

    def wrong(self, action: int) -> str:
        """What the agent said right after an action of what came back, if that is wrong; empty for nothing."""
        if action >= len(self.steps):
            return ""
        before, after = self.step(action), self.steps[action]
        return wrong(after.message) if before.agent == after.agent else ""

    def changed_tests(self, failed: Sequence[int], recovery: int) -> list[str]:
        """The tests that were changed between a check that failed and its pass, where nothing else was and the attempt
        did not write them itself: then the pass says nothing about the product."""
        before = [action for action in failed if action < recovery and self.of(action).is_check]
        if not before or not self.of(recovery).is_check:
            return []
        between = self.facts[before[-1] : recovery - 1]
        written = [path for fact in between if not fact.has_failed for path in fact.effects.writes]
        written = [path for path in dict.fromkeys(written) if not is_passing(path)]
        if not written or not all(map(is_test_file, written)) or any(f.effects.scripts for f in between):
            return []
        first = {name: action for action, name in self._changes}
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

    def checks_in(self, first: int, last: int) -> list[Check]:
        """The checks that ran in a stretch of actions."""
        return self.checks[bisect_left(self._checked, first) : bisect_right(self._checked, last)]

    @cached_property
    def _checked(self) -> list[int]:
        """The actions of the checks."""
        return [one.action for one in self.checks]

    def findings_in(self, first: int, last: int) -> tuple[Finding, ...]:
        """The findings whose last evidence lies in a stretch of actions."""
        return self.findings[bisect_left(self._opened, first) : bisect_right(self._opened, last)]

    @cached_property
    def _opened(self) -> list[int]:
        """The actions that opened the findings."""
        return [one.opened for one in self.findings]

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
    def _changing(self) -> list[Facts]:
        """The actions that write or remove something, or were to."""
        return [fact for fact in self.facts if _changes(fact)]

    @cached_property
    def products(self) -> dict[str, int]:
        """Files that were made or changed and are still there, with the action that last did so."""
        by_name: dict[str, dict[str, int]] = {}
        for fact in self._changing:
            effects = fact.effects
            for gone in effects.deletes + effects.undoes if effects.undoes else effects.deletes:
                known = by_name.get(base_name(gone), {})
                for path in [path for path in known if same_file(path, gone)]:
                    del known[path]
            if not fact.has_failed:
                for path in effects.writes:
                    if not is_passing(path) and path not in effects.undoes:
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
        return next((action for action, _ in self._changes), len(self.facts) + 1)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is open or was, in the order in which it shows."""
        found = [*self._failed_checks]
        if self.ending.kind != "continued":  # what is not there yet may be made where the trace goes on
            found += [*self._failed_run(), *self._unmet(), *self._doubted()]
        found += [*self._refused(), *self._end(), *self._empty_handed()]
        if self.ending.kind != "continued":
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
        is_checked = bool(own) and own[-1].action > self.last_change > 0
        if self.tracked:
            is_seen = all(one.is_shown and not one.is_missing for one in self.tracked)
            return is_seen and (is_checked or all(map(self._is_new, self.tracked)))
        return is_checked

    def _is_new(self, one: Tracked) -> bool:
        """Whether to have seen a file shows something: it was not there before, and holds no guess of the agent's."""
        if one.is_old:
            return False
        seen = output(self.of(one.shown[-1]), self.step(one.shown[-1]))
        return not (one.made and self.origins.is_guess(seen, one.made[-1]))

    @cached_property
    def origins(self) -> Origins:
        """Where values come from."""
        return Origins(self.steps, self.task)

    def _is_tasks_own(self, check: Check) -> bool:
        """Whether the task itself speaks of a check. What an agent thought of to check its work shows that the agent
        is content, not that the task is done; nor does a test that the agent wrote, or changed so that it passes."""
        tests = self._named_tests
        is_named = any(name in check.command for name in self.named_checks)
        if not is_named and not any(name in check.command or not check.subjects for name in tests):
            return False
        checked = check.subjects or {name.removesuffix(".py") for name in tests}
        programs = {name.removesuffix(".py") for name in map(base_name, self.wanted) if not _is_test(name)}
        return self._written.isdisjoint(checked - programs)

    @cached_property
    def _named_tests(self) -> list[str]:
        """The base names of the tests that the task names."""
        names = [base_name(one.subject) for one in self.requirements if one.kind == "file"]
        return list(filter(_is_test, names))

    @cached_property
    def _written(self) -> frozenset[str]:
        """The base names of all that was ever written, as checks name them."""
        return frozenset(base_name(path).removesuffix(".py") for fact in self._changing for path in fact.effects.writes)

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
        if any(first <= one.action <= last for one in self.refused):
            return False
        changed = next((fact.action for fact in reversed(inside) if not fact.has_failed and _changes(fact)), 0)
        if self._first_open_check < changed:
            return False  # what it changed was to mend that check, which nobody ran again
        if not changed:
            if any(fact.hands_to for fact in inside):
                return False  # what an agent was told to find out is asked in words, and only words say that it did
            return any(not fact.has_failed and _has_told(self.step(fact.action)) for fact in acted)
        return any(
            (not fact.has_failed and (fact.is_check or fact.effects.scripts)) or self._reads_back(fact, changed)
            for fact in self.facts[changed - 1 : last]
        )

    def _reads_back(self, fact: Facts, changed: int) -> bool:
        """Whether an action shows what was made by a change or since, and that is no guess."""
        made = self.history.reads_back(fact.action)
        if made is None or made < changed:
            return False
        return not self.origins.is_guess(output(fact, self.step(fact.action)), made)

    @cached_property
    def _failed_checks(self) -> list[Finding]:
        """A failed check for each thing that was checked; the last failure of each counts."""
        found: dict[str, Finding] = {}
        later = Reruns()
        for check in reversed(self.checks):
            taken = self._taken_back.get((check.action, check.command))
            if taken or (taken is not None and check.has_passed is False):
                continue  # it tells of how things were before the changes
            if check.has_passed is not False:
                later.note(check)
            elif (key := f"{check.runner} {sorted(check.subjects)}") not in found:
                found[key] = self._failed_check(check, later)
        return list(found.values())

    @cached_property
    def _taken_back(self) -> dict[tuple[int, str], bool]:
        """The checks that ran while the changes were taken back, and whether the changes came back after it."""
        if all(check.has_passed is not False for check in self.checks):
            return {}
        return taken_back(self.facts, self.checks)

    @cached_property
    def _first_open_check(self) -> int:
        """The first action with a check that counts and never passed since; beyond the end for none."""
        found = [one.opened for one in self._failed_checks if one.is_serious and one.closed is None]
        return min(found, default=len(self.facts) + 1)

    @cached_property
    def _baseline(self) -> list[Check]:
        """Checks that ran before anything was changed, the first ones; and those that ran while changes were taken
        back."""
        first = [check for check in self.checks[:MOST_CHECKS] if check.action < self.first_change]
        return first + [check for check in self.checks if (check.action, check.command) in self._taken_back]

    def _failed_check(self, check: Check, later: Reruns) -> Finding:
        closing = later.closing(check)
        text = f"`{one_line(check.command, 100)}` failed at a{check.action}: {quoted(check.line)}"
        if check.names:
            text += f" ({', '.join(f'`{one_line(name, 60)}`' for name in check.names[:PRODUCTS])})"
        is_named = any(name in check.command or check.command in name for name in self.named_checks)
        text += "."
        if closing is not None:
            is_serious = is_named or not (is_static(check) or check.action < self._first_change_for(check))
            return Finding("failed_check", text, (check.action,), closing, is_serious)
        since = self._unblamed(check, later)
        if since:
            text += f" {since}"
        elif shown := next((c for c in self._baseline if c.action > check.action and _is_passed(c, check)), None):
            text += f" With the changes taken back it passed at a{shown.action}."
        else:
            changed = self.last_change > check.action
            text += " Files changed since, and it was not run again." if changed else " Nothing was changed since."
        if is_named:
            text += " The task itself names this check."
        return Finding("failed_check", text, (check.action,), None, is_named or not (since or is_static(check)))

    def _unblamed(self, check: Check, later: Reruns) -> str:
        """Why a check that failed and did not pass since may well say nothing about what was changed; empty where
        nothing speaks for that."""
        if check.action < self._first_change_for(check):
            return "That was before anything was changed; it was not run again."
        for one in self._baseline:
            if one.has_passed is False and one.failed >= check.failed and _is_same(one, check):
                if (one.action, one.command) in self._taken_back:
                    return f"It failed in the same way at a{one.action}, with the changes taken back."
                if one.action < check.action:
                    return "It failed in the same way before anything was changed."
        if (unseen := later.unseen(check)) is not None:
            return f"It ran again at a{unseen.action}, and how that ended is not to be seen."
        if (part := later.part(check)) is not None:
            command = f"`{one_line(part.command, 100)}`"
            return f"At a{part.action} {command} passed, which is a part of it; all of it did not run again."
        if gone := self._is_dropped(check):
            return gone
        after = self.steps[check.action : check.action + SOON]
        words = next((words for step in after if (words := excuse(step.message or step.reasoning))), "")
        return f"The agent says of it: {quoted(words)}; nothing shows that." if words else ""

    def _first_change_for(self, check: Check) -> int:
        """The first change as a check sees it: that it was written itself is none, unless the task asks for it."""
        if check.action < self.first_change or not check.scope.paths:
            return self.first_change
        own = {base_name(path) for path in check.scope.paths} - {base_name(path) for path in self.wanted}
        return next((action for action, name in self._changes if name not in own), len(self.facts) + 1)

    @cached_property
    def _changes(self) -> list[tuple[int, str]]:
        """The files that were written, by base name, each with the first action that did, in order. Without what does
        not stay, and without tests and the like of the agent's own that it removed again."""
        first: dict[str, int] = {}
        for fact in self._changing:
            for path in fact.effects.writes:
                if not is_passing(path):
                    first.setdefault(base_name(path), fact.action)
        stays = self._product_names
        return [(action, name) for name, action in first.items() if name in stays or not is_trial(name)]

    def _is_dropped(self, check: Check) -> str:
        """That the files of a check are the agent's own, and it removed or changed them since, in words."""
        files = [base_name(path) for path in check.scope.paths if path not in check.scope.folders]
        told = ""
        for name in files:
            if not any(base_name(path) == name for fact in self.facts[: check.action] for path in fact.effects.writes):
                return ""
            since = self.facts[check.action :]
            gone = next((f.action for f in since if name in map(base_name, f.effects.deletes)), None)
            anew = next((f.action for f in since if name in map(base_name, f.effects.writes)), None)
            if gone is None and anew is None:
                return ""
            told = f"`{one_line(name, 60)}` is the attempt's own, and "
            told += f"was removed at a{gone}." if gone is not None else f"was changed at a{anew}; it did not run again."
        return told

    def _failed_run(self) -> list[Finding]:
        """The last program that ran, if it failed: nothing after it shows that its fault is gone."""
        ran = [f for f in self.facts if f.phase in {"run", "verify"} and (f.effects.scripts or f.effects.runs)]
        if not ran or not ran[-1].has_failed or any(c.action == ran[-1].action for c in self.checks):
            return []
        last = ran[-1]
        families = [failure.family for failure in last.seen.failures]
        if not families or families[-1] not in WRONG or not LACKS.isdisjoint(families):
            return []
        if last.action < self.first_change or self._is_meant(last):
            return []
        text = f"At a{last.action} the last program that ran failed ({self.did(last.action)}): {self.saw(last.action)}"
        text += ". Nothing ran since that shows the fault gone."
        return [Finding("failed_run", text, (last.action,))]

    def _doubted(self) -> list[Finding]:
        """What the last program gave, where the agent itself calls it wrong and ran nothing since."""
        last = next((f for f in reversed(self.facts) if f.effects.scripts or f.effects.tests), None)
        if last is None or last.has_failed or last.action < self.first_change:
            return []
        if not (words := self.wrong(last.action)):
            return []
        text = f"What ran last, at a{last.action} ({self.did(last.action)}), gave {self.saw(last.action)}."
        text += f" The agent says of it: {quoted(words)}"
        text += " Files changed since, and nothing ran." if self.last_change > last.action else ""
        return [Finding("doubted", text, (last.action,), is_serious=False)]

    def _is_meant(self, run: Facts) -> bool:
        """Whether a program's failure may be what was wanted, or no failure of the program's: the agent itself stopped
        it, it ended well all the same, the agent or the task says that it is to fail, or what failed was changed since
        and the agent went on without it."""
        text = "\n".join(run.commands)
        failure = run.seen.failures[-1]
        if failure.family in STOPPED and any(word in text for word in STOPPING):
            return True
        if run.seen.exit_code == 0 and last_program(text) not in LOOKERS:
            return True
        around = self.steps[run.action - 1 : run.action + 1]
        if any(is_meant(step.message) or is_meant(step.reasoning) for step in around):
            return True
        name = failure.line.partition(":")[0].rpartition(".")[2].strip()
        if self.task is not None and name.isidentifier() and is_raised_in(self.task.instruction, name):
            return True
        told = "\n".join(seen.text[-FRAMES:] for seen in self.step(run.action).observations)
        since = (path for path, action in self.products.items() if action > run.action)
        return any(path in run.effects.scripts or f'{base_name(path)}"' in told for path in since)

    def _unmet(self) -> list[Finding]:
        found: list[Finding] = []
        for one in self.tracked:
            if one.removed is not None:
                text = f"The task asks for `{one.subject}`; it was removed at a{one.removed} and not made again."
                found.append(Finding("lost", text, (one.removed,), is_fatal=True))
            elif one.is_missing and not may_be_made(one, self.facts, self.steps):
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
        """Answers that were not taken: whoever took them says so. Another answer closes it, the same again does not."""
        refused = self.refused
        if not refused:
            return []
        last = refused[-1]
        text = f"What was handed in was not taken: {refused_told(refused)}: {quoted(last.line)}"
        evidence = [one.action for one in refused]
        later = [fact for fact in self.facts[last.action :] if fact.phase == "deliver"]
        if not later:
            return [Finding("refused", text, tuple(evidence))]
        known = {one.answer for one in refused if one.answer}
        again = handed_in(later[-1], self.step(later[-1].action))
        if again not in known:
            return [Finding("refused", text, tuple(evidence), later[-1].action)]
        text += f". At a{later[-1].action} {quoted(again)} was handed in again."
        return [Finding("refused", text, (*evidence, later[-1].action))]

    @cached_property
    def refused(self) -> list[Refusal]:
        """Answers that were handed in and not taken."""
        return refusals(self.facts, self.steps)

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
        if end.kind == "given_up":
            return [
                Finding("admitted", f"The agent itself says that it is not done: {quoted(end.words)}", (end.action,))
            ]
        if end.kind != "broken_off" or self._ends_well(end):
            return []
        why = f" It ended with {quoted(end.words)}." if end.words else ""
        if end.answer:
            why += f" The answer {quoted(end.answer)} was drawn from what there was by then; nothing had confirmed it."
        if end.ledger is not None:
            text = f"The run ended at a{end.action}, and its lead did not hold the request to be satisfied"
            text += f" (a{end.ledger.action}): {quoted(end.ledger.reason)}.{why}"
            return [Finding("admitted", text, (end.action,))]
        text = f"The attempt breaks off at a{end.action} without a hand-over. "
        text += f"The last action {self.did(end.action)}.{why}"
        return [Finding("broken_off", text, (end.action,))]

    def _ends_well(self, end: Ending) -> bool:
        """Whether nothing speaks against an end without a last word, which not everybody records: what was asked for
        is there, or the last action is one that work ends with."""
        if end.ledger is not None:
            return False
        if self.is_shown_done:
            return True
        last = self.facts[-1]
        if end.words or last.has_failed:
            return False
        if last.family in {"git commit", "git push", "gh pr"}:
            return True
        if not last.commands and not self.step(last.action).calls:  # code that somebody ran for an agent that talks
            came = self.step(last.action).observations
            return any(seen.exit_code == 0 or seen.text.startswith("exitcode: 0") for seen in came)
        return last.has_passed and last.action > self.last_change

    def _unverified(self) -> list[Finding]:
        """A file that the task asks for, or a program, that was changed last, and nothing ran it or looked at it since.
        What else nobody looked at is told in the summary of its part."""
        names = [path for path, action in self.products.items() if action == self.last_change][:PRODUCTS]
        if not any(path.endswith(CODE) or any(same_file(path, one) for one in self.wanted) for path in names):
            return []
        if any(self._looks_at_products(f) for f in self.facts[self.last_change - 1 :]):
            return []
        if self.task is not None and searching(NOT_TO_RUN)(self.task.instruction):
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
NOT_TO_RUN = r"(?i)\b(?:no need to|(?:do|need|should)(?: not|n't)(?: need to)?|without|never) (?:run|execut|test|start)"
"""Words of a task that wants something written and not run. Hints only."""
LOOKS = frozenset("curl wget nc ping ssh cat ls cd git echo pip npm docker".split())
"""Commands that a task names for other reasons than to check by them."""
STOPPED = frozenset({"time_out", "killed"})
"""Families that say that somebody ended a program."""
STOPPING = ("timeout ", "kill ", "pkill ", "kill -")
"""How the agent itself does so."""
FRAMES = 4_000
"""Characters at the end of an output in which the files of a traceback are looked for."""
LACKS = frozenset({"no_such_module", "no_such_command"})
"""Families that say that something is missing around a program."""
WRONG = frozenset(
    {"syntax", "assertion", "exception", "build", "no_such_module", "out_of_memory", "killed", "time_out"}
)
"""Families of errors that say that a program is wrong, and not only the way in which it was called."""


def _changes(fact: Facts) -> bool:
    return bool(fact.effects.writes or fact.effects.deletes)


def _is_check(command: str) -> bool:
    """Whether a command that the task names can be what it is checked by: it runs something of its own."""
    words = command.split()
    return len(words) > 1 and base_name(words[0]) not in LOOKS and words[1] not in {"-", "-c", "-e"}


def _is_test(name: str) -> bool:
    return any(word in name.lower() for word in ("test", "check", "spec"))


def _has_told(step: Step) -> bool:
    """Whether a tool gave something back: what a harness says about who is next is nothing."""
    return any(answer.origin == "tool" and answer.text.strip() for answer in step.observations)


def quoted(text: str) -> str:
    """A line of the trace within a sentence."""
    return f"`{one_line(text, 200)}`"


def _is_same(one: Check, other: Check) -> bool:
    return one.runner == other.runner and (one.subjects == other.subjects or bool(one.subjects & other.subjects))


def _is_passed(baseline: Check, check: Check) -> bool:
    return baseline.has_passed is True and _is_same(baseline, check)
