"""Test runs and other checks: which ran or could not, how they ended, and which later one covers a failed one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import msgspec
from msgspec import Struct

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult, TestRun
from dense.analysis.actions.step_effects import commands as shell_texts
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.checks.scopes import Scope, joined, program_of, runs_alike, scope
from dense.analysis.evidence.facts.facts import ActionFacts, is_outcome_hidden
from dense.analysis.evidence.facts.outputs import program_output
from dense.analysis.evidence.facts.paths import base_name, same_file
from dense.analysis.evidence.facts.traits import command_family
from dense.knowledge.error_words import SHELL_PREFIXES, STOPPED, UNSTARTED
from dense.knowledge.errors import EXIT, HTTP, NO_SUCH_FILE, NO_SUCH_MODULE, OTHER
from dense.knowledge.program import words
from dense.knowledge.programs import is_interpreter, program_name, programs_that
from dense.knowledge.test_outputs import DIFFERENCE
from dense.knowledge.test_runners import RUNNERS
from dense.trajectory import Step

STATIC = programs_that("lints", "compares", "formats") | words(
    "clippy pre-commit lint linter linting typecheck typing types format formatting fmt style stylecheck"
)
"""Checks of the text of programs, which complain about much that was there before; also what a project may call
them: `make lint`, `npm run lint:types`."""
TARGET_PROGRAMS = programs_that("builds", "node_packager")
"""Programs whose targets have names of the project's own."""
COMPARING = programs_that("compares")
CLIENTS = programs_that("fetches")
NAME_PARTS = re.compile(r"[-:_./]")
PYTHON_SYNTAX = re.compile(r"(?:E\s+)?(?:SyntaxError|IndentationError|TabError)\b")
"""A fault in a program that keeps a test from starting, and that no environment causes."""
COMMAND_END = re.compile(r"\s*(?:\Z|[;&|<>)\n\"'`#]|[012]>)")
"""What follows the last word of a command."""


class Check(Struct, frozen=True):
    """One run of a test or a check, by one call."""

    action: int
    """The action that ran it."""
    command: str
    """Its command; the runner's name if the command is not known."""
    scope: Scope
    """What its command names to be checked."""
    runner: str
    """What ran it: `pytest`, `unittest`, `check_speed.py`, `make test`."""
    has_passed: bool | None
    """None if the observation does not say."""
    failed: int = 0
    """How many tests failed, if that was counted."""
    names: tuple[str, ...] = ()
    """Some of the tests that failed."""
    line: str = ""
    """The line that says how it ended."""
    ran: int = 0
    """How many tests ran, if one line counts them; several may be runs within runs."""
    commands: tuple[str, ...] = ()
    """All commands that share its observation, `command` among them."""

    @property
    def subjects(self) -> frozenset[str]:
        """What it names: base names of files, tests, targets. Empty for a run of everything, or of whole folders."""
        return self.scope.subjects


def find_checks(facts: Sequence[ActionFacts], steps: Sequence[Step], named: Sequence[str] = ()) -> list[Check]:
    """All checks of a trajectory, in order. `named`: commands that the task itself names as checks."""
    checks: list[Check] = []
    for fact in facts:
        known = [command for command in named for text in fact.commands if command in text]
        known = list(dict.fromkeys(known)) or (_respelled(named, fact) if fact.effects.scripts else known)
        if known or fact.is_check:
            checks += _checks_of(fact, steps[fact.action - 1], known)
    return checks


def is_static(check: Check) -> bool:
    """Whether a check only looks at the text of programs."""
    words = check.runner.split()
    if not STATIC.isdisjoint(words):
        return True
    return len(words) > 1 and words[0] in TARGET_PROGRAMS and not STATIC.isdisjoint(NAME_PARTS.split(words[-1]))


def _respelled(named: Sequence[str], fact: ActionFacts) -> list[str]:
    """The named commands that an action runs in another spelling."""
    scripts = fact.effects.scripts
    own = [command for command in named if any(same_file(path, program_of(command)) for path in scripts)]
    return [command for command in own if any(runs_alike(command, text) for text in fact.commands)]


def _checks_of(fact: ActionFacts, step: Step, named: Sequence[str]) -> Iterator[Check]:
    """A check for each call that ran one. `named`: the commands in it that the task names."""
    for part in _single_calls(step):
        is_whole = part is step
        done = fact.effects if is_whole else effects(part)
        result = fact.result if is_whole else observe(part, done)
        texts = fact.commands if is_whole else shell_texts(part)
        commands = done.tests or fact.awaited_tests
        commands = commands or [command for command in named if _runs(command, texts, result)]
        if commands or result.tests:
            commands = commands or done.scripts
            counted = [command for command in commands if command_family(command) in RUNNERS.counting]
            if result.tests and counted and commands[0] not in counted:
                commands = [*counted, *[command for command in commands if command not in counted]]
            first = commands[0] if commands else ""
            family = fact.family if is_whole and done.tests and first not in counted else command_family(first)
            failures = _own_failures(result, first, done)
            run = _Run(commands, family, result, failures, part)
            check = _check(fact.action, run, program_output(fact, part))
            yield msgspec.structs.replace(check, commands=tuple(commands))


