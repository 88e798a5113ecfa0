"""Programs that the task asks for, that were written, and that nothing ever ran."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.detectors.finding import Finding, FindingCode
from dense.detectors.registry import Detector
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import PROGRAM_ENDINGS
from dense.evidence.trace import TraceEvidence

PROGRAM_NEVER_RUN = FindingCode(
    "program_never_run", "A program that the task asks for was written and never run.", "serious"
)
NOT_TO_RUN = re.compile(
    r"\b(?:no need to|(?:do|need|should)(?: not|n't)(?: need to)?|without|never) (?:run|execut|test|start)",
    re.IGNORECASE,
)
"""Words of a task that asks for something to be written and not run."""


def never_run_programs(evidence: TraceEvidence) -> Iterator[Finding]:
    """New programs of the task, if no action ran anything from the first time they were written on: a program that
    runs may import them."""
    if not may_run(evidence):
        return
    for file in evidence.tracked_files:
        is_new = bool(file.made) and not file.is_old
        if is_new and file.path.endswith(PROGRAM_ENDINGS) and not any(map(_runs, evidence.facts[file.made[0] - 1 :])):
            yield PROGRAM_NEVER_RUN.found(file.path, file.made[-1])


def may_run(evidence: TraceEvidence) -> bool:
    """Whether the task does not forbid to run what it asks for."""
    return evidence.task is None or not NOT_TO_RUN.search(evidence.task.instruction)


def _runs(fact: ActionFacts) -> bool:
    return bool(fact.effects.scripts) or fact.is_check or fact.phase == "run"


DETECTOR = Detector(never_run_programs, (PROGRAM_NEVER_RUN,))
