"""Files that the task asks for and that are not there."""

from __future__ import annotations

from dense.analyst.rules.candidates import candidates
from dense.analyst.rules.case import Case
from dense.analyst.rules.findings import Finding
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


def _missing(case: Case, one: Tracked) -> Finding:
    text = f"The task asks for `{one.subject}`, and no action made it."
    evidence = [*one.tried[-TRIES:], *one.missed[-1:]]
    if one.tried:
        tries = [
            f"a{n} {did(case.of(n), case.step(n), 70)}: {saw(case.of(n), case.step(n))}" for n in one.tried[-TRIES:]
        ]
        text += f" Tried without success: {'; '.join(tries)}."
    if fitting := candidates(case.task, case.requirements, case.steps):
        best = fitting[0]
        text += f" What fits the task was already seen at a{best.action}: `{one_line(best.text, 200)}`."
        text += " What is left is to write it there."
        evidence.append(best.action)
    return Finding("unmet", text, tuple(sorted(set(evidence))) or (len(case.facts),), is_tried=bool(one.tried))
