"""What the rules say of the whole: requirements with their evidence, what to do next, what is delivered."""

from __future__ import annotations

from dense.detectors.assessment import TraceAssessment
from dense.detectors.finding import Finding
from dense.evidence.facts.paths import base_name, is_among, is_trial_file, same_file
from dense.evidence.trace import TraceEvidence
from dense.narrate.commands import advise_published, advise_real_commands
from dense.narrate.findings import describe_demand, describe_next_step
from dense.tree import Met, NextStep, Product, RequirementStatus

MAX_NEXT_STEPS = 7
MAX_PRODUCTS = 12
QUOTE_FIELDS = ("line", "printed", "quote", "complaint", "reason")
"""Fields of findings that hold a line of the trace, the most telling first."""
SEVERITIES = ("fatal", "serious", "doubt")
FIRST_CODES = frozenset({"input_lost", "clue_unused"})
"""Findings about steps that cannot be undone, and clues: advice about them is for the beginning of a rerun."""


def requirement_statuses(assessment: TraceAssessment) -> tuple[RequirementStatus, ...]:
    """What the task asks for, each met, not met or unchecked by what the trace shows."""
    unmet: Met = "unchecked" if assessment.evidence.ending.kind == "continued" else "no"
    states: dict[Met, Met] = {"yes": "yes", "no": unmet, "unchecked": "unchecked"}
    return tuple(
        RequirementStatus(describe_demand(one), states[one.met], _names(*one.actions)) for one in assessment.demands
    )


def next_steps(assessment: TraceAssessment) -> tuple[NextStep, ...]:
    """What to do about calls that ran nothing, what is published, and open findings, the most severe first."""
    still_open = [one for one in assessment.findings if one.is_open]
    ordered = sorted(still_open, key=lambda one: (one.code not in FIRST_CODES, SEVERITIES.index(one.severity)))
    facts = assessment.evidence.facts
    steps = [
        NextStep(text, _names(*actions))
        for text, actions in (advise_real_commands(facts), advise_published(facts))
        if text
    ]
    steps += [NextStep(text, _names(*one.evidence[-2:])) for one in ordered if (text := describe_next_step(one))]
    return tuple({step.text: step for step in steps}.values())[:MAX_NEXT_STEPS]


def products(assessment: TraceAssessment) -> tuple[Product, ...]:
    """What is there at the end: the submitted diff, or the files that the task asks for, then what ran, then what else
    was changed, unless nothing that the task asks for was made. A folder is none."""
    evidence = assessment.evidence
    if evidence.submitted_diff is not None:
        return (Product("the submitted diff", len(evidence.facts), _last_pass(evidence, 0)),)
    made = [path for path, action in evidence.products.items() if evidence.fact(action).family != "mkdir"]
    asked = [path for path in made if is_among(path, evidence.deliverables)]
    others = [path for path in made if path not in asked and not is_trial_file(path)]
    ran = {base_name(path) for fact in evidence.facts for path in (*fact.effects.scripts, *fact.effects.tests)}
    used = [path for path in others if base_name(path) in ran]
    scratch = [path for path in others if path not in used] if asked or not evidence.deliverables else []
    found = [(path, evidence.products[path]) for path in (*asked, *used, *scratch)]
    return tuple(Product(path, action, _check_of(path, action, evidence)) for path, action in found[:MAX_PRODUCTS])


def _check_of(path: str, made: int, evidence: TraceEvidence) -> int | None:
    """The last check that passed after a product was made, or the last action that shows it."""
    shown = [file.seen_at for file in evidence.tracked_files if file.is_shown and same_file(file.path, path)]
    return _last_pass(evidence, made) or next((action for action in shown if action > made), None)


def _last_pass(evidence: TraceEvidence, after: int) -> int | None:
    passed = [check.action for check in evidence.checks if check.has_passed and check.action > after]
    return passed[-1] if passed else None


def quote_of(finding: Finding, evidence: TraceEvidence) -> str:
    """The line of the trace that shows a finding; empty for something that was never done."""
    for name in QUOTE_FIELDS:
        if text := finding.text(name):
            return text
    for action in reversed(finding.evidence):
        if failures := evidence.fact(action).result.failures:
            return failures[-1].line
    return ""


def _names(*actions: int) -> tuple[str, ...]:
    return tuple(f"a{action}" for action in sorted(set(actions)))
