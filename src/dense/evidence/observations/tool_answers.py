"""What the agent's own tools answer: edits, searches, browsers, APIs.

Contents are not searched for error words: an answer is an error as a whole, or it is none."""

from __future__ import annotations

from collections.abc import Iterator

from dense.evidence.observations.context import OutputContext
from dense.evidence.observations.error_lines import TRACEBACK_START, tracebacks
from dense.evidence.observations.error_sources import (
    MAX_LINE_CHARS,
    NO_FAILURE,
    classify,
    failure_of_code,
    failure_of_line,
)
from dense.evidence.observations.harness import HarnessNotice, clean_output, first_line
from dense.evidence.observations.result import ObservedFailure
from dense.knowledge.errors import CONNECTION, EXCEPTION, TOOL, ErrorTable
from dense.trajectory import Observation

MAX_ERROR_CHARS = 1_000
"""An answer that is an error as a whole is no longer than this."""
ENDING_CHARS = 2_000
"""A traceback at the end of a text begins its last line at most this far from the end."""
ERROR_OPENINGS = ("Error", "error", "ERROR", "Exception", "MCP error", "❌", "Traceback (most")
"""How an answer begins that is an error."""
POSSIBLE_OPENINGS = ("Failed", "Invalid", "Cannot ", "Unable to ", "Could not ")
"""How an answer begins that is an error if the rest of its line shows a family."""
NO_PAGE = "chrome-error://"
"""The address that a browser shows if it could not reach the one that it was given."""


def tool_failures(observation: Observation, notice: HarnessNotice, context: OutputContext) -> Iterator[ObservedFailure]:
    """What went wrong according to a tool, or to the harness."""
    text = observation.text.strip()
    errors = context.errors
    if notice.refusal:
        yield failure_of_line(notice.refusal.replace("<tool_use_error>", "").replace("</tool_use_error>", ""), TOOL)
    elif observation.is_error or notice.is_error:
        yield classify(first_line(text[: 2 * MAX_LINE_CHARS]) or "error", errors, TOOL)
    elif notice.code is not None and notice.code not in NO_FAILURE:
        yield _last_traceback(text, errors) or failure_of_code(notice.code, errors)
    elif NO_PAGE in text[:400]:
        yield failure_of_line(first_line(text[: 2 * MAX_LINE_CHARS]), CONNECTION)
    elif observation.origin == "tool" and (line := _error_line(text, errors)):
        yield classify(line, errors, TOOL)
    elif not context.is_called and (failure := _last_traceback(text, errors)):
        yield failure


def _last_traceback(text: str, errors: ErrorTable) -> ObservedFailure | None:
    """The traceback that a text ends with."""
    if TRACEBACK_START not in text:
        return None
    text = clean_output(text)
    found = list(tracebacks(text).items())
    if not found or len(text) - found[-1][0] > ENDING_CHARS:
        return None
    return classify(found[-1][1], errors, EXCEPTION)


def _error_line(text: str, errors: ErrorTable) -> str:
    """The line that makes an answer an error; empty if it is none."""
    if len(text) > MAX_ERROR_CHARS:
        return ""
    line = first_line(text)
    if text.startswith(ERROR_OPENINGS):
        return line if len(line) > 8 else " ".join(text.split())
    return line if text.startswith(POSSIBLE_OPENINGS) and errors.by_words(line) else ""
