"""A row of a knowledge table that can never have an effect is refused, and says what it lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.requirements import requirements
from dense.knowledge import errors, test_runners, tools
from dense.knowledge.errors import ASSIGNED, ERROR_FAMILIES, ErrorFamily, ErrorTable
from dense.knowledge.program import by_key, row, words
from dense.knowledge.programs import known_program
from dense.knowledge.test_runners import TEST_RUNNERS, RunnerTable, TestRunner
from dense.trajectory import Observation, Source, Step, Task, ToolCall

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


def tool_row(names: str, kind: tools.Kind = "look") -> None:
    tools._row(kind, names)  # pyright: ignore[reportPrivateUsage]


REFUSED: list[tuple[Callable[..., object], dict[str, Any], str]] = [
    (refused_family, {"is_external": True}, "error family new: nothing shows it"),
    (refused_family, {"phrases": ("Quota",)}, "'Quota' never occurs: lines are compared in lower case"),
    (refused_family, {"phrases": ("my syntaxerror",)}, "never reached: 'syntaxerror' of syntax is tried before it"),
    (refused_family, {"exit_codes": frozenset({127})}, "127 has two rows"),
    (refused_family, {"phrases": ("x9",), "subject": re.compile("x9")}, "its subject has no group"),
    (refused_family, {"phrases": ("x9",), "is_fallback": True}, "about its line_start, and it has none"),
    (refused_family, {"exit_codes": frozenset({99}), "system_message": "x9"}, "its system_message counts only"),
    (refused_family, {"phrases": ("x9", "")}, "an empty phrase is in every line"),
    (refused_family, {"phrases": ("x9", "x9 y")}, "'x9 y' is never reached: 'x9' of new is tried before it"),
    (refused_family, {"pattern": re.compile("x*")}, "matches an empty line, and so every line"),
    (refused_family, {"line_start": "(?:x9)?"}, "matches an empty line, and so every line"),
    (refused_family, {"exit_codes": frozenset({0})}, "0 is no code of an error"),
    (refused_runner, {"language": "lua"}, "test runner new: nothing shows that it ran"),
    (refused_runner, {"calls": ("new",), "failed": r"(\d+) bad"}, "parts of a summary, and it has none"),
    (refused_runner, {"calls": ("new",), "names_subtests": True}, "give failed_name"),
    (refused_runner, {"progress": r"x (\.+) (\d+)%\]"}, "give calls, a summary or failure_lines"),
    (
        refused_runner,
        {"calls": ("new",), "progress": r"x (\.+) (\d+)%\]"},
        "progress is looked for beside failure_lines",
    ),
    (refused_runner, {"calls": ("",)}, "the call '' is never found"),
    (refused_runner, {"calls": ("new test all",)}, "the call 'new test all' is never found"),
    (refused_runner, {"calls": ("New",)}, "the call 'New' is never found"),
    (refused_runner, {"calls": ("pytest",)}, "pytest has two rows"),
    (refused_runner, {"calls": ("new",), "config_files": ("",)}, "begins every name"),
    (refused_runner, {"summary": r"\d+ ok", "passed": r"\d+ ok"}, "have one group each"),
    (refused_runner, {"failure_lines": ("FAIL", "")}, "matches an empty line, and so every line"),
    (row, {"names": "", "traits": "looks"}, "a program: it has no name"),
    (row, {"names": "/bin/new"}, "/bin/new is never looked up"),
    (row, {"names": "New"}, "New is never looked up"),
    (row, {"names": "new", "traits": "looks shows"}, "looks follows from another trait"),
    (row, {"names": "new", "operands": "wrong"}, "no such operands: wrong"),
    (row, {"names": "new", "valued": ""}, "valued: no word in it"),
    (row, {"names": "new", "traits": "looks", "dry_options": "-n"}, "dry_options say when no file is written"),
    (row, {"names": "new", "traits": "local_install"}, "local_install is about install_verbs"),
    (row, {"names": "new", "setup_verbs": "init"}, "setup_verbs, store_verbs and lasting_verbs need"),
    (row, {"names": "new", "install_verbs": "a b c, d"}, "install_verbs have at most 2 words, not a b c"),
    (tool_row, {"names": ""}, "a row of tools without a name"),
    (tool_row, {"names": "read_file"}, "read_file: never looked up"),
    (tool_row, {"names": "new", "kind": "wrong"}, "new: no such kind: wrong"),
    (tool_row, {"names": "new", "kind": ""}, "new: neither a kind nor a trait"),
    (row, {"names": "new", "script_options": "-e"}, "new: script_options are about a pattern"),
    (row, {"names": "new", "write_options": "-i"}, "new: write_options say when operands that are read"),
    (row, {"names": "new", "code_options": "-e"}, "new: code_options are those of an interpreter"),
    (row, {"names": "new", "check_verbs": "run all, lint"}, "new: check_verbs have at most 1 words, not run all"),
    (words, {"text": "a b, c,"}, "an empty word between the commas"),
    (words, {"text": "a b a"}, "a: listed twice in 'a b a'"),
    (by_key, {"rows": [("new", 1), ("new", 2)]}, "new has two rows: only the last would count"),
]


@pytest.mark.parametrize(("make", "fields", "reason"), REFUSED)
def test_a_row_without_an_effect_is_refused(make: Callable[..., object], fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        make(**fields)


def test_a_program_of_which_only_the_name_is_known_is_a_program() -> None:
    assert not known_program("django-admin").traits and not known_program("django-admin").operands
    (known,) = requirements(Task("Run `django-admin migrate`."))
    (unknown,) = requirements(Task("Run `frob migrate`."))
    assert (known.kind, unknown.kind) == ("command", "value")


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
