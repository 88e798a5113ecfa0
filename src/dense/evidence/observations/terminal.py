"""What terminals add to an output: control sequences, prompts, older parts of the screen. And very long outputs."""

from __future__ import annotations

import re
from collections.abc import Sequence

HEAD_CHARS, TAIL_CHARS = 24_576, 40_960
"""Longer observations are read at their head and their tail only."""

CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")


def clean_output(text: str) -> str:
    """The text with a line feed in front, without control sequences, carriage returns and the middle of a long one."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]
    if "\x1b" in text:
        text = CONTROL.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n" + text


def new_part(text: str, commands: Sequence[str]) -> str:
    """A screen from where this action's first command was typed: what is above is older."""
    first = next((line for command in commands if len(line := command.strip().partition("\n")[0][:60]) > 1), None)
    place = max(text.rfind(f"# {first}"), text.rfind(f"$ {first}")) if first else -1
    return text[text.rfind("\n", 0, place) :] if place >= 0 else text
