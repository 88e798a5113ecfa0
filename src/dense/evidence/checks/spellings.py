"""Whether two command lines run the same program in the same way, however they are spelled: `python demo.py`,
`cd /app && timeout 5 python3 -u demo.py 2>&1 | tail`, `./run.sh x` and `bash run.sh x`."""

from __future__ import annotations

from functools import lru_cache

from dense.evidence.facts.families import strip_wrappers
from dense.evidence.facts.paths import base_name
from dense.knowledge.programs import is_interpreter, program_name
from dense.narrate.statements import blocks

LONGEST = 4_000
"""Characters of a text that are looked at."""
MOST_STATEMENTS = 40
ENDING = ("|", ">", "<", "&", "2>", "1>", ";", "#")
"""How a word begins behind which a command's own words are over."""
QUOTES = "'\"`"


@lru_cache(256)
def spelling(command: str) -> tuple[str, ...]:
    """A command without what differs from one spelling to another: what is run, by its base name, and its arguments;
    not what it is run by or within, nor where its output goes."""
    words = _own_words(command)
    return (base_name(words[0]), *words[1:]) if words else ()


def program_of(command: str) -> str:
    """What a command runs, as it is written there."""
    return next(iter(_own_words(command)), "")


def runs_alike(command: str, text: str) -> bool:
    """Whether one of the statements of a shell text runs a command, and with nothing more."""
    own = spelling(command)
    return any(spelling(part.strip()) == own for part in blocks(text[:LONGEST])[:MOST_STATEMENTS])


def _own_words(command: str) -> list[str]:
    words = strip_wrappers(command[:LONGEST].split())
    place = 0
    if len(words) > 1 and is_interpreter(program_name(words[0])):
        place = 1
        while place < len(words) - 1 and words[place].startswith("-") and words[place] not in ("-m", "-c", "-e"):
            place += 1
    rest = words[place:]
    end = next((n for n, word in enumerate(rest) if word.startswith(ENDING)), len(rest))
    return [word.strip(QUOTES).rstrip(";") for word in rest[:end]]