def _own_failures(result: ObservedResult, command: str, done: Effects) -> list[ObservedFailure]:
    """The failures of a command, without what other programs of the action said: `./app /nope; gcc app.c`. An answer
    that a server gives to a request is not its own failure."""
    program = base_name(program_of(command))
    if not command or result.exit_code or program in CLIENTS:
        return list(result.failures)
    others = {base_name(path) for path in done.scripts} - {program}
    return [
        failure
        for failure in result.failures
        if failure.family is not HTTP and failure.line.partition(":")[0] not in others
    ]


def _single_calls(step: Step) -> Iterable[Step]:
    """The step call by call, if the observations answer single calls, each another one."""
    if len(step.calls) < 2 or len(step.observations) < 2:
        return (step,)
    answers = {seen.call_id: seen for seen in step.observations if seen.call_id is not None}
    calls = [(call, answers[call.id]) for call in step.calls if call.id is not None and call.id in answers]
    if len(answers) < len(step.observations) or len(calls) < len(answers):
        return (step,)
    return [msgspec.structs.replace(step, message="", calls=(call,), observations=(seen,)) for call, seen in calls]


def _runs(command: str, texts: Sequence[str], result: ObservedResult) -> bool:
    """Whether texts run a command of the task. With more arguments it may be expected to fail."""
    for text in texts:
        position = text.find(command)
        while position >= 0:
            if not result.has_failed or COMMAND_END.match(text, position + len(command)):
                return True
            position = text.find(command, position + 1)
    return any(runs_alike(command, text) for text in texts)


class _Run:
    """A run of commands that check something, the first of which is of this family."""

    def __init__(
        self,
        commands: Sequence[str],
        family: str,
        result: ObservedResult,
        own: Sequence[ObservedFailure],
        step: Step,
    ) -> None:
        """`own`: the failures that are not of other programs."""
        self.commands, self.family, self.result, self.own, self.step = commands, family, result, own, step
        self.command = commands[0] if commands else ""
        self.failures = [failure for failure in own if not is_run_failure(failure, family)]
        """What failed once it ran."""

    @property
    def fault(self) -> str:
        """The line with a fault of the program that kept it from starting; empty if there is none."""
        return next((failure.line for failure in self.own if PYTHON_SYNTAX.match(failure.line)), "")

    @cached_property
    def line(self) -> str:
        """The line that says how it ended; if only an exit code does, the last line of the output."""
        if not self.failures or self.failures[-1].family is not EXIT:
            return self.failures[-1].line if self.failures else ""
        text = self.step.observations[-1].text[-2000:] if self.step.observations else ""
        lines = (line.strip() for line in reversed(text.split("\n")))
        return next((line for line in lines if line and not line.startswith("<")), self.failures[-1].line)


NO_VERDICT: tuple[Callable[[_Run], bool], ...] = (
    lambda run: run.result.is_running,
    lambda run: bool(run.result.failures) and not run.own,  # only other programs failed
    lambda run: bool(run.result.tests),  # tests were counted, and none ran
    lambda run: len(run.failures) < len(run.own),  # it could not run
    lambda run: run.result.is_empty,
    lambda run: run.family in RUNNERS.counting,  # and counted nothing: it broke off, or its output was cut
    lambda run: is_stopped(run.line),
)
"""When nothing says how a run that counted no tests ended."""


def _check(action: int, run: _Run, output: str) -> Check:
    """The check that a run is."""
    checked = joined([scope(text) for text in run.commands])
    counted = [tests for tests in run.result.tests if not ran_no_tests(tests)] or _difference(
        run.family, run.command, output if not run.result.tests else ""
    )
    if counted:
        return _counted_check(action, run.command, checked, run.family, counted, run.step)
    check = Check(action=action, command=run.command or run.family, scope=checked, runner=run.family, has_passed=None)
    if fault := run.fault:
        return msgspec.structs.replace(check, has_passed=False, failed=1, line=fault)
    if any(applies(run) for applies in NO_VERDICT):
        return check
    if run.result.reported_problem:  # it says that something is wrong, and ended well
        return msgspec.structs.replace(check, line=run.result.reported_problem)
    if not run.failures and is_outcome_hidden(run.commands, shell_texts(run.step), run.step):
        return check
    return msgspec.structs.replace(
        check, command=run.command, has_passed=not run.failures, failed=int(bool(run.failures)), line=run.line
    )


