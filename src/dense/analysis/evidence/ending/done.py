"""What the task demands, and what the trace shows of it: each requirement met, not met or unchecked, with its action.

A requirement is met only by evidence that could have failed: a program that ran, a result of a program that was seen, a
command of the task that passed. A file that was there before, and a value that the agent made up, are no evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from dense.analysis.evidence.checks.checks import Check
from dense.analysis.evidence.checks.scopes import is_same_run, program_of
from dense.analysis.evidence.deliverables.tracking import (
    TrackedFile,
    is_single_file,
    runs_after_writing,
    tries_something,
    typed_contents,
)
from dense.analysis.evidence.ending.ending import plan_items, submitted_answer
from dense.analysis.evidence.ending.limits import is_exact, is_result_limit, measured_limit
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.file_names import PROGRAM_ENDINGS
from dense.knowledge.programs import programs_that
from dense.trajectory import Step
from dense.tree import Met

PLACEHOLDER = re.compile(r"\s+(?:[A-Z_]+|<[^>]*>|\[[^\]]*\]|\.\.\.|…|\$\w+)(?=\s|$)")
"""A placeholder argument for any value: `run.py N`, `run.py <input>`."""

ANSWER_FORM = re.compile(r"\w{2,20}\{[^{}]*(?:\.\.\.|…|\w+)[^{}]*\}")
"""How a task writes the form of its answer: `flag{...}`."""

STOP = re.compile(r"(?:^|[\n;&|(])\s*(?:pkill|killall|kill(?!\s+-0\b))\s")
"""A command that ends a process; `kill -0` only asks whether one is there."""

BUILDERS = programs_that("builds") | {"gcc", "g++", "cc", "clang", "javac", "rustc"}
"""Runners of checks that only show that something can be built, unless they have a target."""

MIN_ANSWER_CHARS = 6
"""A shorter value may be in an output by chance."""

type Kind = Literal["file", "behaviour", "command", "limit", "port", "answer"]


class DemandEvidence(Struct, frozen=True):
    """One thing that the task demands, and what the trace shows of it."""

    kind: Kind
    subject: str
    """The path, the command, the limit, the port, the form of the answer, as the task writes it."""
    met: Met
    actions: tuple[int, ...] = ()
    """The actions that show it."""
    is_change: bool = False
    """Whether it asks for a change of a file that was there before."""


def _shown(kind: Kind, subject: str, action: int, *, is_change: bool = False) -> DemandEvidence:
    """A demand that an action shows to be met, or that is unchecked if the action is 0."""
    return DemandEvidence(kind, subject, "yes" if action else "unchecked", (action,) if action else (), is_change)


def demands(evidence: TraceEvidence) -> list[DemandEvidence]:
    """What the task asks for, but for demands in free words: no rule can say whether these are met."""
    passed = [check for check in evidence.checks if check.has_passed and _is_of_task(evidence, check)]
    check = passed[-1].action if passed and passed[-1].action > evidence.last_change > 0 else 0
    files = [_file(evidence, file, check) for file in evidence.tracked_files]
    commands = _commands(evidence)
    files += _unchecked_programs(evidence) if not check and not commands else []
    shown = max((action for command in commands for action in command.actions), default=0) if _are_met(commands) else 0
    return [*files, *commands, *_limits(evidence, shown), *_ports(evidence), *_answers(evidence)]


def _are_met(demands: Sequence[DemandEvidence]) -> bool:
    return all(demand.met == "yes" for demand in demands)


def is_work_shown(evidence: TraceEvidence) -> bool:
    """Whether every demand is met, or a check of the task passed after the last change. A patch to a repository is
    judged by tests that the trace does not show: nothing in it shows that such work is done."""
    if evidence.submitted_diff is not None or _is_one_untouched(evidence):
        return False
    demanded = demands(evidence)
    if not demanded:
        passed = [check for check in evidence.checks if check.has_passed and _is_of_task(evidence, check)]
        return bool(passed) and passed[-1].action > evidence.last_change > 0
    return _are_met(demanded)


def is_verified(evidence: TraceEvidence) -> bool:
    """Whether all files that the task asks for were made, and what ran or read them after the last change did not fail:
    a run that a limit ends then may have been finished."""
    last = evidence.last_change
    if not last or not evidence.step(last).observations or not all(file.made for file in evidence.tracked_files):
        return False
    plans = [items for step in evidence.steps if (items := list(plan_items(step)))]
    if plans and not all(item.is_done for item in plans[-1]):
        return False
    answered = [fact for fact in evidence.facts[last - 1 :] if evidence.step(fact.action).observations]
    after = [fact for fact in answered if runs_something(fact)]
    failed = [check for check in evidence.checks if check.action >= last and check.has_passed is False]
    if failed or any(fact.has_failed for fact in after):
        return False
    demanded = demands(evidence)
    return (bool(demanded) and _are_met(demanded)) or any(fact.action > last for fact in after)


def is_shown_done(evidence: TraceEvidence) -> bool:
    """Whether the trace shows that what was asked for is there, and it was handed over."""
    return evidence.ending.kind == "handed_over" and is_work_shown(evidence)


def _file(evidence: TraceEvidence, file: TrackedFile, check: int) -> DemandEvidence:
    """`check`: the action of a check of the task that passed after the last change; 0 if there is none."""
    if file.is_missing and not file.may_exist:
        return DemandEvidence("file", file.path, "no", tuple(sorted({*file.missed[-1:], *file.tried[-1:]})))
    shown = check
    if not shown and file.is_missing:
        shown = _conversion(evidence, file.path)
    elif not shown and not file.is_old:
        shown = _first_run(evidence, file) if _is_program(file.path) else _sight(evidence, file)
    return _shown("file", file.path, shown, is_change=file.is_old and bool(file.made))


def _conversion(evidence: TraceEvidence, path: str) -> int:
    """The last action that gave a file of the same stem to a program after the last change, as compilers make `a.vo`
    out of `a.v` without a word; 0 if there is none."""
    stem = base_name(path).rpartition(".")[0]
    for fact in reversed(evidence.facts[evidence.last_change :]):
        if fact.is_answered and tries_something(fact.effects) and any(f"{stem}." in text for text in fact.commands):
            return 0 if fact.has_failed else fact.action
    return 0


def _is_program(path: str) -> bool:
    return path.endswith(PROGRAM_ENDINGS) or "." not in base_name(path)


def _sight(evidence: TraceEvidence, file: TrackedFile) -> int:
    """The last action that shows a file, if its contents are no guess; 0 if there is none."""
    if not file.made:
        return file.seen_at if file.is_shown else 0
    last_write = file.made[-1]
    if not file.is_shown:
        return _run_after(evidence, last_write, file.path)
    shown = evidence.output(file.seen_at)
    typed = typed_contents(evidence.step(last_write), file.path)
    is_guess = evidence.origins.is_guess(shown, last_write) or evidence.origins.is_own_text(typed, last_write)
    return _run_after(evidence, last_write, file.path) if is_guess else file.seen_at


def _run_after(evidence: TraceEvidence, written_at: int, path: str) -> int:
    """The first action that gives a file to a program after it was made, and does not fail; 0 if there is none."""
    for fact in evidence.facts[written_at:]:
        is_tried = fact.phase in ("run", "verify") or tries_something(fact.effects)
        if is_tried and not fact.has_failed and any(base_name(path) in text for text in fact.commands):
            return fact.action
    return (
        written_at
        if not evidence.fact(written_at).has_failed and runs_after_writing(evidence.step(written_at), path)
        else 0
    )


def _unchecked_programs(evidence: TraceEvidence) -> list[DemandEvidence]:
    """A program that no check passed for after its last change: that it runs does not show that it does what the task
    asks for."""
    programs = [file for file in evidence.tracked_files if file.made and not file.is_old and _is_program(file.path)]
    last = min((file.made[-1] for file in programs), default=0)
    passed = (check for check in evidence.checks if check.has_passed and check.action >= last)
    if not programs or any(check.runner not in BUILDERS for check in passed):
        return []
    return [DemandEvidence("behaviour", programs[0].path, "unchecked")]


def _first_run(evidence: TraceEvidence, file: TrackedFile) -> int:
    """The first action that ran something after a program was last changed, and did not fail: what runs may import the
    program. 0 if there is none, or if the last run of the program itself failed."""
    last = max(file.made, default=0)
    own = [fact for fact in evidence.facts[max(last - 1, 0) :] if _runs(fact, file.path)]
    if own and own[-1].has_failed:
        return 0
    ran = [*own[:1], *[fact for fact in evidence.facts[last:] if runs_something(fact)]]
    runs = min((fact.action for fact in ran if not fact.has_failed), default=0)
    return runs or (_run_after(evidence, last, file.path) if last else 0)


def _runs(fact: ActionFacts, path: str) -> bool:
    return any(same_file(path, script) for script in fact.effects.scripts)


def runs_something(fact: ActionFacts) -> bool:
    """Whether an action runs a program or a check."""
    return bool(fact.effects.scripts) or fact.is_check or fact.phase == "run"


def _commands(evidence: TraceEvidence) -> list[DemandEvidence]:
    """The commands that the task names. Those that it only mentions, as it does the command that failed or the program
    to be replaced, count if nothing else is asked for: no file, and no command that is shown to work."""
    roles = {
        requirement.subject: requirement.role for requirement in evidence.requirements if requirement.kind == "command"
    }
    commands = list(_named_commands(evidence))
    if not evidence.tracked_files and not any(command.met == "yes" for command in commands):
        return commands
    return [
        command for command in commands if command.met != "unchecked" or roles.get(command.subject) == "deliverable"
    ]


def _named_commands(evidence: TraceEvidence) -> Iterator[DemandEvidence]:
    roles = {
        requirement.subject: requirement.role for requirement in evidence.requirements if requirement.kind == "command"
    }
    for command in evidence.named_checks:
        named = [program_of(command), *(word for word in command.split() if "." in word)]
        if roles.get(command) != "deliverable" and any(_is_new(evidence, path) for path in named):
            continue  # a suggestion how to run what the attempt writes
        runs = [check for check in evidence.checks if check.has_passed is not None and _names_run(check, command)]
        runs = [check for check in runs if _is_whole(evidence, check, command)]
        if not runs:
            yield _shown("command", command, _run_with_values(evidence, command))
        elif not runs[-1].has_passed:
            yield DemandEvidence("command", command, "no", (runs[-1].action,))
        else:
            yield _shown("command", command, runs[-1].action if runs[-1].action >= evidence.last_change else 0)


def _names_run(check: Check, command: str) -> bool:
    return any(command in text or is_same_run(command, text) for text in (check.command, *check.commands))


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


def _limits(evidence: TraceEvidence, check: int) -> Iterator[DemandEvidence]:
    """Limits. `check`: the last action that shows that all commands of the task work; else a measurement shows it."""
    for requirement in evidence.requirements:
        if requirement.kind == "threshold" and requirement.role == "deliverable" and is_result_limit(requirement):
            measured = measured_limit(evidence, requirement)
            if measured is not None and not measured.is_kept:
                yield DemandEvidence("limit", requirement.subject, "no", (measured.action,))
            else:
                yield _shown(
                    "limit", requirement.subject, measured.action if measured else 0 if is_exact(requirement) else check
                )


def _ports(evidence: TraceEvidence) -> Iterator[DemandEvidence]:
    for requirement in evidence.requirements:
        if requirement.kind == "port" and requirement.role == "deliverable":
            yield _shown("port", requirement.subject, _answer_of_port(evidence, requirement.subject))


def _answers(evidence: TraceEvidence) -> Iterator[DemandEvidence]:
    """The form that the task gives for its answer, `flag{...}`: met if the answer has it, an output had shown the
    answer before the agent typed it, and nobody rejected it."""
    forms = [
        requirement.subject
        for requirement in evidence.requirements
        if requirement.kind == "value" and ANSWER_FORM.fullmatch(requirement.subject)
    ]
    if not forms or evidence.ending.kind != "handed_over":
        return
    last, step = evidence.facts[-1], evidence.steps[-1]
    said = submitted_answer(last, step) if last.phase == "deliver" else step.message
    prefix = forms[0][: forms[0].index("{") + 1]
    answers = re.findall(rf"{re.escape(prefix)}[^{{}}\s]+\}}", said)
    answer = answers[-1] if answers else ""
    is_rejected = any(
        rejection.action == last.action or rejection.answer == answer for rejection in evidence.rejections
    )
    yield _shown("answer", forms[0], 0 if is_rejected or not answer else sight_of_answer(evidence, answer))


def sight_of_answer(evidence: TraceEvidence, answer: str) -> int:
    """The first action whose output shows an answer, or what its braces hold; 0 if the agent typed it first."""
    inner = answer.partition("{")[2].rstrip("}")
    values = [answer, inner] if len(inner) >= MIN_ANSWER_CHARS else [answer]
    return next((action for value in values if (action := _first_sight(evidence, value))), 0)


def _first_sight(evidence: TraceEvidence, value: str) -> int:
    """The first action whose output shows a value; 0 if none does, or the agent had typed the value before."""
    for fact, step in zip(evidence.facts[:-1], evidence.steps, strict=False):
        if any(value in str(given) for call in step.calls for given in call.arguments.values()):
            return 0
        if any(value in output.text for output in step.observations if output.origin == "tool"):
            return fact.action
    return 0


def _answer_of_port(evidence: TraceEvidence, port: str) -> int:
    """The last action that asked a port and got an answer; 0 if there is none, or a process was ended after it."""
    for fact in reversed(evidence.facts[max(evidence.last_change - 1, 0) :]):
        _, asked, after = "\n".join(fact.commands).rpartition(f":{port}")
        if STOP.search(after):
            return 0
        if asked and not fact.has_failed and not fact.result.is_empty:
            return fact.action
    return 0


def _is_one_untouched(evidence: TraceEvidence) -> bool:
    """Whether sentences that ask for files name another that nothing names: it may be asked for as well."""
    clauses = {file.requirement.clause for file in evidence.tracked_files}
    others = [
        requirement
        for requirement in evidence.requirements
        if requirement.kind == "file" and requirement.role == "mentioned"
    ]
    names = [base_name(other.subject) for other in others if other.clause in clauses and is_single_file(other.subject)]
    return not all(any(_names(step, name) for step in evidence.steps) for name in names)


def _names(step: Step, name: str) -> bool:
    typed = (str(value) for call in step.calls for value in call.arguments.values())
    return any(name in text for text in typed) or any(name in output.text for output in step.observations)


def _is_of_task(evidence: TraceEvidence, check: Check) -> bool:
    """Whether the task names a check that the agent did not write: its own checks only show that it is content."""
    tests = evidence.named_tests
    is_named = any(name in check.command for name in evidence.named_checks)
    if not is_named and not any(name in check.command or not check.subjects for name in tests):
        return False
    checked = check.subjects or {name.removesuffix(".py") for name in tests}
    programs = {base_name(path).removesuffix(".py") for path in evidence.deliverables}
    return evidence.written_names.isdisjoint(checked - programs)
