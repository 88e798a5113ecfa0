"""What an action's observations show, and the named values in a text."""

from __future__ import annotations

import re
from itertools import islice

from msgspec import Struct

from dense.knowledge.errors import ErrorFamily


class ObservedFailure(Struct, frozen=True, gc=False):
    """Something that went wrong, by the line that says so."""

    family: ErrorFamily
    line: str
    """The line as it is in the observation, stripped, at most 300 characters."""
    subject: str = ""
    """What the line is about, if it says so: the program, the module, the path, the status, the port."""

    @property
    def missing_dependency(self) -> str:
        """The program or the package that is not installed; empty if that is not the failure."""
        return self.subject if self.family.is_missing_dependency else ""


class TestRun(Struct, frozen=True, gc=False):
    """What a test runner reported at the end of a run."""

    runner: str
    """The name of a row in `dense.knowledge.test_runners`; `make` or `tests` if the runner is not known."""
    passed: int | None
    """None if the runner does not count them."""
    failed: int
    """Failures and errors."""
    line: str
    """The line that says so."""
    names: tuple[str, ...] = ()
    """Names of failed tests, a few."""


class Value(Struct, frozen=True, gc=False):
    """A named value in an output: `total: 30`, `{"total": 30}`, `accuracy = 0.93`."""

    name: str
    text: str


class ObservedResult(Struct, frozen=True, gc=False):
    """What came back after one action."""

    exit_code: int | None = None
    """The last one that was recorded, as a field or in the harness's own wrapper around the output."""
    failures: tuple[ObservedFailure, ...] = ()
    """What went wrong, in order, each once, a few."""
    tests: tuple[TestRun, ...] = ()
    """Test runs that were reported, in order."""
    is_empty: bool = True
    """Whether nothing at all came back."""
    reported_problem: str = ""
    """The line in which a check printed that something is wrong, if nothing else shows that it failed."""

    is_running: bool = False
    """Whether a command was left running: what came back is not all that it prints."""

    @property
    def has_failed(self) -> bool:
        """Whether anything in it went wrong."""
        return bool(self.failures) or (bool(self.tests) and any(run.failed for run in self.tests))

    @property
    def is_fine(self) -> bool:
        """Whether something came back and nothing in it is wrong; tests, if any, ran."""
        if self.is_empty or self.is_running or self.reported_problem or self.has_failed:
            return False
        return not self.tests or any(run.passed != 0 for run in self.tests)


# Named values

MAX_VALUES = 60
MAX_LINE_CHARS = 400

NUMBER = r"[-+]?[$€£]?(?:\d+(?:[_,]\d{3})*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
FIELD = re.compile(
    r"[\"']([^\"'\n\\]{1,60})[\"']\s{0,4}:\s{0,4}(?:\"([^\"\n\\]{0,120})\"|'([^'\n\\]{0,120})'|("
    + NUMBER
    + r"|true|false|null|True|False|None)(?![\w.]))"
)
"""A field of JSON, or of a printed dictionary."""
PAIR = re.compile(
    r"[\s>*•-]{0,20}(\*{0,2}[^\W\d][^:=|\n\"'{}\[\]<>;]{0,60}?)\*{0,2}\s{0,20}(?::|=|→|：|->)\**\s{1,20}(\S[^\n]{0,160})$"
)
TIGHT = re.compile(r"\s{0,20}([^\W\d][\w.-]{0,60})[=:：](?![/=\\:])(\S[^\n]{0,160})$")
SCALAR = re.compile(r"(?:" + NUMBER + r")(?: ?(?:%|[^\W\d][\w/]{0,11}))?$")
QUOTED = re.compile(r"\"([^\"]{0,120})\"$|'([^']{0,120})'$|`([^`]{0,120})`$")
MAX_WORDS = 6
"""A string without quotes is a value if it has no more words than this."""


def values(text: str) -> tuple[Value, ...]:
    """The named values of a text, in order, each once; some dozens at most."""
    named_values = (value for line in text.splitlines() for value in _values_of(line[:MAX_LINE_CHARS]))
    return tuple(islice(dict.fromkeys(named_values), MAX_VALUES))


def _values_of(line: str) -> list[Value]:
    """The named values of one line."""
    if fields := FIELD.findall(line):
        return [Value(name.strip(), next((text for text in texts if text), "")) for name, *texts in fields]
    pair = PAIR.match(line) or TIGHT.match(line)
    text = _value(pair[2].strip().rstrip(",;")) if pair else None
    return [Value(pair[1].strip("* \t"), text)] if pair and text is not None else []


def _value(text: str) -> str | None:
    """The value itself: a number with its unit, a quoted string without its quotes, a short string."""
    if SCALAR.match(text):
        return text
    if quoted := QUOTED.match(text):
        return next((group for group in quoted.groups() if group), "")
    return text if len(text) <= 80 and len(text.split()) <= MAX_WORDS and text[-1] not in "({[" else None
