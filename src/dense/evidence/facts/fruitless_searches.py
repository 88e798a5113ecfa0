"""Looks that found nothing. Where a thing was looked for and is not is as good to know as where it is."""

from __future__ import annotations

import re

from dense.knowledge.programs import programs_that
from dense.narrate.actions import NarratedAction
from dense.narrate.commands import LOOKING

FINDING = programs_that("finds")
"""Programs that give back nothing where they find nothing."""
LONGEST = 200
"""What a command says by itself is not longer."""
MOST_COMMAND = 20_000
"""So much of a command is looked at."""
ECHO = re.compile(
    r"(\|\||&&|;|\n|\A)[ \t]*+(?:\{[ \t]*+)?+(?:echo|printf)[ \t]++(?:-[a-zA-Z]++[ \t]++)?+"
    r"""("[^"\n]*+"|'[^'\n]*+'|[^;&|\n}]*+)"""
)
"""What a shell text says by itself, with what comes before it: where the last command worked, it says more than that
nothing was found."""
PRINT = re.compile(r"""^print\(["']([^"'\n{]{1,80})["']\)""", re.MULTILINE)
"""What a program says at its end in any case."""
INNER_PRINT = re.compile(r"\n[ \t]++[^\n]*?\bprint\(")
"""What a program says only if something holds."""
VARIABLE = re.compile(r"\$(?:\w+|\?|\{[^}]{0,80}\})")
QUIET = re.compile(r"\s-(?:[a-zA-Z]{0,8}[qc][a-zA-Z]{0,8}|-quiet|-count)(?=\s|$)")
"""A search that is asked for something else than what it finds."""


def is_vain(deed: NarratedAction) -> bool:
    """Whether a look found nothing: nothing came back, or only what its command says by itself then."""
    facts = deed.facts
    if deed.has_failed or facts.phase != "explore" or not facts.commands or facts.effects.writes:
        return False
    command = "\n".join(facts.commands)[:MOST_COMMAND]
    is_search = not FINDING.isdisjoint(facts.effects.runs) and QUIET.search(command) is None
    if facts.result.is_empty:
        return is_search and LOOKING.issuperset(facts.effects.runs)
    came_back = deed.output
    if len(came_back) > LONGEST:
        return False
    said = _echoed(command) if is_search else _printed(command)
    lines = [line for line in map(str.strip, came_back.split("\n")) if line]
    return bool(lines) and all(any(map(line.startswith, said)) for line in lines)


def _echoed(command: str) -> list[str]:
    """What a shell text says if a search found nothing, as far as it is known beforehand."""
    said: list[str] = []
    for found in ECHO.finditer(command):
        text = VARIABLE.split(found[2].strip().strip("\"'"), maxsplit=1)[0]
        if found[1] == "&&":
            return []
        if text.strip():
            said.append(text)
    return said


def _printed(command: str) -> list[str]:
    """What a program says after having looked for something, whatever it found."""
    return PRINT.findall(command) if "<<" in command and INNER_PRINT.search(command) is not None else []
