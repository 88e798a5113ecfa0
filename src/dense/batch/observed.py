"""What the rules saw fail in a trace, and what worked later, for the columns of a row."""

from __future__ import annotations

from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.wording.outputs import main_failure
from dense.batch.remedies import signature_of, ways_out
from dense.batch.rows import FailureCell
from dense.knowledge.tools import own_name
from dense.text.clip import clip_end
from dense.text.terminal import plain_line

MAX_FAILURES = 60
"""So many failures of a trace are kept, the first ones."""
MAX_TEXT = 200
TESTS = "tests_failed"
"""In place of an error family: tests ran, and some failed."""


def failures_of(assessment: TraceAssessment) -> list[FailureCell]:
    """The actions that failed, in order."""
    evidence = assessment.evidence
    cells: list[FailureCell] = []
    for fact in evidence.facts:
        if fact.has_failed and len(cells) < MAX_FAILURES:
            cells.append(_cell(fact, evidence))
    return cells


def _cell(fact: ActionFacts, evidence: TraceEvidence) -> FailureCell:
    step = evidence.step(fact.action)
    program = fact.family or (own_name(step.calls[0].name) if step.calls else "")
    command = _short(fact.commands[0]) if fact.commands else ""
    recovery = evidence.history.recovered_by(fact.action)
    if not fact.result.failures:
        run = next(run for run in fact.result.tests if run.failed)
        return FailureCell(
            action=fact.action,
            family=TESTS,
            subject="",
            program=_short(program),
            command=command,
            line=_short(run.line),
            recovery=recovery,
        )
    main = main_failure(fact.result.failures)
    return FailureCell(
        action=fact.action,
        family=main.family.code,
        subject=_short(main.subject),
        program=_short(program),
        command=command,
        line=_short(main.line),
        signature=signature_of(main),
        recovery=recovery,
        ways=ways_out(fact, main, evidence),
    )


def _short(text: str) -> str:
    return clip_end(plain_line(" ".join(text.split())), MAX_TEXT)
