"""What kind of thing an action did: the program or tool that tells most, with its subcommand.

Two actions of one family do the same thing to something."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.effects import Effects
from dense.evidence.actions.shell.arguments import ASSIGNMENT, behind, operands
from dense.evidence.facts.files import base_name
from dense.knowledge.program import words
from dense.knowledge.programs import (
    INTERPRETER_OF,
    LOOKERS,
    has_subcommands,
    is_interpreter,
    is_python,
    known_program,
    program_name,
    programs_that,
)
from dense.knowledge.tools import SHELLS, TALKERS, known_tool, own_name
from dense.trajectory import ToolCall

FILTERS = programs_that("filters")
VALUED_OPTIONS = words("-C -c -f -p --prefix --git-dir --file --context --namespace -n")
"""Options before a subcommand whose value is the next word."""
SHELL_WRITERS = {"": "cat >", "cat": "cat >", "sed": "sed -i"}
ENVIRONMENTS = ("activate", ".bashrc", ".profile", ".bash_profile", ".zshrc", ".env", "env.sh", "setup.bash", "nvm.sh")
"""Files that a shell takes in to prepare itself: no program of the task's own."""
LONGEST = 300
"""How much of a command is looked at for its name."""


def family_of(calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str], effects: Effects) -> str:
    if effects.tests:
        return command_family(effects.tests[0])
    own = own_scripts(effects)
    if own:
        return script_family(own[-1])
    program, known = telling_program(effects.runs) if texts else ("", "")
    if texts:
        if effects.installs and program:
            return f"{known} install"
        if program and known not in LOOKERS:
            return program_family(program, known, texts)
        if effects.writes:
            return SHELL_WRITERS.get(program, program)
    if not SHELLS.issuperset(names):
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS and (name not in TALKERS or not texts):
                return tool_family(call, name)
    if texts:
        return program_family(program, known, texts) if program else command_family(texts[0])
    return own_name(calls[0].name) if calls else ""


def own_scripts(effects: Effects) -> Sequence[str]:
    """The programs that were run, without what only prepares the shell."""
    scripts = effects.scripts
    return [path for path in scripts if not path.endswith(ENVIRONMENTS)] if scripts else scripts


def telling_program(runs: Sequence[str]) -> tuple[str, str]:
    """The program that a chain is about, as it is written and by its name: no filter and nothing that only looks, where
    there is something else."""
    looking, known, is_filter = "", "", True
    for word in runs:
        name = program_name(word)
        if name not in LOOKERS:
            return word, name
        if is_filter and (not looking or name not in FILTERS):
            looking, known, is_filter = word, name, name in FILTERS
    return looking, known


def tool_family(call: ToolCall, name: str) -> str:
    if known_tool(name).kind == "editor" and isinstance(verb := call.arguments.get("command"), str) and len(verb) < 40:
        return verb
    return own_name(call.name)


def program_family(program: str, name: str, texts: Sequence[str]) -> str:
    """A program with its subcommand, which the text around it tells."""
    if is_python(name):
        return "venv" if any(" -m venv" in text for text in texts) else "python -"
    if not has_subcommands(name):
        return name
    for text in texts:
        position = text.find(program)
        for _ in range(8):  # its name may stand within other words first
            if position < 0:
                break
            before = text[position - 1] if position else " "
            after = text[position + len(program) : position + len(program) + 1]
            if (before in " \t\n;&|(`\"'/$") and after.isspace():
                return with_subcommand(name, text[position : position + LONGEST].split("\n", 1)[0].split())
            position = text.find(program, position + 1)
    return name


def with_subcommand(name: str, words: Sequence[str]) -> str:
    rest = operands(words, VALUED_OPTIONS)
    verb = rest[0].strip("'\"`;&|)") if rest else ""
    if verb == "run" and len(rest) > 1 and "node_packager" in known_program(name).traits:
        verb = rest[1].strip("'\"`;&|)")
    if not verb or not verb[0].isalnum() or len(verb) > 40:
        return name
    return f"{name} {verb}"


def script_family(path: str) -> str:
    name = base_name(path)
    program = INTERPRETER_OF.get(name.rpartition(".")[2].lower()) if "." in name[1:] else None
    return f"{program} {name}" if program else name


def command_family(text: str) -> str:
    """A command's name, out of the programs around it: `sudo timeout 5 python3 -m pytest -q` is `pytest`."""
    words = strip_wrappers(text[:LONGEST].split())
    if not words:
        return ""
    name = program_name(words[0])
    if is_python(name):
        for position, word in enumerate(words[1:], 1):
            if word == "-m" and position + 1 < len(words):
                return words[position + 1].partition(".")[0]
            if words[position - 1] in ("-W", "-X"):
                continue  # the value of an option
            if not word.startswith("-"):
                return script_family(word.strip("'\""))
            if word in ("-c", "-"):
                break
        return "python -"
    if has_subcommands(name):
        return with_subcommand(name, words)
    if is_interpreter(name) and (rest := operands(words)):
        return script_family(rest[0].strip("'\""))
    if name == "py.test":
        return "pytest"
    return script_family(words[0]) if "." in name[1:] else name  # `./runtests.py` is `python runtests.py`


def strip_wrappers(words: list[str]) -> list[str]:
    for _ in range(8):
        while words and "=" in words[0] and ASSIGNMENT.match(words[0]):
            words = words[1:]
        wrappers = known_program(program_name(words[0])).wrappers if words else ()
        inner = next((found for wrapper in wrappers if (found := behind(words, wrapper))), None)
        if inner is None:
            return words
        words = inner
    return words
