"""What the task demands, and what the trace shows of it: each requirement met, not met or unchecked, with its action.

A requirement is met only by evidence that could have failed: a program that ran, a result of a program that was seen, a
command of the task that passed. A file that was there before, and a value that the agent made up, are no evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from dense.evidence.checks.checks import Check
from dense.evidence.checks.spellings import program_of
from dense.evidence.deliverables.tracking import TrackedFile, is_single_file
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.paths import PROGRAM_ENDINGS, base_name, same_file
from dense.evidence.trace import TraceEvidence
from dense.trajectory import Step
from dense.tree import Met

PLACEHOLDER = re.compile(r"\s+(?:[A-Z_]+|<[^>]*>|\[[^\]]*\]|\.\.\.|…|\$\w+)(?=\s|$)")
"""An argument that stands for any value: `run.py N`, `run.py <input>`."""


type Kind = Literal["file", "command", "limit", "port"]


class DemandEvidence(Struct, frozen=True):
    """One thing that the task demands, and what the trace shows of it."""

    kind: Kind
    subject: str
    """The path, the command, the limit, the port, as the task writes it."""
    met: Met
    actions: tuple[int, ...] = ()
    """The actions that show it."""
    is_change: bool = False
    """Whether it asks for a change of a file that was there before."""

    @property
    def is_met(self) -> bool:
        return self.met == "yes"


def _shown(kind: Kind, subject: str, action: int, *, is_change: bool = False) -> DemandEvidence:
    """A demand that an action shows to be met, or that is unchecked if the action is 0."""
    return DemandEvidence(kind, subject, "yes" if action else "unchecked", (action,) if action else (), is_change)


def demands(evidence: TraceEvidence) -> list[DemandEvidence]:
    """The files, commands, limits and ports that the task asks for. Demands in free words are not among them: no rule
    can say whether they are met."""
    passed = [check for check in evidence.checks if check.has_passed and _is_of_task(evidence, check)]
    check = passed[-1].action if passed and passed[-1].action > evidence.last_change > 0 else 0
    files = [_file(evidence, file, check) for file in evidence.tracked_files]
    return [*files, *_commands(evidence), *_numbers(evidence, check)]


def is_work_shown(evidence: TraceEvidence) -> bool:
    """Whether every demand is met, or a check of the task passed after the last change. A patch to a repository is
    judged by tests that the trace does not show: nothing in it shows that such work is done."""
    if evidence.submitted_diff is not None or _is_one_untouched(evidence):
        return False
    found = demands(evidence)
    if not found:
        passed = [check for check in evidence.checks if check.has_passed and _is_of_task(evidence, check)]
        return bool(passed) and passed[-1].action > evidence.last_change > 0
    return all(one.is_met for one in found)


def is_shown_done(evidence: TraceEvidence) -> bool:
    """Whether the trace shows that what was asked for is there, and it was handed over."""
    return evidence.ending.kind == "handed_over" and is_work_shown(evidence)


def _file(evidence: TraceEvidence, file: TrackedFile, check: int) -> DemandEvidence:
    """`check`: the action of a check of the task that passed after the last change; 0 if there is none."""
    if file.is_missing and not file.may_exist:
        return DemandEvidence("file", file.path, "no", tuple(sorted({*file.missed[-1:], *file.tried[-1:]})))
    shown = check
    if not shown and not file.is_old:
        shown = _first_run(evidence, file) if file.path.endswith(PROGRAM_ENDINGS) else _sight(evidence, file)
    return _shown("file", file.path, shown, is_change=file.is_old and bool(file.made))


def _sight(evidence: TraceEvidence, file: TrackedFile) -> int:
    """The last action that shows a file, if its contents are no guess; 0 if there is none."""
    if not file.is_shown:
        return 0
    shown = program_output(evidence.fact(file.seen_at), evidence.step(file.seen_at))
    return 0 if file.made and evidence.origins.is_guess(shown, file.made[-1]) else file.seen_at


def _first_run(evidence: TraceEvidence, file: TrackedFile) -> int:
    """The first action that ran something after a program was last changed, and did not fail: what runs may import the
    program. 0 if there is none."""
    last = max(file.made, default=0)
    own = evidence.fact(last) if last else None
    if (
        own is not None
        and not own.has_failed
        and any(base_name(one) == base_name(file.path) for one in own.effects.scripts)
    ):
        return last
    return next((fact.action for fact in evidence.facts[last:] if runs_something(fact) and not fact.has_failed), 0)


def runs_something(fact: ActionFacts) -> bool:
    """Whether an action runs a program or a check."""
    return bool(fact.effects.scripts) or fact.is_check or fact.phase == "run"


def _commands(evidence: TraceEvidence) -> Iterator[DemandEvidence]:
    """The commands that must work, and the tests that the task names."""
    roles = {one.subject: one.role for one in evidence.requirements if one.kind == "command"}
    for command in evidence.named_checks:
        if roles.get(command) != "deliverable" and _is_new(evidence, program_of(command)):
            continue  # a suggestion how to run what the attempt writes
        runs = [check for check in evidence.checks if command in check.command and check.has_passed is not None]
        runs = [check for check in runs if _is_whole(evidence, check, command)]
        if not runs:
            yield _shown("command", command, _run_with_values(evidence, command))
        elif not runs[-1].has_passed:
            yield DemandEvidence("command", command, "no", (runs[-1].action,))
        else:
            yield _shown("command", command, runs[-1].action if runs[-1].action >= evidence.last_change else 0)


def _is_whole(evidence: TraceEvidence, check: Check, command: str) -> bool:
    """Whether a check runs a command of the task, and not only what the attempt wrote for it itself."""
    return evidence.written_names.isdisjoint(name for name in check.subjects if name not in command)


def _is_new(evidence: TraceEvidence, path: str) -> bool:
    """Whether the attempt wrote a file, and had not looked at it before."""
    first = next((action for action, name in evidence.changes if name == base_name(path)), 0)
    before = [read for fact in evidence.facts[: max(first - 1, 0)] for read in fact.effects.reads]
    return bool(first) and not any(same_file(path, read) for read in before)


def _run_with_values(evidence: TraceEvidence, command: str) -> int:
    """The last action that ran a command with values for its placeholders and printed something; 0 if there is none."""
    fixed = PLACEHOLDER.split(command)[0]
    if fixed == command:
        return 0
    for fact in reversed(evidence.facts[max(evidence.last_change - 1, 0) :]):
        if any(fixed in text for text in fact.commands) and not fact.has_failed and not fact.result.is_empty:
            return fact.action
    return 0


def _numbers(evidence: TraceEvidence, check: int) -> Iterator[DemandEvidence]:
    """Limits, which only a check of the task shows, and ports, which an answer shows."""
    for one in evidence.requirements:
        if one.role != "deliverable":
            continue
        if one.kind == "threshold":
            yield _shown("limit", one.subject, check)
        elif one.kind == "port":
            yield _shown("port", one.subject, check or _answer_of_port(evidence, one.subject))


def _answer_of_port(evidence: TraceEvidence, port: str) -> int:
    """The last action that asked a port and got an answer; 0 if there is none."""
    for fact in reversed(evidence.facts[evidence.last_change :]):
        if any(f":{port}" in text for text in fact.commands) and not fact.has_failed and not fact.result.is_empty:
            return fact.action
    return 0


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
