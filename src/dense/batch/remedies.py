"""Which command made the difference between an action that failed and the later one that worked."""

from __future__ import annotations

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.trace import TraceEvidence

MAX_COMMAND = 160


def remedy_of(failed: ActionFacts, family: str, subject: str, recovery: int, evidence: TraceEvidence) -> str:
    """The command; empty if it cannot be said."""
    del failed, family, subject, recovery, evidence
    return ""
