"""What harnesses write around an output: exit codes, marks of failure, that a command was stopped or runs on."""

from __future__ import annotations

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
