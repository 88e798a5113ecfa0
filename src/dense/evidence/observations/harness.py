"""What harnesses write around an output: exit codes, marks of failure, that a command was stopped or runs on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.trajectory import Step

HEAD_CHARS, TAIL_CHARS = 400, 600
"""Characters from the start and from the end in which a wrapper may be."""

LEADING_CODE = re.compile(
    r"(?:Error: )?Exit code:? (-?\d{1,10})\b"
    r"|<returncode>(-?\d{1,10})</returncode>"
    r"|exitcode: (-?\d{1,10})\b"
    r"|(?:Chunk ID: \w{1,20}\n)?Wall time: [^\n]{1,40}\nProcess exited with code (-?\d{1,10})\b"
    r"|The script ran, then exited with Unix exit code: (-?\d{1,10})\b"
)
TRAILING_CODE = re.compile(
    r"(?:^|\n)(?:"
    r"\[[^\]\n]{0,60}\bexit(?: code|ed with code| status):? (-?\d{1,10})\.?[^\]\n]{0,80}\]"
    r"|(?:Command|Process|Program) exited with (?:exit )?(?:code|status):? (-?\d{1,10})\.?\s*$"
    r"|\(?[Ee]xit (?:status|code):? ?(-?\d{1,10})\)?\s*$"
    r"|Exit Code: (-?\d{1,10})\n"
    r')|"exit_code": ?(-?\d{1,10})[^\n]{0,80}$'
)
FAILURE_MARK = "[error] tool reported failure"
REFUSALS = (
    *("<tool_use_error>", "<error>", "Please always provide EXACTLY ONE action", "Format error", "Tool call error"),
    *("Previous response had parsing errors", "Your proposed edit has introduced", "execution error: "),
    "No tool calls found in",
)
"""How harnesses begin if they could not parse an action, or did not allow it."""
STOPPED = re.compile(
    r"(?i:(?:^|\n)[^\n]{0,80}\b(?:command|execution|process|tool|operation|script|code)\b[^\n]{0,120}"
    r"\btimed out\b[^\n]{0,160})|</command> timed out and has been killed"
)


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
        found = TRAILING_CODE.search(tail) or LEADING_CODE.match(start)
        code = int(next(group for group in found.groups() if group is not None)) if found else None
    refusal = first_line(start) if start.startswith(REFUSALS) else ""
    may_be_stopped = "timed out" in f"{head}{tail}".lower()
    stopped = (STOPPED.search(head) or STOPPED.search(tail)) if may_be_stopped else None
    return HarnessNotice(code, text.endswith(FAILURE_MARK), refusal, stopped[0].strip() if stopped else "")


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return text.strip().partition("\n")[0].strip()


# Commands that were left running

RUNNING = re.compile(
    r"(?:Command running in background with ID: |Command still running \(session |Process running with session ID "
    r"|[Cc]ommand (?:is )?running in (?:the )?background[^\n]{0,40}?\b(?:id|ID|shellId)[: ]+)([\w-]{1,60})"
)
"""How harnesses say that a command runs on, with the name by which its output can be asked for."""
MAX_SESSION_CHARS = 600


def running_session(text: str) -> str:
    """The name of the session in which a command runs on; empty if it ended."""
    for part in (text[:MAX_SESSION_CHARS], text[-MAX_SESSION_CHARS:]):
        if "unning" in part and (found := RUNNING.search(part)):
            return found[1]
    return ""


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
