"""Whether the trace itself shows that what was asked for is there."""

from __future__ import annotations

from functools import partial

from dense.evidence.checks.checks import Check
from dense.evidence.checks.touched_tests import is_wide
from dense.evidence.deliverables.tracking import Tracked, is_plain
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import base_name, same_file
from dense.evidence.trace import MOST_CHECKS, Case
from dense.trajectory import Step

HEAD = 64 * 1024
"""How much of a text is looked through for a name."""


def is_shown_done(case: Case) -> bool:
    """Whether the trace itself shows that what was asked for is there: every file of it was seen after it was
    made, or a check passed after the last change."""
    passed = [check for check in case.checks if check.has_passed]
    own = [check for check in passed if _is_tasks_own(case, check)]
    if case.named_checks and not any(name in check.command for check in own for name in case.named_checks):
        return False
    if not case.named_checks and any(o.kind == "threshold" and o.role == "deliverable" for o in case.requirements):
        return False  # a limit that nobody checks for us
    is_checked = bool(own) and own[-1].action > case.last_change > 0
    if case.tracked:
        if not all(one.is_shown and not one.is_missing and one.removed is None for one in case.tracked):
            return False
        if any(map(partial(_has_failed_last, case), case.tracked)) or _is_one_forgotten(case):
            return False
        return is_checked or all(map(partial(_is_new, case), case.tracked))
    return is_checked


def _has_failed_last(case: Case, one: Tracked) -> bool:
    """Whether a file that is asked for is a program, and failed when it ran last."""
    ran = [
        f for f in case.facts if f.effects.scripts and any(same_file(path, one.subject) for path in f.effects.scripts)
    ]
    return bool(ran) and ran[-1].has_failed


def _is_one_forgotten(case: Case) -> bool:
    """Whether the sentences that ask for files name others that nobody wrote, read or saw: they may be asked for as
    well, in words that are not understood."""
    asking = {one.requirement.clause for one in case.tracked}
    named = [one.subject for one in case.requirements if one.kind == "file" and one.role == "mentioned"]
    named = [one.subject for one in case.requirements if one.subject in named and one.clause in asking]
    names = [base_name(path) for path in named if is_plain(path)]
    return not all(any(_holds(step, name) for step in case.steps) for name in names)


def _holds(step: Step, name: str) -> bool:
    """Whether a name stands in what a step's calls are given or what its tools gave back."""
    if any(seen.text.find(name, 0, HEAD) >= 0 for seen in step.observations if seen.origin == "tool"):
        return True
    return any(name in str(value) for call in step.calls for value in call.arguments.values())


def _is_new(case: Case, one: Tracked) -> bool:
    """Whether to have seen a file shows something: it was not there before, and holds no guess of the agent's."""
    if one.is_old:
        return False
    seen = program_output(case.of(one.shown[-1]), case.step(one.shown[-1]))
    return not (one.made and case.origins.is_guess(seen, one.made[-1]))


def _is_tasks_own(case: Case, check: Check) -> bool:
    """Whether the task itself speaks of a check. What an agent thought of to check its work shows that the agent
    is content, not that the task is done; nor does a test that the agent wrote, or changed so that it passes."""
    tests = case.named_tests
    is_named = any(name in check.command and case.expected.get(name) != "fails" for name in case.named_checks)
    if not is_named and not any(name in check.command or not check.subjects for name in tests):
        return False
    if not check.subjects and _is_touched(case, check):
        return False
    checked = check.subjects or {name.removesuffix(".py") for name in tests}
    programs = {name.removesuffix(".py") for name in map(base_name, case.wanted) if not _is_test(name)}
    return case.written.isdisjoint(checked - programs)


def _is_touched(case: Case, check: Check) -> bool:
    """Whether tests that a check of everything, or of folders, runs were changed before it, or what says which run.
    Where as many ran as before, such settings left none out."""
    tests = next((one.action for one in case.touched_tests if not one.is_setting), check.action)
    settings = next(
        (one.action for one in case.touched_tests if one.is_setting and not is_wide(one.path)), check.action
    )
    if check.action <= min(tests, settings):
        return False
    before = [one for one in case.checks[:MOST_CHECKS] if one.action < settings and one.runner == check.runner]
    is_whole = any(0 < one.ran <= check.ran and one.scope == check.scope for one in before)
    return tests < check.action or not is_whole


def _is_test(name: str) -> bool:
    return any(word in name.lower() for word in ("test", "check", "spec"))
