"""The last program that ran, if it failed or if its output is called wrong."""

from __future__ import annotations

from collections.abc import Iterator

from dense.analysis.actions.observations.context import last_program
from dense.analysis.detectors.registry import Detector, Finding, FindingCode, each_of
from dense.analysis.evidence.facts.facts import ActionFacts, says_expected
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.errors import BUILD, ErrorFamily
from dense.knowledge.programs import LOOKERS

PROGRAM_FAILED = FindingCode(name="program_failed", meaning="The last program that ran failed.", severity="serious")
OUTPUT_DOUBTED = FindingCode(
    name="output_doubted", meaning="The agent, or the program itself, calls the last output wrong.", severity="doubt"
)
RUNNING_PHASES = frozenset({"run", "verify"})
TRACEBACK_CHARS = 4_000
"""How much of the end of an output is searched for the files of a traceback."""


def failed_program(evidence: TraceEvidence) -> Iterator[Finding]:
    """The last program that ran, if it failed: nothing later shows that the fault is gone."""
    ran = [fact for fact in evidence.facts if fact.effects.scripts or _runs_something(fact)]
    last = ran[-1] if ran else None
    if last is None or not last.has_failed or any(check.action == last.action for check in evidence.checks):
        return
    families = _families(last)
    if not families or not families[-1].is_program_fault or any(family.is_missing_dependency for family in families):
        return
    if last.action < evidence.first_change or may_be_intended(evidence, last):
        return
    is_doubt = last.phase not in RUNNING_PHASES or _is_overtaken(evidence, last)
    # Configuring or building that fails after it is what it comes down to.
    later = [fact.action for fact in evidence.facts[last.action :] if BUILD in _families(fact)]
    yield PROGRAM_FAILED.found("", [last.action, *later][-1], severity="doubt" if is_doubt else "serious")


def _is_overtaken(evidence: TraceEvidence, last: ActionFacts) -> bool:
    """Whether something else ran after the last change and worked, and what failed is code on the command line or a
    file of the agent's own that the task does not name: a probe, not the work."""
    named = {base_name(requirement.subject) for requirement in evidence.requirements if requirement.kind == "file"}
    scripts = {base_name(path) for path in last.effects.scripts}
    own = {name.removesuffix(".py") for name in scripts}
    is_probe = scripts.isdisjoint(named) and evidence.written_names.issuperset(own)
    after = evidence.facts[evidence.last_change : last.action - 1]
    return is_probe and any(not fact.has_failed and (fact.has_passed or fact.effects.scripts) for fact in after)


def doubted_output(evidence: TraceEvidence) -> Iterator[Finding]:
    """The output of the last program, if the agent calls it wrong, or if it reports a problem in spite of exit 0."""
    ran = (fact for fact in reversed(evidence.facts) if fact.effects.scripts or fact.effects.tests)
    last = next((fact for fact in ran if fact.is_answered), None)
    if last is None or last.has_failed or last.action < evidence.first_change:
        return
    if complaint := evidence.complaint_after(last.action):
        has_changed = int(evidence.last_change > last.action)
        yield OUTPUT_DOUBTED.found("", last.action, complaint=complaint, has_changed=has_changed)
    elif last.result.reported_problem and not _is_called_intended(evidence, last.action):
        scripts, later = last.effects.scripts, evidence.facts[last.action :]
        deleted = ((fact.action, path) for fact in later for path in fact.effects.deletes)
        removed = next((at for at, path in deleted if any(same_file(path, script) for script in scripts)), 0)
        yield OUTPUT_DOUBTED.found("", last.action, printed=last.result.reported_problem, removed_at=removed)


def may_be_intended(evidence: TraceEvidence, run: ActionFacts) -> bool:
    """Whether a failure may be what was wanted, or no failure of the program: it exited with 0, the agent says that
    it is to fail or prints its exit code, or what failed was changed later and the agent went on without it."""
    step = evidence.step(run.action)
    has_own_code = len(step.observations) >= len(step.calls)  # else the exit code is that of all calls together
    if run.result.exit_code == 0 and has_own_code and last_program("\n".join(run.commands)) not in LOOKERS:
        return True
    if _is_called_intended(evidence, run.action) or any("$?" in text for text in run.commands):
        return True
    output = "\n".join(seen.text[-TRACEBACK_CHARS:] for seen in step.observations)
    changed = (path for path, action in evidence.products.items() if action > run.action)
    return any(path in run.effects.scripts or f'{base_name(path)}"' in output for path in changed)


def _runs_something(fact: ActionFacts) -> bool:
    return fact.phase in RUNNING_PHASES and bool(fact.effects.runs)


def _families(fact: ActionFacts) -> list[ErrorFamily]:
    return [failure.family for failure in fact.result.failures]


def _is_called_intended(evidence: TraceEvidence, action: int) -> bool:
    around = evidence.steps[action - 1 : action + 1]
    return any(says_expected(step.message) or says_expected(step.reasoning) for step in around)


DETECTOR = Detector(each_of(failed_program, doubted_output), (PROGRAM_FAILED, OUTPUT_DOUBTED))