def _difference(family: str, command: str, output: str) -> list[TestRun]:
    """A comparison that says that files differ: what follows it in the shell may hide its exit code."""
    match = DIFFERENCE.search(output) if command.partition(" ")[0] in COMPARING else None
    return [TestRun(family, None, 1, match[0])] if match else []


def _counted_check(
    action: int, command: str, checked: Scope, family: str, runs: Sequence[TestRun], step: Step
) -> Check:
    """A check whose runner counted the tests."""
    failed = sum(run.failed for run in runs)
    passed = [run.passed for run in runs]
    line = next((run.line for run in reversed(runs) if run.failed), runs[-1].line)
    if failed and line.startswith("Ran "):
        line = _unittest_verdict(line, step)
    runner = family or runs[-1].runner
    ran = failed + (passed[0] or 0) if len(runs) == 1 and passed[0] is not None else 0
    names = tuple(name for run in runs for name in run.names)
    has_passed = failed == 0 and passed.count(0) < len(passed)
    return Check(
        action=action,
        command=command or runner,
        scope=checked,
        runner=runner,
        has_passed=has_passed,
        failed=failed,
        names=names,
        line=line,
        ran=ran,
    )


def _unittest_verdict(line: str, step: Step) -> str:
    """The line below the one in which unittest counts its tests: how many failed."""
    text = step.observations[-1].text if step.observations else ""
    position = text.find("\nFAILED (", text.find(line))
    return text[position : position + 200].strip().partition("\n")[0] if position >= 0 else line


# Runs of the same check


def first_retest(failed: Check, later: Iterable[Check]) -> int | None:
    """The action of the first later pass that covers what failed; None if there is none."""
    return min((check.action for check in later if check.has_passed and overtakes(check, failed)), default=None)


def overtakes(later: Check, failed: Check) -> bool:
    """Whether a later pass settles a failure: the same check, or a stronger one, whatever runs it."""
    if retests(later, failed):
        return True
    own, before = later.scope, failed.scope
    if is_static(later) or is_static(failed) or not later.ran or not own.tests <= before.tests:
        return False
    if before.subjects and before.subjects <= own.subjects:
        return True
    return not own.subjects and not own.paths and later.ran >= failed.ran > 0


def retests(later: Check, failed: Check) -> bool:
    """Whether a later run covers what failed: everything, the same files or modules, or the failed tests."""
    own, before = later.scope, failed.scope
    if later.runner != failed.runner:
        return False
    if own.tests:
        return bool(before.tests) and before.tests <= own.tests
    if own.labels and before.labels:
        return all(
            f"{label}.".startswith(tuple(f"{own_label}." for own_label in own.labels)) for label in before.labels
        )
    if not own.paths and not own.labels:
        # Another text of code on the command line is another check.
        return later.command == failed.command or not is_interpreter(program_name(later.runner))
    if own.subjects & before.subjects:
        return True
    if failed.names and all(any(path in name for path in own.paths) for name in failed.names):
        return True
    folders = tuple(f"{folder}/" for folder in own.folders)
    return bool(before.paths) and all(f"{path}/".startswith(folders) for path in before.paths)


# Checks that could not run

NOT_LOADED = "_FailedTest"
"""What unittest calls the test that takes the place of a module that it could not import."""


def is_stopped(line: str) -> bool:
    """Whether a line says that somebody stopped the run."""
    return any(word in line.casefold() for word in STOPPED)


def is_run_failure(failure: ObservedFailure, family: str) -> bool:
    """Whether a failure says that the check itself could not run."""
    if failure.family.voids_check:
        return True
    if failure.family is OTHER and is_stopped(failure.line):
        return True
    if failure.family is NO_SUCH_FILE and failure.line.startswith(SHELL_PREFIXES):
        return True
    if UNSTARTED.search(failure.line):
        return True
    if failure.family is not NO_SUCH_MODULE:
        return False
    return failure.subject.split(".")[0] == family or base_name(failure.subject) == family.rpartition(" ")[2]


def ran_no_tests(run: TestRun) -> bool:
    """Whether a runner could not run the tests: pytest counts that as errors, not as failures; unittest names a test of
    its own; make reports the exit code of its command."""
    if run.passed is None:
        return run.runner == "make" and run.line.endswith(("Error 126", "Error 127"))
    if run.runner == "unittest" and run.names and all(NOT_LOADED in name for name in run.names):
        return not run.passed
    return not run.passed and (not run.failed or (run.runner == "pytest" and "failed" not in run.line))


def could_not_run(result: ObservedResult, family: str) -> bool:
    """Whether all that is seen of a check is that it could not run, or had nothing to run."""
    if result.tests:
        return all(map(ran_no_tests, result.tests))
    return any(is_run_failure(failure, family) for failure in result.failures)
