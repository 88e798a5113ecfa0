"""What an action's observations show."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Family = Literal[
    "no_such_command",  # the shell does not know the program
    "no_such_module",  # an import or a package that is not there
    "no_such_file",
    "permission",
    "syntax",  # a program, a shell line, a document that cannot be parsed
    "usage",  # a program was called with options or arguments that it does not take
    "assertion",
    "exception",  # a traceback or panic of any other kind; the line is its last one
    "build",  # a compiler or linker error
    "http",  # a status of 400 or above
    "connection",  # refused, reset, name not resolved
    "port_in_use",
    "time_out",
    "out_of_memory",
    "killed",  # by a signal
    "disk_full",
    "tool",  # the agent's own tool refused: no match for an edit, bad arguments, no such tool
    "other",  # a line that says error or failed in a way that no family covers
    "exit",  # a non-zero exit code, and no line that tells why
]


class ObservedFailure(Struct, frozen=True, gc=False):
    """Something that went wrong, by the line that says so."""

    family: Family
    line: str
    """The line, as it stands in the observation, stripped, at most 300 characters."""
    subject: str = ""
    """What it is about, where the line tells: the program, the module, the path, the status, the port."""


class TestRun(Struct, frozen=True, gc=False):
    """What a test runner said at the end of a run. A count that it does not give is None."""

    runner: str
    """`pytest`, `unittest`, `go`, `cargo`, `jest`, `mocha`, `ctest`, `make`, …; `tests` where it is not known."""
    passed: int | None
    failed: int
    """Failures and errors."""
    line: str
    """The line that says so."""
    names: tuple[str, ...] = ()
    """Tests that failed, by name, a few."""


class Value(Struct, frozen=True, gc=False):
    """A named value that was shown: `total: 30`, `{"total": 30}`, `accuracy = 0.93`."""

    name: str
    text: str


class ObservedResult(Struct, frozen=True, gc=False):
    """What came back after one action."""

    exit_code: int | None = None
    """The last one that was recorded, as a field or in the harness's own frame around the output."""
    failures: tuple[ObservedFailure, ...] = ()
    """What went wrong, in order, each once, a few."""
    tests: tuple[TestRun, ...] = ()
    """Test runs that were reported, in order."""
    is_empty: bool = True
    """Whether nothing at all came back."""
    reported_problem: str = ""
    """The line in which a check printed that something is wrong, though nothing else says that it failed."""

    @property
    def has_failed(self) -> bool:
        """Whether anything in it went wrong."""
        return bool(self.failures) or (bool(self.tests) and any(run.failed for run in self.tests))

    @property
    def is_fine(self) -> bool:
        """Whether something came back and nothing in it speaks against what was tried; tests, if any, ran."""
        if self.is_empty or self.reported_problem or self.failures:
            return False
        passed = False
        for run in self.tests:
            if run.failed:
                return False
            passed = passed or run.passed != 0
        return passed or not self.tests
