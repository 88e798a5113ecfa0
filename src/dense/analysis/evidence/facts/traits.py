"""What an action is about (files, packages, hosts, queries), its signature, its topic, and its command's family."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Literal

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.shell.command import operands, strip_wrappers
from dense.analysis.evidence.facts.paths import NO_TARGETS, base_name, normalise_path
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
from dense.knowledge.tools import PYTHONS, SHELLS, is_talk, known_tool, own_name
from dense.knowledge.words import words
from dense.text.search import contains_any
from dense.trajectory import Step, ToolCall

MAX_TARGETS = 24
MAX_COMMAND_CHARS = 300
"""How much of a command is searched for names."""
HOST = re.compile(r"(?:[a-z][a-z0-9+.-]{0,20}://)?(?:[^/@\s]{1,100}@)?([^/\s?#]{1,200})", re.IGNORECASE)


def targets_of(calls: Sequence[ToolCall], names: Sequence[str], effects: Effects) -> tuple[str, ...]:
    """Files first, changed before read; then packages and hosts; else the short arguments of a tool."""
    paths = effects.writes + effects.scripts + effects.deletes + tuple(_test_paths(effects.tests)) + effects.reads
    targets = [name for path in paths[: 4 * MAX_TARGETS] if (name := normalise_path(path)) not in NO_TARGETS]
    targets += [*effects.installs[:MAX_TARGETS], *map(host_of, effects.network[:MAX_TARGETS])]
    if not targets:
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS and not is_talk(name) and name not in PYTHONS:
                values = islice(call.arguments.values(), 4)
                targets += [value for value in values if isinstance(value, str) and 0 < len(value) <= 80]
    return tuple(dict.fromkeys(targets))[:MAX_TARGETS]


def _test_paths(tests: Sequence[str]) -> Iterator[str]:
    for text in tests[:4]:
        for word in text[:MAX_COMMAND_CHARS].split()[1:]:
            path = word.partition("::")[0].strip("'\"`;")
            if path[:1] not in "-" and ("/" in path or "." in path[1:]) and "=" not in path and "://" not in path:
                yield path


def host_of(address: str) -> str:
    """The host of an address; a query as it is."""
    if " " in address or len(address) > 2000:
        return address[:200]
    match = HOST.match(address)
    return match[1].lower() if match else address[:200]


# The signature

CUT_OUTPUT = re.compile(r" ?(?:head|tail)(?: -n)?(?: -?\d{1,6})?$")
MAX_SIGNATURE_CHARS = 1000
MAX_VALUE_CHARS = 300


def signature_of(calls: Sequence[ToolCall], names: Sequence[str], commands: Sequence[str]) -> str:
    """A long signature is cut, with its length and a checksum behind it."""
    parts = [_reduced(text) for text in commands]
    for call, name in zip(calls, names, strict=True):
        if name not in SHELLS:
            parts += [call.name, *map(_value_text, call.arguments.values())]
    signature = "\x1f".join(parts)
    if len(signature) <= MAX_SIGNATURE_CHARS:
        return signature
    check = zlib.crc32(signature.encode("utf-8", "replace"))
    return f"{signature[: MAX_SIGNATURE_CHARS // 2]}\x1f{len(signature)}\x1f{check}"


def _reduced(text: str) -> str:
    """A command without what changes nothing. Blanks at the beginning of a line or within quotes may matter."""
    if len(text) > MAX_SIGNATURE_CHARS:
        return text
    text = text.strip()
    if "\n" not in text and "'" not in text and '"' not in text:
        text = " ".join(text.split())
    text = text.replace(" 2>&1", "").replace(" 2>/dev/null", "")
    before, _, last = text.rpartition("|")
    return (before if CUT_OUTPUT.match(last) else text).rstrip(" ;")


def _value_text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else repr(value)[:MAX_VALUE_CHARS]
    except (RecursionError, ValueError):  # nested too deep, an integer too long to print
        return type(value).__name__


# Changes of topic

TopicChange = Literal[0, 1, 2]
MAX_MESSAGE_CHARS = 240
"""How much of a message is read: it begins with what is done next."""
MAX_SENTENCES = 5
SENTENCE_END = re.compile(r"[.!?:\n。！？：]+")
MARKUP = " \t*_#>-\"'`(…—"
TURNS = tuple(words("turn"))


def topic_change_of(step: Step, names: Sequence[str]) -> TopicChange:
    """2 by an update of the plan, 1 by a word, 0 for none."""
    if not SHELLS.issuperset(names) and any("plans" in known_tool(name).traits for name in names):
        return 2
    text = (step.message or step.reasoning)[:MAX_MESSAGE_CHARS].lower()
    sentences = SENTENCE_END.split(text, MAX_SENTENCES) if contains_any(text, TURNS) else ()
    return 1 if any(sentence.lstrip(MARKUP).partition(" ")[0].rstrip(",;") in TURNS for sentence in sentences) else 0


# Families of commands

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
