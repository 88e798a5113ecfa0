"""Checks that failed and did not pass since, and what speaks for or against them."""

from __future__ import annotations

from dense.detectors.finding import Finding
from dense.evidence.checks.checks import Check, is_static
from dense.evidence.checks.expectations import Expectation, wants_failing_test
from dense.evidence.checks.reruns import Reruns
from dense.evidence.facts.paths import base_name
from dense.evidence.facts.remarks import find_excuse
from dense.evidence.trace import Case
from dense.text.quoting import one_line, ticked

SOON = 2
"""So many actions after a failed check, the agent may say what it thinks of it."""
PRODUCTS = 5
"""How many names an issue lists."""


def failed_checks(case: Case) -> list[Finding]:
    """A failed check for each thing that was checked; the last failure of each counts."""
    found: dict[str, Finding | None] = {}
    later = Reruns()
    for check in reversed(case.checks):
        taken = case.taken_back.get((check.action, check.command))
        if taken or (taken is not None and check.has_passed is False):
            continue  # it tells of how things were before the changes
        if check.has_passed is not False:
            later.note(check)
        elif (key := f"{check.runner} {sorted(check.subjects)}") not in found:
            found[key] = _failed_check(case, check, later)
    return [one for one in (*found.values(), *_meant_to_fail(case)) if one is not None]


def _meant_to_fail(case: Case) -> list[Finding]:
    """Commands that the task wants to fail, where the last run of one ended well."""
    if not case.expected:
        return []
    last = {check.command: check for check in case.checks if case.expected.get(check.command) == "fails"}
    return [
        Finding(
            "failed_check",
            f"`{one_line(check.command, 100)}` did not fail at a{check.action}; the task wants it to.",
            (check.action,),
            is_serious=False,
        )
        for check in last.values()
        if check.has_passed
    ]


def no_tests(case: Case) -> list[Finding]:
    """The last check, where it ran no test at all, and nothing passed since the last change."""
    last = case.checks[-1] if case.checks else None
    if last is None or not last.is_void or last.action < case.last_change or not case.last_change:
        return []
    if any(check.has_passed and check.action > case.last_change for check in case.checks):
        return []
    text = f"`{one_line(last.command, 100)}` ran no test at a{last.action}: {ticked(last.line, 120)}."
    return [Finding("unverified", text, (last.action,), is_serious=False)]


def _failed_check(case: Case, check: Check, later: Reruns) -> Finding | None:
    named = [name for name in case.named_checks if name in check.command or check.command in name]
    wanted: set[Expectation] = {case.expected.get(name, "works") for name in named}
    if wanted == {"fails"}:
        return None
    closing = later.closing(check)
    text = f"`{one_line(check.command, 100)}` failed at a{check.action}: {ticked(check.line, 200)}"
    if check.names:
        text += f" ({', '.join(f'`{one_line(name, 60)}`' for name in check.names[:PRODUCTS])})"
    is_named = "works" in wanted
    text += "."
    if closing is not None:
        is_serious = is_named or not (is_static(check) or check.action < _first_change_for(case, check))
        return Finding("failed_check", text, (check.action,), closing, is_serious)
    since = _unblamed(case, check, later)
    if since:
        text += f" {since}"
    elif shown := next((c for c in case.baseline if c.action > check.action and _is_passed(c, check)), None):
        text += f" With the changes taken back it passed at a{shown.action}."
    else:
        changed = case.last_change > check.action
        text += " Files changed since, and it was not run again." if changed else " Nothing was changed since."
    text += _task_says(wanted)
    is_symptom = "symptom" in wanted and check.action >= _first_change_for(case, check)
    is_serious = is_named or is_symptom or not (since or is_static(check))
    if is_serious and (_is_meant(case, check, wanted) or (wanted and later.unseen(check) is not None)):
        is_serious = False
    return Finding("failed_check", text, (check.action,), None, is_serious)


def _task_says(wanted: set[Expectation]) -> str:
    """What the task says of a check that it names."""
    if "works" in wanted:
        return " The task itself names this check."
    return " The task speaks of this failure." if wanted else ""


def _is_meant(case: Case, check: Check, wanted: set[Expectation]) -> bool:
    """Whether the failure may be what the task wants: by what it says of the command, or since it asks for a test that
    fails, and this is one of the attempt's own."""
    if "unclear" in wanted and "works" not in wanted:
        return True
    if case.task is None or not wants_failing_test(case.task.instruction):
        return False
    return not check.subjects or not check.subjects.isdisjoint(case.written)


def _unblamed(case: Case, check: Check, later: Reruns) -> str:
    """Why a check that failed and did not pass since may well say nothing about what was changed; empty where
    nothing speaks for that."""
    if check.action < _first_change_for(case, check):
        return "That was before anything was changed; it was not run again."
    for one in case.baseline:
        if one.has_passed is False and one.failed >= check.failed and _is_same(one, check):
            if (one.action, one.command) in case.taken_back:
                return f"It failed in the same way at a{one.action}, with the changes taken back."
            if one.action < check.action:
                return "It failed in the same way before anything was changed."
    if (unseen := later.unseen(check)) is not None:
        return f"It ran again at a{unseen.action}, and how that ended is not to be seen."
    if (part := later.part(check)) is not None:
        command = f"`{one_line(part.command, 100)}`"
        return f"At a{part.action} {command} passed, which is a part of it; all of it did not run again."
    if gone := _is_dropped(case, check):
        return gone
    after = case.steps[check.action : check.action + SOON]
    words = next((words for step in after if (words := find_excuse(step.message or step.reasoning))), "")
    return f"The agent says of it: {ticked(words, 200)}; nothing shows that." if words else ""


def _first_change_for(case: Case, check: Check) -> int:
    """The first change as a check sees it: that it was written itself is none, unless the task asks for it or names
    the check."""
    if check.action < case.first_change or not check.scope.paths or check.command in case.named_checks:
        return case.first_change
    own = {base_name(path) for path in check.scope.paths} - {base_name(path) for path in case.wanted}
    return next((action for action, name in case.changes if name not in own), len(case.facts) + 1)


def _is_dropped(case: Case, check: Check) -> str:
    """That the files of a check are the agent's own, and it removed or changed them since, in words."""
    files = [base_name(path) for path in check.scope.paths if path not in check.scope.folders]
    told = ""
    for name in files:
        if not any(base_name(path) == name for fact in case.facts[: check.action] for path in fact.effects.writes):
            return ""
        since = case.facts[check.action :]
        gone = next((f.action for f in since if name in map(base_name, f.effects.deletes)), None)
        anew = next((f.action for f in since if name in map(base_name, f.effects.writes)), None)
        if gone is None and anew is None:
            return ""
        told = f"`{one_line(name, 60)}` is the attempt's own, and "
        told += f"was removed at a{gone}." if gone is not None else f"was changed at a{anew}; it did not run again."
    return told


def _is_same(one: Check, other: Check) -> bool:
    return one.runner == other.runner and (one.subjects == other.subjects or bool(one.subjects & other.subjects))


def _is_passed(baseline: Check, check: Check) -> bool:
    return baseline.has_passed is True and _is_same(baseline, check)
