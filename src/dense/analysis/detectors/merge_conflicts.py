"""Merge conflicts that are still there when the work is handed over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.trace import TraceEvidence
from dense.text.search import contains_any

CONFLICT_LEFT = FindingCode(
    name="conflict_left", meaning="A merge conflict is unresolved at the end.", severity="serious", opens_issue=True
)
CONFLICT = re.compile(
    r"^(?:CONFLICT \([^\n]*|Automatic merge failed[^\n]*|[ \t]+both (?:modified|added):[^\n]*"
    r"|\+?<{7} (?:HEAD|Updated upstream|ours|[0-9a-f]{7,40})\b[^\n]*)",
    re.MULTILINE,
)
"""How git and the files themselves show a conflict."""
SIGNS = ("CONFLICT (", "Automatic merge failed", "both modified:", "both added:", "<<<<<<< ")
SETTLING = frozenset(
    f"git {verb}" for verb in "add commit rebase merge cherry-pick reset checkout restore rm stash".split()
)
"""What a conflict is settled, or given up, with."""
MAX_CHARS = 64 * 1024


def conflicts_left(evidence: TraceEvidence) -> Iterator[Finding]:
    """The last conflict that an output shows, if no later action settles it."""
    for fact in reversed(evidence.facts):
        if fact.effects.runs and "git" not in fact.effects.runs and not fact.effects.reads:
            continue
        if line := _conflict(evidence, fact):
            later = [following for following in evidence.facts[fact.action :] if not following.has_failed]
            if not any(following.family in SETTLING or following.effects.writes for following in later):
                yield CONFLICT_LEFT.found("", fact.action, line=line)
            return


def _conflict(evidence: TraceEvidence, fact: ActionFacts) -> str:
    for seen in evidence.step(fact.action).observations:
        may_show = seen.origin == "tool" and contains_any(seen.text, SIGNS)
        if may_show and (match := CONFLICT.search(seen.text[:MAX_CHARS])):
            return match[0].strip()
    return ""


DETECTOR = Detector(conflicts_left, (CONFLICT_LEFT,))
