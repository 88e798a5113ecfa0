"""What the command of a check names: files, folders, modules, single tests. Whether a later run says something about an
earlier one depends on that, and not on how the two are spelled."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from dense.analysis.actions.shell.command import strip_wrappers
from dense.analysis.actions.shell.statements import blocks
from dense.analysis.evidence.facts.paths import base_name
from dense.knowledge.check_words import GENERAL_NAMES, LABEL_RUNNERS, VALUE_OPTIONS
from dense.knowledge.programs import has_subcommands, is_interpreter, is_python, program_name

MAX_COMMAND_CHARS = 1_000
SELECTED = re.compile(r" -k[ =]?(?:'([^']*)'|\"([^\"]*)\"|(\S+))")
EXCLUDED = re.compile(r"\bnot\s+\(?\s*([\w.\[\]-]+)")


class Scope(Struct, frozen=True):
    """What the command of a check names. If all of it is empty: everything."""

    subjects: frozenset[str] = frozenset()
    """Base names of files, without `.py`; parts of dotted names; single tests."""
    paths: tuple[str, ...] = ()
    """The files and folders, as they were written."""
    folders: tuple[str, ...] = ()
    """Those of them that are folders."""
    labels: tuple[str, ...] = ()
    """Modules by their dotted names."""
    tests: frozenset[str] = frozenset()
    """Single tests, or an expression that selects some."""
    excluded: tuple[str, ...] = ()
    """Names that are left out."""


@lru_cache(1024)
def scope(command: str) -> Scope:
    """The scope of a command, as far as its words say."""
    reader = _Reader()
    if chosen := SELECTED.search(command):
        expression = chosen[1] or chosen[2] or chosen[3] or ""
        reader.tests.add(expression)
        reader.excluded += EXCLUDED.findall(expression)
        command = command[: chosen.start()] + command[chosen.end() :]
    typed = strip_wrappers(command[:MAX_COMMAND_CHARS].split()) or [""]
    program = program_name(typed[0])
    start = 1
    if is_python(program):
        start, program = _python_target(typed)
    elif "." in program and program != "py.test" and program not in LABEL_RUNNERS:
        reader.add_file(typed[0])
    if has_subcommands(program):
        start += 2 if typed[start : start + 1] in (["run"], ["run-script"]) else 1
    elif program in ("manage.py", "setup.py"):
        start += 1
    elif start > 1 and program.endswith(".py") and program not in LABEL_RUNNERS:
        reader.add_file(program)
    for before, word in pairwise(["", *typed[start:]]):
        if before not in VALUE_OPTIONS and not word.startswith("-"):
            reader.add_operand(word.strip("'\"`;"), program)
    return reader.scope()


def joined(scopes: list[Scope]) -> Scope:
    """The scope of several commands that share an observation."""
    if len(scopes) == 1:
        return scopes[0]
    return Scope(
        subjects=frozenset(name for part in scopes for name in part.subjects),
        paths=tuple(path for part in scopes for path in part.paths),
        folders=tuple(path for part in scopes for path in part.folders),
        labels=tuple(label for part in scopes for label in part.labels),
        tests=frozenset(name for part in scopes for name in part.tests),
        excluded=tuple(name for part in scopes for name in part.excluded),
    )


def _python_target(words: list[str]) -> tuple[int, str]:
    """Where the arguments of what Python runs begin, and what that is: a module or the base name of a script."""
    index = 1
    while index < len(words):
        word = words[index]
        if word == "-m" and index + 1 < len(words):
            return index + 2, words[index + 1].partition(".")[0]
        if not word.startswith("-"):
            return index + 1, base_name(word.strip("'\""))
        index += 2 if word in ("-W", "-X") else 1
    return index, ""


class _Reader:
    """Collects what the words of a command name."""

    def __init__(self) -> None:
        self.subjects: set[str] = set()
        self.paths: list[str] = []
        self.folders: list[str] = []
        self.labels: list[str] = []
        self.tests: set[str] = set()
        self.excluded: list[str] = []

    def scope(self) -> Scope:
        subjects, tests = frozenset(self.subjects | self.tests), frozenset(self.tests)
        return Scope(
            subjects=subjects,
            paths=tuple(self.paths),
            folders=tuple(self.folders),
            labels=tuple(self.labels),
            tests=tests,
            excluded=tuple(self.excluded),
        )

    def add_file(self, path: str) -> None:
        self.subjects.add(base_name(path).removesuffix(".py"))
        self.paths.append(path)

    def add_operand(self, word: str, program: str) -> None:
        path, _, test = word.partition("::")
        name = base_name(path)
        if test:
            self.tests.add(test.rsplit("::", 1)[-1])
        if not name or name.isdigit() or "=" in name:
            return
        if program in LABEL_RUNNERS and "/" not in path and not path.endswith(".py"):
            self.labels.append(path)
            self.subjects.update(part for part in path.split(".") if part not in GENERAL_NAMES)
        elif "." in name and not name.startswith("."):
            self.add_file(path)
        elif (folder := path.removesuffix("...").strip("./")) and (
            "/" in path or name in GENERAL_NAMES or program in ("pytest", "py.test")
        ):
            self.paths.append(folder)
            self.folders.append(folder)


# Spellings of a command

MAX_TEXT_CHARS = 4_000
MAX_STATEMENTS = 40
COMMAND_ENDS = ("|", ">", "<", "&", "2>", "1>", ";", "#")
"""How a word begins behind which a command's own words are over."""


@lru_cache(256)
def own_words(command: str) -> tuple[str, ...]:
    """A command without what differs between spellings: wrappers, interpreter, redirections."""
    words = strip_wrappers(command[:MAX_TEXT_CHARS].split())
    index = 0
    if len(words) > 1 and is_interpreter(program_name(words[0])):
        index = 1
        while index < len(words) - 1 and words[index].startswith("-") and words[index] not in ("-c", "-e"):
            index += 1
    rest = words[index:]
    end = next((n for n, word in enumerate(rest) if word.startswith(COMMAND_ENDS)), len(rest))
    return tuple(word.strip("'\"`").rstrip(";") for word in rest[:end])


def program_of(command: str) -> str:
    """What a command runs, as it is written there."""
    return next(iter(own_words(command)), "")


def runs_alike(command: str, text: str) -> bool:
    """Whether one of the statements of a shell text runs a command, and with nothing more."""
    own = _spelling(command)
    return any(_spelling(part.strip()) == own for part in blocks(text[:MAX_TEXT_CHARS])[:MAX_STATEMENTS])


def _spelling(command: str) -> list[str]:
    words = own_words(command)
    return [base_name(words[0]), *words[1:]] if words else []


def is_same_run(command: str, other: str) -> bool:
    """Whether two commands run the same program on the same things; their options may differ."""
    own = _operands(command)
    return bool(own) and own == _operands(other)


def _operands(command: str) -> list[str]:
    words = own_words(command)
    each = pairwise(["", *words])
    return [base_name(word) for before, word in each if word[:1] != "-" and before not in VALUE_OPTIONS]
