"""What harnesses and terminals add to an output: exit codes, marks of failure, that a command was stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.knowledge.harnesses import FAILURE_MARK, LEADING_CODE, REFUSALS, RUNNING, STOPPED, TRAILING_CODE
from dense.text.guarded import GuardedPattern
from dense.trajectory import Step

HEAD_CHARS, TAIL_CHARS = 400, 600
"""Characters from the start and from the end in which a wrapper may be."""


class HarnessNotice(Struct, frozen=True, gc=False):
    """What the harness says of an output."""

    code: int | None = None
    """The exit code."""
    is_error: bool = False
    """Whether the text is marked as an error."""
    refusal: str = ""
    """The line by which the harness itself refused."""
    time_out: str = ""
    """The line that says that time ran out."""


def harness_notice(text: str, code: int | None = None) -> HarnessNotice:
    """What the harness says at the head and the tail of a text. A recorded code is not overruled."""
    head, tail = text[:HEAD_CHARS], text[-TAIL_CHARS:]
    start = head.lstrip()
    if code is None:
        # Some outputs begin with an earlier code, so the end goes first.
        found = ENDING_CODE.search(tail) or LEADING_CODE.match(start)
        code = int(next(group for group in found.groups() if group is not None)) if found else None
    refusal = first_line(start) if start.startswith(REFUSALS) else ""
    may_be_stopped = "timed out" in f"{head}{tail}".lower()
    stopped = (STOPPED.search(head) or STOPPED.search(tail)) if may_be_stopped else None
    return HarnessNotice(code, text.endswith(FAILURE_MARK), refusal, stopped[0].strip() if stopped else "")


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return text.strip().partition("\n")[0].strip()


# Commands that were left running

MAX_SESSION_CHARS = 600
ENDING_CODE = GuardedPattern(TRAILING_CODE)


def running_session(text: str) -> str:
    """The name of the session in which a command runs on; empty if it ended."""
    for part in (text[:MAX_SESSION_CHARS], text[-MAX_SESSION_CHARS:]):
        if "unning" in part and (found := RUNNING.search(part)):
            return found[1]
    return ""


def awaited_commands(steps: Sequence[Step], commands: Sequence[Sequence[str]]) -> dict[int, int]:
    """The place of each step that only asks for the output of a running command, and of the one that started it."""
    sessions: dict[str, int] = {}
    found: dict[int, int] = {}
    for place, step in enumerate(steps if not all(commands) else ()):
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


# What terminals add to an output


MAX_HEAD_CHARS, MAX_TAIL_CHARS = 24_576, 40_960
"""Longer observations are read at their head and their tail only."""

CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")


def clean_output(text: str) -> str:
    """The text with a line feed in front, without control sequences, carriage returns and the middle of a long one."""
    if len(text) > MAX_HEAD_CHARS + MAX_TAIL_CHARS:
        text = text[:MAX_HEAD_CHARS] + "\n" + text[-MAX_TAIL_CHARS:]
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
