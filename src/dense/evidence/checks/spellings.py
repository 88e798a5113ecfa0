"""Whether two command lines run the same program in the same way, however they are spelled: `python demo.py`,
`cd /app && timeout 5 python3 -u demo.py 2>&1 | tail`, `./run.sh x` and `bash run.sh x`."""

from __future__ import annotations

from functools import lru_cache

from dense.evidence.actions.shell.arguments import strip_wrappers
from dense.evidence.actions.shell.statements import blocks
from dense.evidence.facts.paths import base_name
from dense.knowledge.programs import is_interpreter, program_name

MAX_TEXT_CHARS = 4_000
MAX_STATEMENTS = 40
COMMAND_ENDS = ("|", ">", "<", "&", "2>", "1>", ";", "#")
"""How a word begins behind which a command's own words are over."""


@lru_cache(256)
def own_words(command: str) -> tuple[str, ...]:
    """A command without what differs between spellings: wrappers, interpreter, redirections."""
    words = strip_wrappers(command[:MAX_TEXT_CHARS].split())
    place = 0
    if len(words) > 1 and is_interpreter(program_name(words[0])):
        place = 1
        while place < len(words) - 1 and words[place].startswith("-") and words[place] not in ("-m", "-c", "-e"):
            place += 1
    rest = words[place:]
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
