"""The rows of programs: complete, each name once, and enough for a new program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dense
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.step_effects import effects
from dense.knowledge import program as shape
from dense.knowledge import programs
from dense.knowledge.program import Program, behind, row
from dense.knowledge.programs import INTERPRETER_OF, LOOKERS, ROWS, SHOWERS, known_program, program_name, programs_that
from dense.trajectory import Source, Step, ToolCall


def did(command: str) -> Effects:
    return effects(Step(Source("x"), calls=(ToolCall("bash", {"command": command}),)))


def test_each_program_has_one_row() -> None:
    names = [name for one in ROWS for name in one.names]
    assert len(names) == len(set(names))


def test_every_trait_is_used_and_explained() -> None:
    used = {trait for one in ROWS for trait in one.traits}
    implied = {trait for more in shape.IMPLIED.values() for trait in more}
    assert used == set(shape.TRAITS) | implied


def test_a_row_with_an_unknown_trait_is_refused() -> None:
    with pytest.raises(ValueError, match="hums: no such trait: sings"):
        row("hums", "sings")


@pytest.mark.parametrize(
    ("name", "known"), [("python3.12", "python"), ("gcc-13", "gcc"), ("sqlite3", "sqlite3"), ("md5sum", "md5sum")]
)
def test_a_version_belongs_to_the_name(name: str, known: str) -> None:
    assert known in known_program(name).names


def test_a_program_by_the_word_that_calls_it() -> None:
    assert program_name("/usr/bin/Grep") == program_name("C:\\tools\\grep.exe") == "grep"


def test_derived_sets() -> None:
    assert {"cat", "grep", "ls", "sha256sum", "ping"} <= LOOKERS
    assert not {"rm", "python", "make", "curl"} & LOOKERS
    assert {"cat", "curl", "mv"} <= SHOWERS
    assert programs_that("searches") <= programs_that("looks") & programs_that("answers")
    assert INTERPRETER_OF["py"] == "python"


ADDED: list[tuple[Program, str, Effects]] = [
    (row("frob", "looks", "read", valued="-k"), "frob -k 3 a.txt", Effects(reads=("a.txt",), runs=("frob",))),
    (row("frob", "", "written"), "frob a b", Effects(writes=("a", "b"), runs=("frob",))),
    (row("frob", "", "deleted"), "frob a", Effects(deletes=("a",), runs=("frob",))),
    (row("frob", "lints"), "frob src", Effects(tests=("frob src",), runs=("frob",))),
    (row("frob", check_verbs="audit"), "frob audit", Effects(tests=("frob audit",), runs=("frob",))),
    (row("frob", install_verbs="get"), "frob get lib", Effects(installs=("lib",), runs=("frob",))),
    (row("frob", "serves"), "frob -p 80", Effects(services=("frob -p 80",), runs=("frob",))),
    (row("frob", output_options="--to"), "frob --to x", Effects(writes=("x",), runs=("frob",))),
    (row("frob", "", "", behind("-u", 1)), "frob -u me box rm a", Effects(deletes=("a",), runs=("rm",))),
]


@pytest.mark.parametrize(("added", "command", "expected"), ADDED)
def test_a_new_program_is_one_row(
    added: Program, command: str, expected: Effects, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert did(command) == Effects(runs=("frob",))
    known_program.cache_clear()
    monkeypatch.setitem(programs._BY_NAME, "frob", added)  # pyright: ignore[reportPrivateUsage]
    try:
        assert did(command) == expected
    finally:
        known_program.cache_clear()


WORD_LIST = re.compile(r'"([a-z0-9 _.\n-]+)"\.split\(\)|words(?:_of)?\(\s*"+([a-z0-9 _.\n-]+)"')
EVERYDAY: set[str] = set("cat ls grep head tail find rm cp mv sed git pip npm docker".split())


def test_programs_are_listed_nowhere_else() -> None:
    """A word list with several names of programs belongs into the table."""
    source = Path(dense.__file__).parent
    found: dict[str, set[str]] = {}
    for path in source.rglob("*.py"):
        for text in WORD_LIST.findall(path.read_text()):
            listed = EVERYDAY.intersection(" ".join(text).split())
            if len(listed) > 2:
                found[path.name] = listed
    assert found == {}
