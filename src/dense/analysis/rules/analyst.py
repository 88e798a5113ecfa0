"""From the evidence of a whole trace to the draft of its tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from dense.analysis.analyst import Analysis
from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.evidence.checks.last_state import last_checks
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.rules import boundaries
from dense.analysis.rules.facets import explained_failures, find_facets
from dense.analysis.rules.labels import label
from dense.analysis.rules.shortcuts import shortcuts
from dense.analysis.rules.verdicts import Verdicts, next_steps, products, remarks, requirement_statuses
from dense.analysis.wording.findings import describe_finding
from dense.analysis.wording.handovers import describe_diff
from dense.analysis.wording.narrator import NarratedDigest, Narrator
from dense.draft import LeafDraft, PartDraft, SubtaskDraft, TreeDraft
from dense.trajectory import Trajectory
from dense.tree import Facets

MAX_LEVELS = 3


class RulesAnalyst:
    """Drafts the tree of a trajectory by rule."""

    name = "rules"

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> Analysis:
        """See `dense.analysis.analyst.Analyst`."""
        del with_verdicts  # they cost nothing
        return self.analysed(trajectory)

    def analysed(self, trajectory: Trajectory, *, is_flat: bool = False) -> Analysis:
        """The analysis, without an event loop; if flat, its draft has all actions right below the root."""
        assessment = TraceAssessment(trajectory)
        evidence = assessment.evidence
        narrator = narrator_of(assessment)
        actions = tuple([_leaf(fact, assessment) for fact in evidence.facts])
        top = actions if is_flat else _levels(actions, assessment, narrator)
        is_one = not is_flat and len(top) == len(actions) > 1  # what an only part would say, the whole says
        facets = _facets(narrator.digests([(1, len(actions))])[0], assessment) if is_one else Facets()
        keys = frozenset([action.number for action in assessment.actions if action.effects.is_key])
        verdicts = Verdicts(assessment, narrator, keys)

        def judged(part: SubtaskDraft) -> SubtaskDraft:
            children = tuple([judged(child) if isinstance(child, SubtaskDraft) else child for child in part.children])
            part = msgspec.structs.replace(part, children=children)
            groups = shortcuts(children, assessment, narrator)
            return msgspec.structs.replace(part, groups=tuple(groups), verdict=verdicts.verdict(part, groups))

        draft = TreeDraft(
            root=judged(SubtaskDraft(level=0, children=top, facets=facets)),
            requirements=requirement_statuses(assessment),
            next_steps=next_steps(assessment),
            products=products(assessment),
            last_checks=last_checks(evidence),
            remarks=remarks(assessment),
        )
        return Analysis(draft, assessment)


def narrator_of(assessment: TraceAssessment) -> Narrator:
    """What puts the actions of this trace into words."""
    evidence = assessment.evidence
    diff = describe_diff(evidence.submitted_diff) if evidence.submitted_diff is not None else ""
    survives = evidence.survives if diff or evidence.history.has_removals else None  # else all of it does
    return Narrator(evidence.history, evidence.steps, evidence.origins, survives, diff)


def _leaf(fact: ActionFacts, assessment: TraceAssessment) -> LeafDraft:
    evidence = assessment.evidence
    left = assessment.left_at(fact.action) if fact.phase == "deliver" else None
    if left is not None:
        return LeafDraft(fact.action, -1, f"Hands over with something left to do. {describe_finding(left, evidence)}")
    return LeafDraft(fact.action, *label(fact, evidence.history, evidence.steps))


def _levels(queue: Sequence[PartDraft], assessment: TraceAssessment, narrator: Narrator) -> tuple[PartDraft, ...]:
    """The nodes below the root: stretches of actions, then stretches of those, until there are few enough."""
    for level in range(1, MAX_LEVELS + 1):
        if len(queue) < 2 or (level > 1 and boundaries.is_top(len(queue))):
            break
        ends = _ends(queue, level, assessment.evidence)
        if assessment.is_complete:
            ends = _complete_ends(queue, ends, assessment)
        if len(ends) in (1, len(queue)):
            break  # a part with the span of the whole would only repeat it
        stretches = [tuple(queue[start:end]) for start, end in pairwise([0, *ends])]
        digests = iter(narrator.digests([(one[0].first, one[-1].last) for one in stretches if len(one) > 1]))
        queue = [one[0] if len(one) == 1 else _subtask(level, one, next(digests), assessment) for one in stretches]
    return tuple(queue)


def _ends(queue: Sequence[PartDraft], level: int, evidence: TraceEvidence) -> list[int]:
    """How many nodes of the queue each stretch and those before it hold."""
    if level == 1:
        return boundaries.ends(evidence.facts, evidence.history)
    spans = [(part.first, part.last) for part in queue]
    return boundaries.higher_ends(
        [boundaries.stretch_traits(evidence.facts[first - 1 : last]) for first, last in spans]
    )


def _complete_ends(queue: Sequence[PartDraft], ends: Sequence[int], assessment: TraceAssessment) -> list[int]:
    """The ends of stretches of a whole that is complete: a stretch that is not, a dead end, belongs to the one that
    gets past it; the last one to the one before."""

    def is_complete(start: int, end: int) -> bool:
        return end - start == 1 or assessment.is_complete_within(queue[start].first, queue[end - 1].last)

    kept: list[int] = []
    for end in ends:
        if is_complete(kept[-1] if kept else 0, end):
            kept.append(end)
    while kept and kept[-1] != len(queue) and not is_complete(kept[-1], len(queue)):
        kept.pop()
    return kept if kept and kept[-1] == len(queue) else [*kept, len(queue)]


def _subtask(
    level: int, members: tuple[PartDraft, ...], digest: NarratedDigest, assessment: TraceAssessment
) -> SubtaskDraft:
    facets = _facets(digest, assessment)
    return SubtaskDraft(level=level, children=members, title=digest.title, summary=digest.summary, facets=facets)


def _facets(digest: NarratedDigest, assessment: TraceAssessment) -> Facets:
    stretch = digest.stretch
    explained = explained_failures(assessment, stretch.first, stretch.first + len(stretch.actions) - 1)
    return find_facets(stretch, explained, frozenset({digest.look}))
