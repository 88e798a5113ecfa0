"""The last action, if it failed and no other finding covers it: a push, a merge, an edit, an installation."""

from __future__ import annotations

from collections.abc import Iterator

from dense.analysis.detectors.failed_programs import may_be_intended
from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.programs import LASTING_COMMANDS

LAST_ACTION_FAILED = FindingCode(
    name="last_action_failed",
    meaning="The last action failed and no other finding covers it.",
    severity="doubt",
    covers_failures=False,
)
WORKING_PHASES = frozenset({"produce", "setup", "run"})
CLEANUP_FAMILIES = frozenset({"kill", "pkill", "killall", "git commit"})
"""Commands that fail if there is nothing left for them to do."""


def failed_last_action(evidence: TraceEvidence) -> Iterator[Finding]:
    """The last action that was to get something done, if it failed; actions that only look do not count."""
    last = next((fact for fact in reversed(evidence.facts) if _ends_search(evidence, fact)), None)
    if last is None or last.is_check or last.delegates_to or not last.has_failed or last.result.exit_code == 0:
        return
    if not may_be_intended(evidence, last):
        yield LAST_ACTION_FAILED.found("", last.action)


def _ends_search(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    if fact.is_check or fact.delegates_to:
        return True
    return not _only_looks(fact) and (not fact.has_failed or _matters(evidence, fact))


def _only_looks(fact: ActionFacts) -> bool:
    """Whether an action gets nothing done: it says something, or reads a file or a database."""
    effects = fact.effects
    if fact.phase not in WORKING_PHASES:
        return True
    has_effect = effects.writes or effects.deletes or effects.scripts or effects.installs or effects.services
    return fact.phase == "run" and bool(effects.reads) and not has_effect


def _matters(evidence: TraceEvidence, fact: ActionFacts) -> bool:
    """Whether a failure matters: not if the action only cleans up, probes before the first change, or lacks a tool."""
    if fact.family in CLEANUP_FAMILIES or (fact.effects.deletes and not fact.effects.writes):
        return False
    if fact.family in LASTING_COMMANDS or fact.phase == "produce":
        return True
    if fact.phase == "setup":
        return bool(fact.effects.runs or fact.effects.writes)
    is_missing = any(failure.family.is_missing_dependency for failure in fact.result.failures)
    return fact.action > evidence.first_change and not is_missing


DETECTOR = Detector(failed_last_action, (LAST_ACTION_FAILED,), is_fallback=True)
