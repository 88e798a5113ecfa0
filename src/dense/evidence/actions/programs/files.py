"""Programs on files whose arguments need more than a row says: `sed`, `find`, `dd`, `perl`, databases, SWE-agent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.effects import UNNAMED
from dense.evidence.actions.shell.arguments import operands, option
from dense.evidence.actions.shell.command import Command
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import known_program, program_name

CHANGING_SQL = re.compile(
    r"\b(?:insert|update|delete|create|drop|alter|replace|vacuum|\.import|\.restore)\b", re.IGNORECASE
)
SED_VALUES = words_of("-e -f --expression --file -l")
SED_SCRIPT = re.compile(r"-e|-f\Z|--expression|--file")
SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")


def record_sed(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    options = [word for word in words if word[:1] == "-"]
    is_in_place = any(map(SED_IN_PLACE.match, options))
    rest = [word for word in operands(words, SED_VALUES) if word or not is_in_place]  # `-i ''` of macOS keeps no copy
    if not any(map(SED_SCRIPT.match, options)):
        rest = rest[1:]
    (builder.write if is_in_place else builder.read)(*rest, cwd=command.cwd)


def record_dd(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    for key, _, value in (word.partition("=") for word in words[1:]):
        if key == "if":
            builder.read(value, cwd=command.cwd)
        elif key == "of":
            builder.write(value, cwd=command.cwd)


def record_find(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    builder.read(*_roots(words), cwd=command.cwd)
    if "-delete" in words:
        builder.delete(*found_by(words), cwd=command.cwd)


def found_by(words: Sequence[str]) -> list[str]:
    """What `find` finds, as patterns: its folders with the name that it looks for."""
    name = option(words, "-name", "-iname")
    return [f"{root.rstrip('/')}/{name}" if name else root for root in _roots(words)]


def _roots(words: Sequence[str]) -> list[str]:
    """The folders that `find` goes through."""
    end = next((n for n, word in enumerate(words) if n and word[:1] in ("-", "(", "!", "\\")), len(words))
    return list(words[1:end]) or ["."]


def record_swe_agent(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """The commands that SWE-agent adds to the shell."""
    name = program_name(words[0])
    rest = operands(words)
    if name in ("edit", "insert"):
        builder.write(UNNAMED)
    elif name in ("create", "open"):
        (builder.write if name == "create" else builder.read)(*rest[:1], cwd=command.cwd)
        builder.opened = "".join(rest[:1])
    else:
        builder.read(*(rest[1:2] or ["."]), cwd=command.cwd)


def record_perl(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """One-line programs of Perl that change files in place."""
    rest = operands(words, words_of("-e -E -M -I"))
    has_code = any(re.match(r"-\w*[eE]$", word) for word in words[1:])
    if has_code and "-e" not in words and "-E" not in words:
        rest = rest[1:]  # the code follows a bundle such as `-pie`
    if any(re.match(r"-[np0l]*i", word) for word in words[1:]):
        builder.write(*rest, cwd=command.cwd)


def record_sqlite(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    rest = operands(words, known_program("sqlite3").valued)
    sql = " ".join([*rest[1:], command.stdin or ""])
    (builder.write if CHANGING_SQL.search(sql) else builder.read)(*rest[:1], cwd=command.cwd)
