"""The family of an action: the program or tool that it is about, with its subcommand (`pytest`, `git diff`,
`python solve.py`, `str_replace`). Two actions of one family do the same thing to something."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.effects import Effects
from dense.evidence.actions.shell.command import operands, strip_wrappers
from dense.evidence.facts.paths import base_name
from dense.evidence.facts.traits import MAX_COMMAND_CHARS
from dense.knowledge.file_names import SHELL_STARTUP_FILES
from dense.knowledge.programs import (
    INTERPRETER_OF,
    LOOKERS,
    has_subcommands,
    is_python,
    known_program,
    program_name,
    programs_that,
)
from dense.knowledge.tools import SHELLS, is_talk, known_tool, own_name
from dense.trajectory import ToolCall

FILTERS = programs_that("filters")
SHELL_WRITERS = {"": "cat >", "cat": "cat >", "sed": "sed -i"}
SUBCOMMAND_VALUES = frozenset("-C -c -f -p --prefix --git-dir --file --context --namespace -n".split())
MAX_VERB_CHARS = 40
QUOTES = "'\"`;&|)"


def family_of(calls: Sequence[ToolCall], names: Sequence[str], commands: Sequence[str], effects: Effects) -> str:
    if effects.tests:
        return command_family(effects.tests[0])
    if own := own_scripts(effects):
        return _script_family(own[-1])
    word, name = _main_program(effects.runs) if commands else ("", "")
    if commands:
        if effects.installs and word:
            return f"{name} install"
        if word and name not in LOOKERS:
            return _program_family(word, name, commands)
        if effects.writes:
            return SHELL_WRITERS.get(word, word)
    for call, plain in zip(calls, names, strict=True):
        if plain not in SHELLS and (not is_talk(plain) or not commands):
            verb = call.arguments.get("command") if known_tool(plain).kind == "editor" else None
            return verb if isinstance(verb, str) and len(verb) < MAX_VERB_CHARS else own_name(call.name)
    if commands:
        return _program_family(word, name, commands) if word else command_family(commands[0])
    return own_name(calls[0].name) if calls else ""


def own_scripts(effects: Effects) -> list[str]:
    """The programs that were run, without what only prepares the shell."""
    return [path for path in effects.scripts if not path.endswith(SHELL_STARTUP_FILES)]


def _main_program(runs: Sequence[str]) -> tuple[str, str]:
    """The program that a chain is about, as written and by its name: no filter or look if there is another."""
    pairs = [(word, program_name(word)) for word in runs]
    return max(pairs, key=lambda pair: (pair[1] not in LOOKERS, pair[1] not in FILTERS), default=("", ""))


def _program_family(word: str, name: str, commands: Sequence[str]) -> str:
    """A program with its subcommand, which is read from the command."""
    if not has_subcommands(name):
        if not is_python(name):
            return name
        return "venv" if any(" -m venv" in text for text in commands) else "python -"
    for text in commands:
        position = text.find(word)
        for _ in range(8):  # its name may be part of other words first
            if position < 0:
                break
            before = text[position - 1] if position else " "
            after = text[position + len(word) : position + len(word) + 1]
            if before in " \t\n;&|(`\"'/$" and after.isspace():
                return _with_subcommand(name, text[position : position + MAX_COMMAND_CHARS].split("\n", 1)[0].split())
            position = text.find(word, position + 1)
    return name


def _with_subcommand(name: str, words: Sequence[str]) -> str:
    rest = [word.strip(QUOTES) for word in operands(words, SUBCOMMAND_VALUES)]
    verb = rest[0] if rest else ""
    if verb == "run" and len(rest) > 1 and "node_packager" in known_program(name).traits:
        verb = rest[1]
    return f"{name} {verb}" if verb[:1].isalnum() and len(verb) <= MAX_VERB_CHARS else name


def _script_family(path: str) -> str:
    name = base_name(path)
    interpreter = INTERPRETER_OF.get(name.rpartition(".")[2].lower()) if "." in name[1:] else None
    return f"{interpreter} {name}" if interpreter else name


def command_family(text: str) -> str:
    """A command's name, out of the programs around it: `sudo timeout 5 python3 -m pytest -q` is `pytest`."""
    words = strip_wrappers(text[:MAX_COMMAND_CHARS].split())
    if not words:
        return ""
    name = program_name(words[0])
    if is_python(name):
        return _python_family(words)
    row = known_program(name)
    if row.check_verbs or not row.traits.isdisjoint(("builds", "subcommands")):
        return _with_subcommand(name, words)
    if name in ("bash", "sh", "zsh", "node", "ruby", "perl") and (rest := operands(words)):
        return _script_family(rest[0].strip("'\""))
    return _script_family(words[0]) if "." in name[1:] else name  # `./runtests.py` is `python runtests.py`


def _python_family(words: Sequence[str]) -> str:
    for position, word in enumerate(words[1:], 1):
        if word == "-m" and position + 1 < len(words):
            return words[position + 1].partition(".")[0]
        if not word.startswith("-"):
            return _script_family(word.strip("'\""))
        if word in ("-c", "-"):
            break
    return "python -"
