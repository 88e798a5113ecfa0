"""Searches that found nothing. That something is not there is as good to know as where it is."""

from __future__ import annotations

import re

from dense.evidence.facts.facts import ActionFacts
from dense.knowledge.programs import programs_that

FINDING = programs_that("finds")
LOOKING = programs_that("shows", "searches", "lists", "finds")
MAX_OUTPUT_CHARS = 200
"""What a command prints by itself is not longer."""
MAX_COMMAND_CHARS = 20_000
ECHO = re.compile(
    r"(\|\||&&|;|\n|\A)[ \t]*+(?:\{[ \t]*+)?+(?:echo|printf)[ \t]++(?:-[a-zA-Z]++[ \t]++)?+"
    r"""("[^"\n]*+"|'[^'\n]*+'|[^;&|\n}]*+)"""
)
"""What a shell text prints by itself, with the operator before it: after `&&` it says that something was found."""
PRINT = re.compile(r"""^print\(["']([^"'\n{]{1,80})["']\)""", re.MULTILINE)
"""What a program prints in any case."""
INNER_PRINT = re.compile(r"\n[ \t]++[^\n]*?\bprint\(")
"""What a program prints only if something holds."""
NOTHING = re.compile(
    r"\W{0,4}(?:no (?:files?|match(?:es)?|results?|occurrences?)\b(?: (?:were )?found)?|found 0 \w{1,20}"
    r"|0 (?:files?|match(?:es)?|results?)(?: found)?)\b[^\n]{0,120}",
    re.IGNORECASE,
)
"""How tools say that a search found nothing."""
VARIABLE = re.compile(r"\$(?:\w+|\?|\{[^}]{0,80}\})")
QUIET = re.compile(r"\s-(?:[a-zA-Z]{0,8}[qc][a-zA-Z]{0,8}|-quiet|-count)(?=\s|$)")
"""A search that is asked for something other than what it finds."""


def found_nothing(facts: ActionFacts, output: str) -> bool:
    """Whether a look found nothing: by its empty output, what its command prints then, or a tool's word."""
    if facts.has_failed or facts.phase != "explore" or facts.effects.writes:
        return False
    if not facts.commands:
        return len(output) <= MAX_OUTPUT_CHARS and NOTHING.fullmatch(output.strip()) is not None
    command = "\n".join(facts.commands)[:MAX_COMMAND_CHARS]
    is_search = not FINDING.isdisjoint(facts.effects.runs) and QUIET.search(command) is None
    if facts.result.is_empty or not output.strip():
        return is_search and LOOKING.issuperset(facts.effects.runs)
    if len(output) > MAX_OUTPUT_CHARS:
        return False
    own = _echoed(command) if is_search else _printed(command)
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    return bool(lines) and all(line.startswith(tuple(own)) for line in lines)


def _echoed(command: str) -> list[str]:
    """What a shell text prints if a search found nothing, as far as it is known beforehand."""
    echoes = ECHO.findall(command)
    if any(operator == "&&" for operator, _ in echoes):
        return []
    texts = [VARIABLE.split(text.strip().strip("\"'"), maxsplit=1)[0] for _, text in echoes]
    return [text for text in texts if text.strip()]


def _printed(command: str) -> list[str]:
    """What a program prints after having searched for something, whatever it found."""
    return PRINT.findall(command) if "<<" in command and INNER_PRINT.search(command) is not None else []
