"""Findings and their resolutions, put onto the parts of the tree; and what the rules say of the whole.

The lowest part that holds all evidence of a finding raises it, if it is still open at the end of that part. The lowest
part around it that holds the action which closed it records the resolution. Findings about the task as a whole are the
root's."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from dense.analysis.detectors.assessment import FAILED_CHECKS, TraceAssessment
from dense.analysis.detectors.registry import Finding, codes
from dense.analysis.evidence.facts.paths import base_name, is_among, is_trial_file, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.wording.commands import advise_published, advise_real_commands
from dense.analysis.wording.findings import describe_demand, describe_finding, describe_next_step
from dense.analysis.wording.narrator import Narrator
from dense.draft import GroupDraft, IssueDraft, LeafDraft, SubtaskDraft, VerdictDraft, leaf_reference
from dense.text.quoting import one_line
from dense.tree import Completion, Met, NextStep, Product, RefutedClaim, Remark, RequirementStatus


class Verdicts:
    """The verdicts on the parts of one trace. Ask for the lower parts first."""

    def __init__(self, assessment: TraceAssessment, narrator: Narrator, keys: frozenset[int]) -> None:
        """`keys` are the actions that are kept by rule."""
        self._assessment, self._narrator, self._keys = assessment, narrator, keys
        self._raised: dict[str, Finding] = {}
        """The findings that parts raised and none has closed, by the key of their issues."""
        self._ends: set[int] = set()
        """The last actions of parts and groups so far: they are kept by rule, too."""

    def verdict(self, part: SubtaskDraft, groups: Sequence[GroupDraft]) -> VerdictDraft:
        """What the part reports, closes and leaves open, by the actions in it."""
        first, last = part.first, part.last
        is_root = part.level == 0
        inside = {
            one.key: one
            for one in self._assessment.findings_in(first, last)
            if one.opens_issue
            and (is_root or (first <= one.evidence[0] and not (one.is_open and codes()[one.code].raised_at == "root")))
        }
        still_open = {key: one for key, one in inside.items() if one.resolution is None or one.resolution > last}
        resolved = {key: one.resolution for key, one in inside.items() if key in self._raised and key not in still_open}
        raised = {key: one for key, one in still_open.items() if key not in self._raised}
        self._raised |= raised
        for key in resolved:
            del self._raised[key]
        spans = list(_spans(part)) if is_root else []
        reports_failures = not any(codes()[one.code].covers_failures for one in still_open.values())
        return VerdictDraft(
            coherence="coherent",
            completion=self._completion(first, last, list(still_open.values()), is_root),
            summary=self._narrator.final_summary(first, last, spans, with_failures=reports_failures),
            issues=tuple(
                sorted([self._issue(one) for one in raised.values()], key=lambda issue: issue.severity == "fatal")
            ),
            resolved={key: (leaf_reference(action),) for key, action in resolved.items() if action is not None},
            key_actions=self._key_actions(part, groups),
        )

    def _issue(self, one: Finding) -> IssueDraft:
        evidence = self._assessment.evidence
        return IssueDraft(
            text=describe_finding(one, evidence),
            evidence=tuple(map(leaf_reference, one.evidence)),
            severity=one.severity,
            code=one.code,
            key=one.key,
            quote=quote_of(one, evidence),
            names=_subjects(one),
            claim=_refuted_claim(one),
        )

    def _completion(self, first: int, last: int, still_open: Sequence[Finding], is_root: bool) -> Completion:
        assessment = self._assessment
        if still_open:
            return "incomplete" if any(one.is_serious for one in still_open) else "unknown"
        is_shown = assessment.is_complete if is_root else assessment.is_shown_within(first, last)
        return "complete" if is_shown else "unknown"

    def _key_actions(self, part: SubtaskDraft, groups: Sequence[GroupDraft]) -> tuple[str, ...]:
        """The actions in it that matter most, as far as a verdict may name them: kept by rule, or its own children."""
        first, last = part.first, part.last
        self._ends.add(last)
        key_actions = self._assessment.key_actions
        inside = key_actions[bisect_left(key_actions, first) : bisect_right(key_actions, last)]
        own = {child.action for child in part.children if isinstance(child, LeafDraft)}
        named = [action for action in inside if action in own or action in self._keys or action in self._ends]
        self._ends.update(group.last for group in groups)
        return tuple(map(leaf_reference, named))


def _spans(part: SubtaskDraft) -> Iterator[tuple[int, int]]:
    """The first and last actions of its parts; neighbouring actions count as one part."""
    for is_action, some in groupby(part.children, key=lambda child: isinstance(child, LeafDraft)):
        children = list(some)
        if is_action:
            yield children[0].first, children[-1].last
        else:
            yield from ((child.first, child.last) for child in children)


MAX_NEXT_STEPS = 7
MAX_PRODUCTS = 12
MAX_LINE_CHARS = 240
QUOTE_FIELDS = ("assertion", "line", "printed", "quote", "complaint", "reason")
"""Fields of findings that hold a line of the trace, the most telling first."""
ADVISING_REMARKS = frozenset({"input_lost", "clue_unused"})
"""Remarks about steps that cannot be undone, and clues: a rerun needs to know what to do about them."""


def requirement_statuses(assessment: TraceAssessment) -> tuple[RequirementStatus, ...]:
    """What the task asks for, each met, not met or unchecked by what the trace shows."""
    unmet: Met = "unchecked" if assessment.evidence.ending.kind == "continued" else "no"
    states: dict[Met, Met] = {"yes": "yes", "no": unmet, "unchecked": "unchecked"}
    return tuple(
        RequirementStatus(describe_demand(one), states[one.met], _names(*one.actions), (one.subject,))
        for one in assessment.demands
    )


def next_steps(assessment: TraceAssessment) -> tuple[NextStep, ...]:
    """What to do about refuted claims, calls that ran nothing, what is published, and open issues."""
    still_open = [one for one in assessment.findings if one.is_open]
    refuted = [one for one in still_open if one.opens_issue and one.text("claim")]
    issues = [one for one in still_open if one.opens_issue and one not in refuted]
    remarks = [one for one in still_open if one.code in ADVISING_REMARKS]
    facts = assessment.evidence.facts
    steps = [*_advice(refuted)]
    steps += [
        NextStep(text, _names(*actions))
        for text, actions in (advise_real_commands(facts), advise_published(facts))
        if text
    ]
    steps += _advice([*issues, *remarks])
    return tuple({step.text: step for step in steps}.values())[:MAX_NEXT_STEPS]


def _advice(findings: Sequence[Finding]) -> Iterator[NextStep]:
    for finding in findings:
        if text := describe_next_step(finding):
            yield NextStep(text, _names(*finding.evidence[-2:]))


def remarks(assessment: TraceAssessment) -> tuple[Remark, ...]:
    """The open findings that have not earned an issue. Failed checks are among the last checks."""
    evidence = assessment.evidence
    return tuple(
        Remark(
            text=describe_finding(one, evidence),
            evidence=_names(*one.evidence),
            code=one.code,
            quote=quote_of(one, evidence),
            names=_subjects(one),
        )
        for one in assessment.findings
        if one.is_open and not one.opens_issue and one.code not in FAILED_CHECKS
    )


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


def _subjects(finding: Finding) -> tuple[str, ...]:
    """The files, commands and values that a finding is about."""
    return (finding.subject, *finding.texts("files"), *finding.texts("edited"), *finding.texts("removed"))


def _refuted_claim(finding: Finding) -> RefutedClaim | None:
    """What the agent says to the contrary of a finding."""
    claim = finding.text("claim")
    refuted_by, line = finding.number("failed_at"), one_line(finding.text("line"), MAX_LINE_CHARS)
    return RefutedClaim(claim, finding.number("claimed_at"), refuted_by, line) if claim else None


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
