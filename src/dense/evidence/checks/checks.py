"""Tests and checks: which ran, and how they ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from dense.evidence.actions import commands as shell_texts
from dense.evidence.actions import effects
from dense.evidence.checks.no_runs import is_no_run, is_no_test_run, is_stopped
from dense.evidence.checks.scopes import Scope, scope
from dense.evidence.checks.spellings import program_of, runs_alike
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.families import command_family
from dense.evidence.facts.paths import base_name, same_file
from dense.evidence.observations import observe
from dense.evidence.observations.exit_codes import printed_code
from dense.evidence.observations.result import ObservedFailure, ObservedResult
from dense.knowledge.errors import ASSERTION, EXIT
from dense.knowledge.program import words
from dense.knowledge.programs import programs_that
from dense.knowledge.test_runners import RUNNERS
from dense.trajectory import Step

STATIC = programs_that("lints", "formats", "compares") | words(
    "clippy pre-commit lint linter linting typecheck typing types format formatting fmt style stylecheck"
)
"""Checks that look at the text of programs and not at what they do: they complain about much that was there before.
Also what such a check is called where a project gives it a name of its own: `make lint`, `npm run lint:types`."""
NAMING = programs_that("builds", "node_packager")
"""Programs whose targets have names of the project's own."""
SEPARATED = re.compile(r"[-:_./]")
ENDED = re.compile(r"\s*(?:\Z|[;&|<>)\n\"'`#]|[012]>)")
"""What stands behind the last word of a command."""


class Check(Struct, frozen=True):
    """One run of a test or a check, by one call."""

    action: int
    """The action that ran it."""
    command: str
    """Its command, or the runner's name where the command is not known."""
    scope: Scope
    """What it was told to look at."""
    runner: str
    """What ran it: `pytest`, `unittest`, `check_speed.py`, `make test`."""
    has_passed: bool | None
    """None where the observation does not tell."""
    failed: int = 0
    """How many tests failed, where that was counted."""
    names: tuple[str, ...] = ()
    """Tests that failed, a few."""
    line: str = ""
    """What was seen, in a line."""
    is_counted: bool = False
    """Whether a runner counted the tests, and some passed."""
    ran: int = 0
    """How many tests ran, where one line counts them: several may be runs within runs."""
    is_void: bool = False
    """Whether a runner says that it ran none; `line` is where."""

    @property
    def subjects(self) -> frozenset[str]:
        """What it names: base names of files, tests, targets. Empty for a run of everything, or of whole folders."""
        return self.scope.subjects


def checks(facts: Sequence[ActionFacts], steps: Sequence[Step], named: Sequence[str] = ()) -> list[Check]:
    """All checks of a trajectory, in order. `named`: commands that the task itself names as checks."""
    found: list[Check] = []
    families = {command: command_family(command) for command in named}
    for fact in facts:
        texts = "\0".join(fact.commands) if named else ""
        known = [command for command in named if command in texts]
        if not known and fact.effects.scripts and named:
            known = _respelled(named, fact)
        if known or fact.is_check:
            found += _of_action(fact, steps[fact.action - 1], known, families)
    return found


def _respelled(named: Sequence[str], fact: ActionFacts) -> list[str]:
    """The commands that an action runs in other words than the task's."""
    found: list[str] = []
    for path in fact.effects.scripts:
        name = base_name(path)
        for command in named:
            if name in command and same_file(path, program_of(command)):
                found += [command for text in fact.commands if runs_alike(command, text)][:1]
    return found


def _of_action(fact: ActionFacts, step: Step, named: Sequence[str], families: Mapping[str, str]) -> Iterator[Check]:
    """A check for each call that ran one; for the whole action where observations cannot be told apart. `named`: the
    commands in it that the task names; `families`: those of all such commands."""
    for part in _parts(step):
        done = fact.effects if part is step else effects(part)
        texts = (fact.commands if part is step else shell_texts(part)) if named else ()
        came = fact.result if part is step else observe(part, done)
        known = [command for command in named if _runs(command, texts, came)]
        commands = done.tests or known
        if commands or came.tests:
            commands = commands or done.scripts
            first = commands[0] if commands else ""
            family = fact.family if part is step and done.tests else families.get(first) or command_family(first)
            yield _check(fact.action, commands, family, came, part)
        if known and done.tests and came.tests:
            yield from _beside_tests(fact.action, done.tests, known, came)


def _runs(command: str, texts: Sequence[str], came: ObservedResult) -> bool:
    """Whether shell texts run a command that the task names. With more arguments it may be meant to fail, as when an
    agent tries what must not work: that is no failure of what the task names."""
    for text in texts:
        place = text.find(command)
        while place >= 0:
            if not came.has_failed or ENDED.match(text, place + len(command)):
                return True
            place = text.find(command, place + 1)
    return any(runs_alike(command, text) for text in texts)


