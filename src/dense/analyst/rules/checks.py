"""Tests and checks: which ran, how they ended, which failure a later run of the same thing took back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from dense.actions import effects
from dense.analyst.rules.facts import Facts, command_family
from dense.analyst.rules.files import base_name
from dense.analyst.rules.no_runs import is_no_run, is_no_test_run
from dense.observations import seen
from dense.observations.exits import printed_exit
from dense.observations.seen import Failure, Seen
from dense.trajectory import Step

RUNNERS = frozenset("pytest unittest jest vitest mocha tox nox rspec phpunit ctest".split())
"""Runners that say at the end how many tests failed. Where that is not to be seen, because they broke off or their
output was cut, the run tells nothing."""


STOPPED = ("aborted", "interrupted", "cancelled", "canceled")
"""What a line says where somebody stopped the run."""
STATIC = frozenset(
    """tsc vue-tsc mypy pyright basedpyright pylint flake8 ruff eslint oxlint biome stylelint shellcheck bandit vulture
    pycodestyle pydocstyle pyflakes yamllint markdownlint golangci-lint staticcheck clippy cppcheck clang-tidy rubocop
    black isort prettier gofmt rustfmt clang-format diff cmp""".split()
)
"""Checks that look at the text of programs and not at what they do: they complain about much that was there before."""


class Check(Struct, frozen=True):
    """One run of a test or a check, by one call."""

    action: int
    """The action that ran it."""
    command: str
    """Its command, or the runner's name where the command is not known."""
    subjects: frozenset[str]
    """What it names: base names of files, tests, targets. Empty for a run of everything."""
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

    @property
    def is_narrow(self) -> bool:
        """Whether it runs some tests of a file only."""
        return "::" in self.command or " -k " in self.command


def checks(facts: Sequence[Facts], steps: Sequence[Step], named: Sequence[str] = ()) -> list[Check]:
    """All checks of a trajectory, in order. `named`: commands that the task itself names as checks."""
    found: list[Check] = []
    for fact in facts:
        texts = "\0".join(fact.commands) if named else ""
        known = [command for command in named if command in texts]
        if fact.effects.tests or fact.seen.tests or known:
            found += _of_action(fact, steps[fact.action - 1], known)
    return found


def _of_action(fact: Facts, step: Step, named: Sequence[str]) -> Iterator[Check]:
    """A check for each call that ran one; for the whole action where observations cannot be told apart."""
    for part in _parts(step):
        done = fact.effects if part is step else effects(part)
        commands = list(done.tests) or [text for text in named if text in _text(part)]
        came = fact.seen if part is step else seen(part, done)
        if commands or came.tests:
            commands = commands or list(done.scripts)
            family = fact.family if part is step and done.tests else command_family(commands[0] if commands else "")
            yield _check(fact.action, commands, family, came, part)
        if done.tests and came.tests:
            yield from _beside_tests(fact.action, done.tests, [text for text in named if text in _text(part)], came)


def _beside_tests(action: int, tests: Sequence[str], named: Sequence[str], came: Seen) -> Iterator[Check]:
    """Checks that the task names and that ran together with tests, into one observation: what is left of its failures
    when the tests have had theirs is not the tests'."""
    wrong = next((failure.line for failure in came.failures if _names_a_test(failure)), "")
    for command in named:
        if not any(command in test or test in command for test in tests):
            has_passed = False if wrong else None if came.failures else True
            yield Check(
                action,
                command,
                frozenset(_subjects(command)),
                command_family(command),
                has_passed,
                bool(wrong),
                (),
                wrong,
            )


def _check(action: int, commands: Sequence[str], family: str, came: Seen, step: Step) -> Check:
    """What commands checked, of which the first one is of this family."""
    command = commands[0] if commands else ""
    subjects = frozenset([name for text in commands for name in _subjects(text)])
    if runs := [run for run in came.tests if not is_no_test_run(run)]:
        failed = sum([run.failed for run in runs])
        has_passed = failed == 0 and any(run.passed != 0 for run in runs)
        line = next((run.line for run in reversed(runs) if run.failed), runs[-1].line)
        names = tuple([name for run in runs for name in run.names])
        runner = family or runs[-1].runner
        return Check(action, command or runner, subjects, runner, has_passed, failed, names, line)
    if came.tests:
        return Check(action, command or family, subjects, family, None)
    told = [failure for failure in came.failures if not is_no_run(failure, family)]
    if not came.failures and command and (printed := _printed(command, step)) is not None and printed[0]:
        return Check(action, command, subjects, family, False, 1, (), printed[1] or f"exit {printed[0]}")
    is_silent = family in RUNNERS and not any(_names_a_test(failure) for failure in told)
    if len(told) < len(came.failures) or came.is_empty or is_silent:
        return Check(action, command, subjects, family, None)
    line = (told[-1].line if told[-1].family != "exit" else _last_line(step) or told[-1].line) if told else ""
    if any(word in line.casefold() for word in STOPPED):
        return Check(action, command, subjects, family, None)
    return Check(action, command, subjects, family, not told, int(bool(told)), (), line)


def _printed(command: str, step: Step) -> tuple[int, str] | None:
    """The code that the agent had printed after the command, where the observation shows it."""
    typed = _text(step)
    return printed_exit(command, typed, step.observations[-1].text) if "$?" in typed and step.observations else None


def _names_a_test(failure: Failure) -> bool:
    return failure.family == "assertion" or failure.line.startswith(("FAILED", "FAIL:", "FAIL ", "not ok"))


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
    return "\n".join(str(value) for call in step.calls for value in call.arguments.values())


def _subjects(command: str) -> Iterator[str]:
    """The tests and files that a command names."""
    for word in command.split():
        if "." not in word and "::" not in word:
            continue
        name = base_name(word.split("::")[0].strip("'\"`;"))
        if "." in name and not name.startswith(("-", ".")) and "=" not in name:
            yield name
        if "::" in word:
            yield word.rsplit("::", 1)[-1]


def is_static(check: Check) -> bool:
    """Whether a check only looks at texts."""
    return not STATIC.isdisjoint(check.runner.split())


def takes_back(later: Check, earlier: Check) -> bool:
    """Whether a passed check is evidence that an earlier failure of the same thing is gone: the same runner, over the
    same subjects, over everything, or over what had failed."""
    if not later.has_passed or later.runner != earlier.runner:
        return False
    if later.is_narrow and not earlier.is_narrow:
        return bool(earlier.names) and all(name.rsplit("::", 1)[-1] in later.command for name in earlier.names)
    if not later.subjects or later.subjects & earlier.subjects:
        return True
    if not earlier.subjects:
        # A run of everything failed, a run of some files passes: good for what it names, if that is what failed.
        failed = " ".join(earlier.names)
        return any(name.rsplit(".", 1)[0] in failed for name in later.subjects)
    return any(name in later.command for name in earlier.names)
