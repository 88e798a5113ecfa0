"""Terminal screens and other raw texts: control sequences, prompts, what was there before, what is too long to read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

LONGEST = 65_536
"""Longer observations are read at their head and their tail only."""
HEAD, TAIL = 24_576, 40_960

CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")
PROMPT = re.compile(
    r"\n(?:\([\w.-]{1,40}\) ?)?(?:[\w.-]{1,64}@[\w.-]{1,64}:[^\n#$]{0,200}[#$]|(?:bash|sh|zsh)-[\d.]{1,8}[#$]|\$)"
    r" ([^\n]*)"
)
SEPARATORS = re.compile(r"\|\||&&|[|;]")


def plain(text: str) -> str:
    """The text with a line feed in front, without control sequences, carriage returns and what is too long."""
    if len(text) > LONGEST:
        text = text[:HEAD] + "\n" + text[-TAIL:]
    if "\x1b" in text:
        text = CONTROL.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n" + text


def new_part(text: str, commands: Sequence[str]) -> str:
    """A screen from where this action's first command was typed: what stands above is older."""
    for command in commands:
        first = command.strip().partition("\n")[0][:60]
        if len(first) < 2:
            continue
        place = max(text.rfind("# " + first), text.rfind("$ " + first))
        if place < 0:
            return text
        return text[text.rfind("\n", 0, place) :]
    return text


def prompts(text: str) -> list[tuple[int, str]]:
    """Where each prompt of a screen stands, and what was typed at it."""
    return [(found.start(), found[1]) for found in PROMPT.finditer(text)]


def typed_before(typed: Sequence[tuple[int, str]], place: int) -> str | None:
    """What was typed at the last prompt above a place; None where there is none."""
    number = bisect_left(typed, (place, ""))
    return typed[number - 1][1] if number else None


def first_words(typed: str) -> list[str]:
    """The programs of a line that was typed, as far as a quick look tells."""
    words = (part.split(None, 1) for part in SEPARATORS.split(typed))
    return [part[0].rpartition("/")[2].lower() for part in words if part]