def _beside_tests(action: int, tests: Sequence[str], named: Sequence[str], came: ObservedResult) -> Iterator[Check]:
    """Checks that the task names and that ran together with tests, into one observation: what is left of its failures
    when the tests have had theirs is not the tests'."""
    wrong = next((failure.line for failure in came.failures if _names_a_test(failure)), "")
    for command in named:
        if not any(command in test or test in command for test in tests):
            has_passed = False if wrong else None if came.failures else True
            yield Check(
                action,
                command,
                scope(command),
                command_family(command),
                has_passed,
                bool(wrong),
                (),
                wrong,
            )


def _check(action: int, commands: Sequence[str], family: str, came: ObservedResult, step: Step) -> Check:
    """What commands checked, of which the first one is of this family."""
    command = commands[0] if commands else ""
    looks_at = scope(command) if len(commands) == 1 else _joined([scope(text) for text in commands])
    if runs := [run for run in came.tests if not is_no_test_run(run)]:
        failed = sum([run.failed for run in runs])
        passed = [run.passed for run in runs]
        has_passed = failed == 0 and passed.count(0) < len(passed)
        line = next((run.line for run in reversed(runs) if run.failed), "") if failed else runs[-1].line
        line = _verdict(line, step) if failed and line.startswith("Ran ") else line
        names = tuple([name for run in runs for name in run.names])
        runner = family or runs[-1].runner
        is_counted = any(passed)
        ran = failed + (passed[0] or 0) if len(runs) == 1 and passed[0] is not None else 0
        return Check(action, command or runner, looks_at, runner, has_passed, failed, names, line, is_counted, ran)
    if came.tests:
        is_void = not came.has_failed
        line = came.tests[-1].line if is_void else ""
        return Check(action, command or family, looks_at, family, None, line=line, is_void=is_void)
    told = [failure for failure in came.failures if not is_no_run(failure, family)]
    if not came.failures and command and (printed := _printed(command, step)) is not None and printed[0]:
        return Check(action, command, looks_at, family, False, 1, (), printed[1] or f"exit {printed[0]}")
    is_silent = family in RUNNERS.counting and not any(_names_a_test(failure) for failure in told)
    if len(told) < len(came.failures) or came.is_empty or is_silent:
        return Check(action, command, looks_at, family, None)
    line = (told[-1].line if told[-1].family is not EXIT else _last_line(step) or told[-1].line) if told else ""
    if is_stopped(line):
        return Check(action, command, looks_at, family, None)
    if came.reported_problem:
        return Check(action, command, looks_at, family, None, 0, (), came.reported_problem)
    if not told and family not in STATIC and _is_masked(command, step):
        return Check(action, command, looks_at, family, None)
    return Check(action, command, looks_at, family, not told, int(bool(told)), (), line)


def _printed(command: str, step: Step) -> tuple[int, str] | None:
    """The code that the agent had printed after the command, where the observation shows it."""
    typed = _text(step)
    return printed_code(command, typed, step.observations[-1].text) if "$?" in typed and step.observations else None


def _is_masked(command: str, step: Step) -> bool:
    """Whether another command takes the check's place where it fails, so that the exit code does not tell."""
    for call in step.calls:
        for value in call.arguments.values():
            if isinstance(value, str) and "||" in value and (place := value.find(command)) >= 0:
                return "||" in value[place:].partition("\n")[0]
    return False


def _verdict(line: str, step: Step) -> str:
    """Of a run by unittest, what stands below the line that counts: how many failed."""
    text = step.observations[-1].text if step.observations else ""
    place = text.find("\nFAILED (", text.find(line))
    return text[place : place + 200].strip().partition("\n")[0] if place >= 0 else line


def _names_a_test(failure: ObservedFailure) -> bool:
    return failure.family is ASSERTION or failure.line.startswith(("FAILED", "FAIL:", "FAIL ", "not ok"))


def _last_line(step: Step) -> str:
    lines = step.observations[-1].text[-2000:].split("\n") if step.observations else []
    return next((line.strip() for line in reversed(lines) if line.strip() and not line.startswith("<")), "")


def _parts(step: Step) -> Iterable[Step]:
    """The step call by call, where each call has an observation of its own."""
    if len(step.calls) < 2:
        return (step,)
    answers = {seen.call_id: seen for seen in step.observations if seen.call_id is not None}
    if len(answers) < len(step.calls) or not all(call.id in answers for call in step.calls):
        return (step,)
    return [
        msgspec.structs.replace(step, message="", calls=(call,), observations=(answers[call.id],))
        for call in step.calls
        if call.id is not None
    ]


def _text(step: Step) -> str:
    return "\n".join([str(value) for call in step.calls for value in call.arguments.values()])


def _joined(scopes: Sequence[Scope]) -> Scope:
    """The scope of several commands that were seen together."""
    return Scope(
        frozenset(name for one in scopes for name in one.subjects),
        tuple(path for one in scopes for path in one.paths),
        tuple(path for one in scopes for path in one.folders),
        tuple(label for one in scopes for label in one.labels),
        frozenset(name for one in scopes for name in one.tests),
        tuple(name for one in scopes for name in one.left_out),
    )


def is_static(check: Check) -> bool:
    """Whether a check only looks at texts."""
    words = check.runner.split()
    if not STATIC.isdisjoint(words):
        return True
    return len(words) > 1 and words[0] in NAMING and not STATIC.isdisjoint(SEPARATED.split(words[-1]))
