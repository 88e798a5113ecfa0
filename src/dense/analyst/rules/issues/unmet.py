"""Files that the task asks for and that are not there."""

from __future__ import annotations

from dense.analyst.rules.candidates import candidates
from dense.analyst.rules.case import Case
from dense.analyst.rules.findings import Finding
from dense.analyst.rules.outputs_told import ABSENT, absent_told, main_failure
from dense.analyst.rules.phrases import did, one_line, saw
from dense.analyst.rules.tracking import Tracked, may_be_made

TRIES = 3
"""How many tries an issue tells."""


def unmet(case: Case) -> list[Finding]:
    found: list[Finding] = []
    for one in case.tracked:
        if one.removed is not None:
            text = f"The task asks for `{one.subject}`; it was removed at a{one.removed} and not made again."
            found.append(Finding("lost", text, (one.removed,), is_fatal=True))
        elif one.is_missing and not may_be_made(one, case.facts, case.steps):
            found.append(_missing(case, one))
    return found


def _try(case: Case, action: int, *, is_only: bool) -> str:
    """A try, and what came back. Of one among others for which a program or a package is not there, that: the lesson
    of all of them tells the rest."""
    failures = case.of(action).seen.failures
    if failures and not is_only and (lacking := main_failure(failures)).family in ABSENT and lacking.subject:
        return f"{absent_told(lacking)} (a{action})"
    return f"a{action} {did(case.of(action), case.step(action), 70)}: {saw(case.of(action), case.step(action))}"


def _missing(case: Case, one: Tracked) -> Finding:
    text = f"The task asks for `{one.subject}`, and no action made it."
    evidence = [*one.tried[-TRIES:], *one.missed[-1:]]
    if one.tried:
        is_only = len(one.tried) == 1
        tries = [_try(case, n, is_only=is_only) for n in one.tried[-TRIES:]]
        text += f" Tried without success: {'; '.join(tries)}."
    if fitting := candidates(case.task, case.requirements, case.steps):
        best = fitting[0]
        text += f" What fits the task was already seen at a{best.action}: `{one_line(best.text, 200)}`."
        text += " What is left is to write it there."
        evidence.append(best.action)
    return Finding("unmet", text, tuple(sorted(set(evidence))) or (len(case.facts),), is_tried=bool(one.tried))
