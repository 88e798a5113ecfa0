"""Which commands test or check something: their purpose is to find out whether something is right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.shell.command import has_flag, operands
from dense.knowledge.check_words import (
    INTERPRETER_OPTIONS,
    NO_RUN,
    PACKAGER_OPTIONS,
    PACKAGER_VERBS,
    TASK_SCRIPTS,
    TEST_WORDS,
)
from dense.knowledge.program import Program
from dense.knowledge.programs import is_python, known_program, program_name
from dense.knowledge.test_runners import RUNNERS

NONE: frozenset[str] = frozenset()
NAME_PARTS = re.compile(r"[a-z]+\d*|[A-Z]+(?![a-z])|[A-Z][a-z]+\d*")


def is_check(name: str, row: Program, words: Sequence[str]) -> bool:
    """Whether a command, without the programs around it, tests or checks something; `name` and `row` are its
    program's."""
    given = words[1:]
    if not NO_RUN.isdisjoint(given) and name != "gofmt":
        return False
    if "checks" in row.traits or name in RUNNERS.programs:
        return True
    if not row.check_options.isdisjoint(given) or not RUNNERS.options.get(name, NONE).isdisjoint(given):
        return True
    if "node_packager" in row.traits and _packager_checks(words):
        return True
    verbs = RUNNERS.verbs.get(name, NONE) | row.check_verbs if name in RUNNERS.verbs else row.check_verbs
    if verbs and not verbs.isdisjoint(operands(words)[:1]):
        return True
    if "builds" in row.traits:
        return any(names_a_test(word) for word in operands(words, row.valued))
    if "interpreter" in row.traits:
        return _interpreter_checks(name, words)
    return ("/" in words[0] or "\\" in words[0] or "." in name) and is_test_file(words[0])


def _packager_checks(words: Sequence[str]) -> bool:
    rest = operands(words, PACKAGER_OPTIONS)
    if rest and rest[0] in ("run", "run-script"):
        rest = rest[1:]
    return bool(rest) and (rest[0] in ("t", "tst") or (rest[0] not in PACKAGER_VERBS and names_a_test(rest[0])))


def _interpreter_checks(name: str, words: Sequence[str]) -> bool:
    """Whether an interpreter runs a test module or a file that is named as a test."""
    if is_python(name):
        for position, word in enumerate(words[1:-1], 1):
            if word == "-m":
                return _module_checks(words[position + 1], words)
            if not word.startswith("-"):
                break
    rest = operands(words, INTERPRETER_OPTIONS)
    if not rest or rest[0] == "-" or has_flag(words, "", "-c", "-e", "--eval", "-lc", "-Command"):
        return False
    if program_name(rest[0]) in TASK_SCRIPTS:
        return "test" in rest[1:2] or "check" in rest[1:2]
    return is_test_file(rest[0])


def _module_checks(module: str, words: Sequence[str]) -> bool:
    row = known_program(module)
    if not row.traits.isdisjoint(("checks", "module_check")) or module in RUNNERS.modules:
        return True
    return not row.check_verbs.isdisjoint(words) or names_a_test(module.rsplit(".", 1)[-1])


def is_test_file(path: str) -> bool:
    """`test_x.py`, `x_test.go`, `check_speed.py`, `run_tests.sh`, and whatever lies in a folder of tests."""
    parts = path.replace("\\", "/").split("/")
    stem = parts[-1].split(".", 1)[0] or parts[-1]
    return names_a_test(stem) or any(part in ("tests", "test", "__tests__", "spec") for part in parts[:-1])


def names_a_test(name: str) -> bool:
    """Whether one of the words that a name is made of speaks of testing."""
    return any(part.rstrip("0123456789").lower() in TEST_WORDS for part in NAME_PARTS.findall(name[:200]))
