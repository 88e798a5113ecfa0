"""Whether the trace itself shows that what was asked for is there."""

from __future__ import annotations

from dense.evidence.checks.checks import Check
from dense.evidence.deliverables.tracking import TrackedFile, is_single_file
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import base_name
from dense.evidence.trace import TraceEvidence
from dense.trajectory import Step


def is_shown_done(evidence: TraceEvidence) -> bool:
    """Whether every deliverable was seen after it was made, or a check of the task passed after the last change."""
    named = evidence.named_checks
    passed = [check for check in evidence.checks if check.has_passed and _is_of_task(evidence, check)]
    if named and not any(name in check.command for check in passed for name in named):
        return False
    if not named and any(one.kind == "threshold" and one.role == "deliverable" for one in evidence.requirements):
        return False  # a limit that no command checks
    is_checked = bool(passed) and passed[-1].action > evidence.last_change > 0
    if not evidence.tracked_files:
        return is_checked
    if not all(file.is_shown for file in evidence.tracked_files) or _is_one_untouched(evidence):
        return False
    return is_checked or all(_is_new(evidence, file) for file in evidence.tracked_files)


def _is_one_untouched(evidence: TraceEvidence) -> bool:
    """Whether the sentences that ask for files name another one that no call and no output names: it may be asked for
    as well, in words that were not understood."""
    clauses = {file.requirement.clause for file in evidence.tracked_files}
    others = [one for one in evidence.requirements if one.kind == "file" and one.role == "mentioned"]
    names = [base_name(one.subject) for one in others if one.clause in clauses and is_single_file(one.subject)]
    return not all(any(_names(step, name) for step in evidence.steps) for name in names)


def _names(step: Step, name: str) -> bool:
    typed = (str(value) for call in step.calls for value in call.arguments.values())
    return any(name in text for text in typed) or any(name in seen.text for seen in step.observations)


def _is_new(evidence: TraceEvidence, file: TrackedFile) -> bool:
    """Whether it means something to see a file: it was not there before, and its contents are no guess."""
    if file.is_old:
        return False
    shown = program_output(evidence.fact(file.seen_at), evidence.step(file.seen_at))
    return not (file.made and evidence.origins.is_guess(shown, file.made[-1]))


def _is_of_task(evidence: TraceEvidence, check: Check) -> bool:
    """Whether the task itself names a check, and the agent did not write it. A check of the agent's own shows that the
    agent is content, not that the task is done."""
    tests = evidence.named_tests
    is_named = any(name in check.command for name in evidence.named_checks)
    if not is_named and not any(name in check.command or not check.subjects for name in tests):
        return False
    checked = check.subjects or {name.removesuffix(".py") for name in tests}
    programs = {base_name(path).removesuffix(".py") for path in evidence.deliverables}
    return evidence.written_names.isdisjoint(checked - programs)
