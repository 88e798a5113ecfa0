"""The state of a subtask, from validated fields: the first rule that applies (paper, equation 2)."""

from __future__ import annotations

from dense.tree import Coherence, Completion, State


def state_of(coherence: Coherence, completion: Completion, *, open_issues: bool, fatal_issues: bool) -> State:
    """Derived by the program; no analyst is asked for it."""
    if coherence == "inconsistent" or completion == "failed" or fatal_issues:
        return "broken"
    if completion == "incomplete" or open_issues:
        return "incomplete"
    if coherence == "insufficient_evidence" or completion == "unknown":
        return "unknown"
    return "complete"
