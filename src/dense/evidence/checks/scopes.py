"""What a check was told to look at: files, folders, modules, single tests; and what it was told to leave out. Whether a
later run says something about an earlier one hangs on that, and not on how the two are spelled."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from dense.evidence.facts.families import strip_wrappers
from dense.evidence.facts.paths import base_name
from dense.knowledge.program import words
from dense.knowledge.programs import has_subcommands, is_python, program_name

LONGEST = 1_000
"""Characters of a command that are looked at."""
VALUED = words("""
    -W -X -p -o -c -n -e --tb --rootdir --settings --ds --confcutdir --reporter --config --color --log-level --junitxml
    --cov-report -C --directory --prefix
""")
"""Options whose value is a word of its own, and no subject."""
OMITTING = words("--deselect --ignore --ignore-glob --exclude --exclude-tag --skip --testPathIgnorePatterns")
"""Options that name what is left out."""
CHOSEN = re.compile(r" -k[ =]?(?:'([^']*)'|\"([^\"]*)\"|(\S+))")
LEFT_OUT = re.compile(r"\bnot\s+\(?\s*([\w.\[\]-]+)")
LABELLED = words("unittest manage.py runtests.py run_tests.py setup.py nose nose2 trial test")
"""Runners that are told modules by their dotted names."""
GENERAL = words("tests test testing src lib spec specs __tests__")
"""Parts of names that tell nothing about which tests are meant."""


class Scope(Struct, frozen=True):
    """What a check was told to look at. Without any of it: everything."""

    subjects: frozenset[str] = frozenset()
    """Base names of files, without `.py`; parts of dotted names; single tests."""
    paths: tuple[str, ...] = ()
    """The files and folders, as they were written."""
    folders: tuple[str, ...] = ()
    """Those of them that are folders."""
    labels: tuple[str, ...] = ()
    """Modules by their dotted names."""
    tests: frozenset[str] = frozenset()
    """Single tests."""
    left_out: tuple[str, ...] = ()
    """What it was told to leave out."""


@lru_cache(1024)
def scope(command: str) -> Scope:
    """The scope of a command, as far as its words tell. Remembered, since checks are run again and again."""
    reader = _Reader()
    if " -k" in command and (chosen := CHOSEN.search(command)):
        reader.choose(chosen[1] or chosen[2] or chosen[3] or "")
        command = command[: chosen.start()] + command[chosen.end() :]
    words = strip_wrappers(command[:LONGEST].split())
    if not words:
        return Scope()
    program = program_name(words[0])
    start = 1
    if is_python(program):
        start, program = _behind_python(words)
    elif "." in program and program != "py.test" and program not in LABELLED:
        reader.file(words[0])
    if has_subcommands(program):
        start += 2 if words[start : start + 1] in (["run"], ["run-script"]) else 1
    elif program in ("manage.py", "setup.py"):
        start += 1
    elif start > 1 and program.endswith(".py") and program not in LABELLED:
        reader.file(program)
    reader.take(words[start:], has_labels=program in LABELLED, has_folders=program in ("pytest", "py.test"))
    return reader.scope()


def _behind_python(words: list[str]) -> tuple[int, str]:
    """Where the arguments of what Python runs begin, and what that is: a module or the base name of a script."""
    place = 1
    while place < len(words):
        word = words[place]
        if word == "-m" and place + 1 < len(words):
            return place + 2, words[place + 1].partition(".")[0]
        if not word.startswith("-"):
            return place + 1, base_name(word.strip("'\""))
        place += 2 if word in ("-W", "-X") else 1
    return place, ""


class _Reader:
    """Collects what the words of a command name."""

    def __init__(self) -> None:
        self.subjects: set[str] = set()
        self.paths: list[str] = []
        self.folders: list[str] = []
        self.labels: list[str] = []
        self.tests: set[str] = set()
        self.left_out: list[str] = []

    def scope(self) -> Scope:
        return Scope(
            frozenset(self.subjects | self.tests),
            tuple(self.paths),
            tuple(self.folders),
            tuple(self.labels),
            frozenset(self.tests),
            tuple(self.left_out),
        )

    def take(self, words: list[str], *, has_labels: bool, has_folders: bool) -> None:
        before = ""
        for word in words:
            option, _, value = word.partition("=")
            if before in OMITTING or (option in OMITTING and value):
                self._leave_out(value or word)
            elif before not in VALUED and not word.startswith("-"):
                self._operand(word.strip("'\"`;"), has_labels=has_labels, has_folders=has_folders)
            before = word

    def choose(self, expression: str) -> None:
        """What pytest's `-k` chooses by parts of names."""
        left_out = LEFT_OUT.findall(expression)
        self.left_out += left_out
        if not left_out:
            self.tests.add(expression)

    def file(self, path: str) -> None:
        self.subjects.add(base_name(path).removesuffix(".py"))
        self.paths.append(path)

    def _leave_out(self, word: str) -> None:
        path, _, test = word.strip("'\"`;").partition("::")
        self.left_out.append(test.rsplit("::", 1)[-1] or base_name(path))

    def _operand(self, word: str, *, has_labels: bool, has_folders: bool) -> None:
        path, _, test = word.partition("::")
        name = base_name(path)
        if test:
            self.tests.add(test.rsplit("::", 1)[-1])
        if not name or name.isdigit() or "=" in name:
            return
        if has_labels and "/" not in path and not path.endswith(".py"):
            self.labels.append(path)
            self.subjects.update(part for part in path.split(".") if part not in GENERAL)
        elif "." in name and not name.startswith("."):
            self.file(path)
        elif ("/" in path or name in GENERAL or has_folders) and (folder := path.removesuffix("...").strip("./")):
            self.paths.append(folder)
            self.folders.append(folder)
