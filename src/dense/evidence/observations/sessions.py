"""Commands that a harness left running, and the later actions that ask for their output: it belongs to the command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.trajectory import Step

RUNNING = re.compile(
    r"(?:Command running in background with ID: |Command still running \(session |Process running with session ID "
    r"|[Cc]ommand (?:is )?running in (?:the )?background[^\n]{0,40}?\b(?:id|ID|shellId)[: ]+)([\w-]{1,60})"
)
"""How harnesses say that a command runs on, with the name by which its output can be asked for."""
HEAD_CHARS, TAIL_CHARS = 600, 400


def running_session(text: str) -> str:
    """The name of the session in which a command runs on; empty if it ended."""
    if "unning" not in text:
        return ""
    found = RUNNING.search(text[:HEAD_CHARS]) or RUNNING.search(text[-TAIL_CHARS:])
    return found[1] if found else ""


def awaited_commands(steps: Sequence[Step], commands: Sequence[Sequence[str]]) -> dict[int, int]:
    """For each step that only asks for the output of a command that was left running, the step that started it, both by
    their places."""
    sessions: dict[str, int] = {}
    found: dict[int, int] = {}
    for place, step in enumerate(steps):
        if sessions and step.calls and not commands[place]:
            names = [value for call in step.calls for value in call.arguments.values() if isinstance(value, str | int)]
            started = next((sessions[str(name)] for name in names if str(name) in sessions), None)
            if started is not None:
                found[place] = started
        if commands[place]:
            for seen in step.observations:
                if session := running_session(seen.text):
                    sessions[session] = place
    return found
