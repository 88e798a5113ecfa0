"""What is missing: files that the task asks for and no action made, files that it is about and a step lost, a limit of
the task that the last measurement misses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dense.analysis.detectors.registry import Detector, Finding, FindingCode, each_of
from dense.analysis.evidence.deliverables.products import best_candidate, pieces
from dense.analysis.evidence.deliverables.tracking import TrackedFile
from dense.analysis.evidence.ending.limits import is_exact, measured_limit
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.evidence.links.vanished_files import vanished_files
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.words import words
from dense.knowledge.words.cues import CUES

DELIVERABLE_MISSING = FindingCode(
    name="deliverable_missing",
    meaning="Nothing tried to make a file that the task asks for.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
DELIVERABLE_ATTEMPT_FAILED = FindingCode(
    name="deliverable_attempt_failed",
    meaning="Every attempt to make a file that the task asks for failed.",
    severity="serious",
    opens_issue=True,
)
INPUT_LOST = FindingCode(
    name="input_lost",
    meaning="A step made a file vanish that was there and that nobody removed.",
    severity="doubt",
    covers_failures=False,
)
CLUE_UNUSED = FindingCode(
    name="clue_unused",
    meaning="A piece of the value that the task asks for was seen, and nothing was made of it.",
    severity="doubt",
)
LIMIT_MISSED = FindingCode(
    name="limit_missed",
    meaning="The last measurement misses a limit of the task.",
    severity="serious",
    opens_issue=True,
)
PORT_SILENT = FindingCode(
    name="port_silent",
    meaning="A port that the task asks for was asked and never answered.",
    severity="serious",
    opens_issue=True,
)
NO_CONNECTION = re.compile(r".*(?:connection refused|failed to connect|could(?: not|n't) connect).*", re.IGNORECASE)
MAX_ATTEMPTS = 3
CHANGE_VERBS = words("change")
"""Verbs that ask for a change of an existing file. They only choose the wording."""
WORD = re.compile(r"[^\W\d_]+")


def missing_deliverables(evidence: TraceEvidence) -> Iterator[Finding]:
    for file in evidence.tracked_files:
        if not file.is_missing or file.may_exist:
            continue
        tried = file.tried[-MAX_ATTEMPTS:]
        shown = {*tried, *file.missed[-1:]}
        candidate = best_candidate(evidence.task, evidence.requirements, evidence.steps)
        if candidate is not None:
            shown.add(candidate.action)
        code = DELIVERABLE_ATTEMPT_FAILED if tried else DELIVERABLE_MISSING
        yield code.found(
            file.path,
            *(sorted(shown) or (len(evidence.facts),)),
            attempts=tuple(f"a{n}" for n in tried),
            absent=tuple(dict.fromkeys(_not_installed(evidence, tried))),
            is_change=int(_asks_for_change(file)),
            candidate=candidate.text if candidate else "",
            candidate_action=candidate.action if candidate else 0,
        )


def _not_installed(evidence: TraceEvidence, actions: Sequence[int]) -> Iterator[str]:
    """The programs and packages for want of which attempts failed."""
    for action in actions:
        for failure in evidence.fact(action).result.failures:
            if failure.missing_dependency and "/" not in failure.subject:
                yield failure.subject


def _asks_for_change(file: TrackedFile) -> bool:
    """Whether the verb that asks for a file asks for a change of it."""
    before = WORD.findall(file.requirement.clause.partition(file.path)[0].lower())
    verbs = (word for word in reversed(before) if CUES.get(word) in ("make", "put", "move"))
    return next(verbs, "") in CHANGE_VERBS


def lost_inputs(evidence: TraceEvidence) -> Iterator[Finding]:
    """A file that vanished while the file that it belongs to was worked on, if the task names either: `main.db`, or
    the WAL that `main.db-wal` adds to its name."""
    findings = vanished_files(evidence.facts, evidence.steps)
    words = set(WORD.findall(evidence.task.instruction.lower())) if findings and evidence.task else set[str]()
    for one in findings:
        named = WORD.findall(base_name(one.path).lower())
        if not words or not words.isdisjoint(named):
            yield INPUT_LOST.found(one.path, one.seen, one.cause, one.missed, owner=one.owner, cause=one.cause)


def unused_clues(evidence: TraceEvidence) -> Iterator[Finding]:
    """Values that fit one end of what the task asks for, if nothing was seen that fits it as a whole."""
    given = evidence.task, evidence.requirements, evidence.steps
    if (clues := pieces(*given)) and best_candidate(*given) is None:
        actions = sorted({clue.action for clue in clues})
        yield CLUE_UNUSED.found("", *actions, pieces=tuple(f"`{clue.text}` (a{clue.action})" for clue in clues))


def missed_limits(evidence: TraceEvidence) -> Iterator[Finding]:
    """Limits of the task that the last measurement misses; a doubt if another quantity may be meant."""
    for requirement in evidence.requirements:
        if requirement.kind != "threshold" or requirement.role != "deliverable":
            continue
        measured = measured_limit(evidence, requirement)
        if measured is not None and not measured.is_kept:
            severity = "serious" if is_exact(requirement) else "doubt"
            yield LIMIT_MISSED.found(
                requirement.subject, measured.action, severity=severity, value=measured.value, clause=requirement.clause
            )


def silent_ports(evidence: TraceEvidence) -> Iterator[Finding]:
    """Ports that the task asks for, if every request in the trace was refused."""
    for requirement in evidence.requirements:
        if requirement.kind != "port" or requirement.role != "deliverable":
            continue
        asked = [fact for fact in evidence.facts if any(f":{requirement.subject}" in text for text in fact.commands)]
        texts = ["\n".join(seen.text for seen in evidence.step(fact.action).observations) for fact in asked]
        refusals = [refusal and refusal[0].strip() for refusal in map(NO_CONNECTION.search, texts)]
        if refusals and all(refusals):
            yield PORT_SILENT.found(requirement.subject, asked[-1].action, line=refusals[-1] or "")


DETECTOR = Detector(
    each_of(missing_deliverables, lost_inputs, unused_clues, missed_limits, silent_ports),
    (DELIVERABLE_MISSING, DELIVERABLE_ATTEMPT_FAILED, INPUT_LOST, CLUE_UNUSED, LIMIT_MISSED, PORT_SILENT),
)
