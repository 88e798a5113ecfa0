"""What the agent's own tools answer: edits, searches, browsers, APIs. Contents are never looked into; an answer is an
error as a whole, or it is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec

from dense.evidence.observations.exits import by_exit, is_quiet
from dense.evidence.observations.families import LONGEST_LINE, failure, family_of
from dense.evidence.observations.frames import Frame, first_line
from dense.evidence.observations.result import ObservedFailure
from dense.evidence.observations.screen import plain
from dense.evidence.observations.tracebacks import START, tracebacks
from dense.trajectory import Observation

SHORT = 1_000
"""An answer that is an error as a whole is no longer than this."""
LONGEST_JSON = 20_000
ENDING = 2_000
"""A traceback that a text ends with begins its last line at most this far from the end."""
OPENINGS = ("Error", "error", "ERROR", "Exception", "MCP error", "❌", "Traceback (most")
"""How an answer begins that is an error."""
HINTS = ("Failed", "Invalid", "Cannot ", "Unable to ", "Could not ")
"""How it may begin, where the rest of its line tells a family."""

NO_PAGE = "chrome-error://"
"""The address that a browser shows where it could not reach one."""


def answered(observation: Observation, around: Frame, *, is_called: bool) -> Iterator[ObservedFailure]:
    """What went wrong by a tool's own word, or the harness's."""
    text = observation.text.strip()
    if around.refusal:
        yield failure(around.refusal.replace("<tool_use_error>", "").replace("</tool_use_error>", ""), "tool")
    elif around.cut_off and text.startswith(around.cut_off):
        yield failure(around.cut_off, "time_out")
    elif observation.is_error or around.is_error:
        yield failure(first_line(text[: 2 * LONGEST_LINE]) or "error", otherwise="tool")
    elif around.code is not None and not is_quiet(around.code):
        yield broken_off(text) or by_exit(around.code)
    elif NO_PAGE in text[:400]:
        yield failure(first_line(text[: 2 * LONGEST_LINE]), "connection")
    elif observation.origin == "tool" and (line := error_as_a_whole(text)):
        yield failure(line, otherwise="tool")
    elif not is_called and (broken := broken_off(text)):
        yield broken


def broken_off(text: str) -> ObservedFailure | None:
    """The traceback that a text ends with."""
    if START not in text:
        return None
    text = plain(text)
    found = list(tracebacks(text).items())
    if not found or len(text) - found[-1][0] > ENDING:
        return None
    return failure(found[-1][1], otherwise="exception")


def error_as_a_whole(text: str) -> str:
    """The line that makes an answer an error; empty where it is none."""
    if text.startswith("{"):
        return error_in_json(text)
    if len(text) > SHORT or not text.startswith((*OPENINGS, *HINTS)):
        return ""
    line = first_line(text)
    if text.startswith(START):
        return text[text.rfind("\n") + 1 :]
    if text.startswith(OPENINGS):
        return line if len(line) > 8 else " ".join(text.split())
    return line if family_of(line) else ""


def error_in_json(text: str) -> str:
    """The error of a JSON object that has one at its top."""
    if len(text) > LONGEST_JSON or not ('"error' in text or '"success"' in text or '"isError"' in text):
        return ""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    fields = cast("dict[str, object]", value)
    error = fields.get("error") or fields.get("errors") or fields.get("error_message")
    if error and error != "none":
        return error if isinstance(error, str) else msgspec.json.encode(error).decode()
    is_failed = fields.get("success") is False or fields.get("isError") is True or fields.get("status") == "error"
    return str(fields.get("message") or text) if is_failed else ""
