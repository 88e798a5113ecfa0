"""A row of a knowledge table that can never have an effect is refused, and says what it lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.knowledge import errors, test_runners, tools
from dense.knowledge.errors import ASSIGNED, ERROR_FAMILIES, ErrorFamily, ErrorTable
from dense.knowledge.program import by_key, row, words
from dense.knowledge.test_runners import TEST_RUNNERS, RunnerTable, TestRunner
from dense.trajectory import Observation, Source, Step, ToolCall

LINES = {
    "port_in_use": "bash: listen: Address already in use",
    "disk_full": "cp: error writing 'a': No space left on device",
    "out_of_memory": "MemoryError: Unable to allocate 9 GiB",
    "no_such_command": "bash: frob: command not found",
    "no_such_module": "ModuleNotFoundError: No module named 'frob'",
    "permission": "cat: a: Permission denied",
    "time_out": "curl: (28) Operation timed out after 5000 milliseconds",
    "connection": "curl: (7) Failed to connect to localhost port 80",
    "usage": "ls: unrecognized option '--frob'",
    "syntax": "SyntaxError: invalid syntax",
    "no_such_file": "cat: a: No such file or directory",
    "assertion": "AssertionError: 1 != 2",
    "http": "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: http://localhost/",
    "exception": "ValueError: x",
    "build": "a.c:3:1: error: expected ';'",
    "killed": "bash: line 1: 7 Killed ./a",
    "tool": "Your proposed edit was not applied",
    "other": "error: it broke",
}
"""For each family a line by which a program reports it."""


def refused_family(**fields: Any) -> None:
    ErrorTable((*ERROR_FAMILIES, ErrorFamily(code="new", label="new", **fields)))


def refused_runner(**fields: Any) -> None:
    RunnerTable((*TEST_RUNNERS, TestRunner(name="new", **fields)))


REFUSED: list[tuple[Callable[..., object], dict[str, Any], str]] = [
    (refused_family, {"is_external": True}, "error family new: nothing shows it"),
    (refused_family, {"phrases": ("Quota",)}, "'Quota' never occurs: lines are compared in lower case"),
    (refused_family, {"phrases": ("my syntaxerror",)}, "never reached: 'syntaxerror' of syntax is tried before it"),
    (refused_family, {"exit_codes": frozenset({127})}, "127 has two rows"),
    (refused_family, {"phrases": ("x9",), "subject": re.compile("x9")}, "its subject has no group"),
    (refused_family, {"phrases": ("x9",), "is_fallback": True}, "about its line_start, and it has none"),
    (refused_family, {"exit_codes": frozenset({99}), "system_message": "x9"}, "its system_message counts only"),
    (refused_runner, {"language": "lua"}, "test runner new: nothing shows that it ran"),
    (refused_runner, {"calls": ("new",), "failed": r"(\d+) bad"}, "parts of a summary, and it has none"),
    (refused_runner, {"calls": ("new",), "names_subtests": True}, "give failed_name"),
    (row, {"names": "new", "script_options": "-e"}, "new: script_options are about a pattern"),
    (row, {"names": "new", "write_options": "-i"}, "new: write_options say when operands are written"),
    (row, {"names": "new", "code_options": "-e"}, "new: code_options are those of an interpreter"),
    (row, {"names": "new", "check_verbs": "run all, lint"}, "new: check_verbs are single words, not run all"),
    (words, {"text": "a b a"}, "a: listed twice in 'a b a'"),
    (by_key, {"rows": [("new", 1), ("new", 2)]}, "new has two rows: only the last would count"),
]


@pytest.mark.parametrize(("make", "fields", "reason"), REFUSED)
def test_a_row_without_an_effect_is_refused(make: Callable[..., object], fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        make(**fields)


def test_a_tool_of_which_nothing_is_known_is_refused() -> None:
    with pytest.raises(ValueError, match="frob: neither a kind nor a trait"):
        tools._row("", "frob")  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("family", [family for family in ERROR_FAMILIES if family not in ASSIGNED], ids=str)
def test_each_family_is_shown_by_a_line(family: ErrorFamily) -> None:
    line = LINES.get(family.code)
    assert line is not None, f"add a line to LINES by which a program reports {family.code}"
    call = ToolCall("bash", {"command": f"{line.partition(':')[0]} x; ./run"})
    step = Step(Source("trace"), calls=(call,), observations=(Observation(line, exit_code=1),))
    shown = [failure.family for failure in observe(step, effects(step)).failures]
    assert family in shown, f"{line!r} is read as {shown}: phrases make no line an error, a line_start does"


def test_every_row_is_in_its_table() -> None:
    families = [value for value in vars(errors).values() if isinstance(value, ErrorFamily)]
    assert [family for family in families if family not in ERROR_FAMILIES] == [], "add it to ERROR_FAMILIES"
    runners = [value for value in vars(test_runners).values() if isinstance(value, TestRunner)]
    assert [runner.name for runner in runners if runner not in TEST_RUNNERS] == [], "add it to TEST_RUNNERS"
