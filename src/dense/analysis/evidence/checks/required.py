"""Which checks the task asks to pass: it names the command or the file of the tests, or asks for failing tests to pass.

The last run of such a check decides, also if it failed before anything was changed."""

from __future__ import annotations

from dense.analysis.evidence.checks.checks import Check, is_static
from dense.analysis.evidence.checks.scopes import is_same_run
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.evidence.requirements.extract import is_bug_report
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern

WANTS_PASSING = GuardedPattern(pattern("wants_passing"))
MAX_TASK_CHARS = 8_000


def is_required(evidence: TraceEvidence, check: Check) -> bool:
    """Whether the task asks for a check to pass. The agent's own tests are none of the task's."""
    if any(command in check.command or is_same_run(command, check.command) for command in evidence.named_checks):
        return True
    if is_static(check) or not (check.ran or check.names) or not evidence.written_names.isdisjoint(check.subjects):
        return False
    return _covers_named_tests(evidence, check) or asks_for_passing_tests(evidence)


def asks_for_passing_tests(evidence: TraceEvidence) -> bool:
    """Whether the task says that tests fail, or are to pass. A report of a bug only says how it shows."""
    text = evidence.task.instruction[:MAX_TASK_CHARS] if evidence.task else ""
    return bool(WANTS_PASSING.search(text)) and not is_bug_report(text.lower())


def _covers_named_tests(evidence: TraceEvidence, check: Check) -> bool:
    """Whether a check runs tests whose file the task names; of a run of everything, if one of these may have failed."""
    stems = {name.partition(".")[0] for name in evidence.given_tests}
    if not stems:
        return False
    if check.subjects:
        return not stems.isdisjoint(base_name(subject).partition(".")[0] for subject in check.subjects)
    files = {base_name(name.partition("::")[0]) for name in check.names if "::" in name}
    return not files or any(file.partition(".")[0] in stems for file in files)
