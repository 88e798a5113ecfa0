"""Findings and their resolutions, put onto the parts of the tree.

The lowest part that holds all evidence of a finding raises it, if it is still open at the end of that part. The lowest
part around it that holds the action which closed it records the resolution. Findings about the task as a whole are the
root's."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from dense.analyst.rules.overview import quote_of
from dense.detectors.assessment import TraceAssessment
from dense.detectors.finding import Finding
from dense.detectors.registry import codes
from dense.draft import GroupDraft, IssueDraft, LeafDraft, SubtaskDraft, VerdictDraft, leaf_reference
from dense.narrate.findings import describe_finding
from dense.narrate.narrator import Narrator
from dense.tree import Completion


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
            if is_root or (first <= one.evidence[0] and not (one.is_open and codes()[one.code].raised_at == "root"))
        }
        still_open = {key: one for key, one in inside.items() if one.resolution is None or one.resolution > last}
        resolved = {key: one.resolution for key, one in inside.items() if key in self._raised and key not in still_open}
        # What is only doubtful leaves the whole unknown: an open issue of the root would make it incomplete.
        raised = {
            key: one for key, one in still_open.items() if key not in self._raised and (one.is_serious or not is_root)
        }
        self._raised |= raised
        for key in resolved:
            del self._raised[key]
        spans = list(_spans(part)) if is_root else []
        reports_failures = not any(codes()[one.code].covers_failures for one in still_open.values())
        return VerdictDraft(
            "coherent",
            self._completion(first, last, list(still_open.values()), is_root),
            self._narrator.final_summary(first, last, spans, with_failures=reports_failures),
            tuple(sorted([self._issue(one) for one in raised.values()], key=lambda issue: issue.is_fatal)),
            {key: (leaf_reference(action),) for key, action in resolved.items() if action is not None},
            self._key_actions(part, groups),
        )

    def _issue(self, one: Finding) -> IssueDraft:
        evidence = self._assessment.evidence
        return IssueDraft(
            describe_finding(one, evidence),
            tuple(map(leaf_reference, one.evidence)),
            one.severity == "fatal",
            one.code,
            one.key,
            quote_of(one, evidence),
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
