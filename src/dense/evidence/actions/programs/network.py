"""Programs that fetch from other machines, and databases in a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.shell.arguments import has_flag, operands, option
from dense.evidence.actions.shell.command import Command
from dense.knowledge.programs import known_program, program_name

CHANGING_SQL = re.compile(
    r"\b(?:insert|update|delete|create|drop|alter|replace|vacuum|\.import|\.restore)\b", re.IGNORECASE
)


def record_download(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """`curl` prints unless `-o` or `-O` says otherwise; `wget` saves under the last part of the address."""
    name = program_name(words[0])
    row = known_program(name)
    letter = "O" if name == "wget" else "o"
    target = option(words, "--output", "--output-document")
    for position, word in enumerate(words[1:], 1):
        if re.match(rf"-[a-zA-Z]*{letter}", word):  # also at the end of a bundle: `-sSLo x`, `-qO- x`
            behind = word.split(letter, 1)[1]
            target = behind or (words[position + 1] if position + 1 < len(words) else "")
            break
    rest = operands(words, row.valued)
    addresses = [word for word in [*rest, option(words, "--url") or ""] if word and word != target]
    builder.ask(*addresses)
    if target is not None:
        builder.write(target, cwd=command.cwd)
    elif name == "wget" or has_flag(words, "O", "--remote-name"):
        folder = option(words, "-P", "--directory-prefix") if name == "wget" else None
        builder.write(*(f"{folder}/{_last_part(one)}" if folder else _last_part(one) for one in addresses))


def _last_part(address: str) -> str:
    path = re.sub(r"^[\w+.-]+://", "", address).split("?")[0].split("#")[0]
    return path.rsplit("/", 1)[-1] if "/" in path.rstrip("/") else "index.html"


def record_sqlite(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    rest = operands(words, known_program("sqlite3").valued)
    sql = " ".join(rest[1:]) + " " + (command.stdin or "")
    (builder.write if CHANGING_SQL.search(sql) else builder.read)(*rest[:1], cwd=command.cwd)
