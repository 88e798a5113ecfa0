"""What harnesses write around an output: exit codes, marks of failure, notices that a command was cut off."""

from __future__ import annotations

import re

from msgspec import Struct

HEAD = 400
"""Characters from the start in which a frame may stand."""
TAIL = 600
"""Characters from the end in which a frame may stand."""

LEADING = re.compile(
    r"(?:"
    r"(?:Error: )?Exit code:? (-?\d{1,10})\b"
    r"|<returncode>(-?\d{1,10})</returncode>"
    r"|exitcode: (-?\d{1,10})\b"
    r"|(?:Chunk ID: \w{1,20}\n)?Wall time: [^\n]{1,40}\nProcess exited with code (-?\d{1,10})\b"
    r"|The script ran, then exited with Unix exit code: (-?\d{1,10})\b"
    r")"
)
LEADS = ("<returncode>", "Exit code", "Error: Exit code", "exitcode: ", "Chunk ID: ", "Wall time: ", "The script ran")
"""How these begin."""
TRAILING = re.compile(
    r"(?:^|\n)(?:"
    r"\[[^\]\n]{0,60}\bexit(?: code|ed with code| status):? (-?\d{1,10})\.?[^\]\n]{0,80}\]"
    r"|(?:Command|Process|Program) exited with (?:exit )?(?:code|status):? (-?\d{1,10})\.?\s*$"
    r"|\(?[Ee]xit (?:status|code):? ?(-?\d{1,10})\)?\s*$"
    r"|Exit Code: (-?\d{1,10})\n"
    r')|"exit_code": ?(-?\d{1,10})[^\n]{0,80}$'
)
REPORTED = "[error] tool reported failure"
REFUSED = (
    *("<tool_use_error>", "<error>", "Please always provide EXACTLY ONE action", "Format error", "Tool call error"),
    *("Previous response had parsing errors", "Your proposed edit has introduced", "execution error: "),
    "No tool calls found in",
)
"""What harnesses say when they could not make anything of an action, or did not let it happen."""
CUT_OFF = re.compile(
    r"(?i:(?:^|\n)[^\n]{0,80}\b(?:command|execution|process|tool|operation|script|code)\b[^\n]{0,120}"
    r"\btimed out\b[^\n]{0,160})|</command> timed out and has been killed"
)


class Frame(Struct, frozen=True, gc=False):
    """What the frame around an output says."""

    code: int | None = None
    """The exit code."""
    is_error: bool = False
    """Whether the harness marks it as an error in the text."""
    refusal: str = ""
    """The line by which the harness itself refused."""
    cut_off: str = ""
    """The line that says that time ran out."""


NO_FRAME = Frame()


def frame(text: str, code: int | None = None) -> Frame:
    """What the harness says at the head and the tail of a text. Contents in between are not looked at. A code that was
    recorded as such stands."""
    head, tail = text[:HEAD], text[-TAIL:]
    begin = head.lstrip()
    code = code_in(begin, tail) if code is None else code
    refusal = first_line(begin) if begin.startswith(REFUSED) else ""
    ends = head + tail if len(text) > HEAD + TAIL else text
    cut_off = cut_off_in(head) or cut_off_in(tail) if "timed out" in ends or "TIMED OUT" in ends else ""
    is_error = text.endswith(REPORTED)
    if code is None and not (refusal or cut_off or is_error):
        return NO_FRAME
    return Frame(code, is_error, refusal, cut_off)


def code_in(begin: str, tail: str) -> int | None:
    """The exit code of a frame; what stands at the end wins, since some outputs begin with an earlier one."""
    found = TRAILING.search(tail) if "xit" in tail else None
    found = found or (LEADING.match(begin) if begin.startswith(LEADS) else None)
    return int(next(group for group in found.groups() if group is not None)) if found else None


def cut_off_in(place: str) -> str:
    """The line that says that time ran out."""
    found = CUT_OFF.search(place)
    return found[0].strip() if found else ""


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return text.strip().partition("\n")[0].strip()
