"""The agent's own plan, if it still lists items that were never started."""

from __future__ import annotations

from collections.abc import Iterator

from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.ending.ending import plan_items
from dense.analysis.evidence.trace import TraceEvidence

PLAN_UNFINISHED = FindingCode(
    name="plan_unfinished",
    meaning="The agent's own plan still lists items as not started.",
    severity="doubt",
    covers_failures=False,
)


def unfinished_plan(evidence: TraceEvidence) -> Iterator[Finding]:
    """What the last plan marks as not started when the agent hands over, or stops right behind its plan."""
    for action in range(len(evidence.steps), 0, -1):
        if evidence.ending.kind != "handed_over" and action < len(evidence.steps):
            return
        if items := list(plan_items(evidence.step(action))):
            if waiting := tuple(item.words for item in items if item.is_waiting):
                yield PLAN_UNFINISHED.found("", action, items=waiting)
            return


DETECTOR = Detector(unfinished_plan, (PLAN_UNFINISHED,))
