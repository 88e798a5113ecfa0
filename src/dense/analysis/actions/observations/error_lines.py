"""Lines of an output that report errors, found by how they begin.

Error words in the middle of a line are contents, names, numbers. An error begins its line with who reports it
(`cat: …`, `bash: line 3: …`), with its severity (`error: …`), with the name of an exception, with a place in a source
(`a.c:3:5: error: …`), or with the start of an error family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from operator import attrgetter

from dense.analysis.actions.observations.context import OutputContext
from dense.analysis.actions.observations.error_sources import (
    COMPILER_ERROR,
    ZSH_IN_HARNESS,
    ErrorLine,
    classify,
    failure_of_line,
    is_benign,
    is_measurement,
    named_error,
)
from dense.knowledge.errors import EXCEPTION, NO_SUCH_FILE, ErrorTable
from dense.knowledge.programs import programs_that
from dense.text.search import contains_any

MAX_FAILURES = 6
MAX_CANDIDATES = 2_000
"""Lines of one text that are looked at."""
MAX_OWN_ERRORS = 8
"""Errors of one program that are looked at in contents."""
MAX_CHARS = 600
"""Characters of a line that are looked at."""
MAX_TRACEBACKS, MAX_TRACEBACK_LINES = 12, 400

NAME = r"[^\s\d:;\"'<>{}|=#*`][^\s:;\"'<>{}|=#*`]{0,119}+"
AFTER_NAME = rf"[ \t]|{COMPILER_ERROR.pattern}|(?<=\nERROR:)[^\n]|(?<=\n\(eval\):)[^\n]|(?<=[\n/]psql:)[^\n]"
"""What may follow a name and its colon: a text, a place in a source, the name of a logger, the file that psql reads."""
FETCHERS = programs_that("fetches")
FETCH_ERROR = re.compile(
    r"\n(?:HTTP/[\d.]{1,4} [45]\d\d\b|< HTTP/[\d.]{1,4} [45]\d\d\b|Connecting to [^\n]{1,200} failed: "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR [45]\d\d: )[^\n]*"
)
"""What programs that fetch pages print of the answer, besides the page."""
FILE_ERROR = re.compile(r"\n[^\s:][^\n:]{0,200}: +cannot open [`'][^\n]*\(No such file or directory\)")
"""How `file` reports it: the line begins with the file, not with `file`."""
TRACEBACK_START = "Traceback (most recent call last)"
RAISED = re.compile(r"(?:\w+\.)*[A-Za-z_]\w*(?:: [^\n]*|:?$)")
"""`ValueError: text`, `requests.exceptions.HTTPError: text`, `KeyboardInterrupt`."""
LOG_PREFIX = re.compile(r"(?:[\w. :,\[\]()-]{0,60}[|\]:] ?|[ \t]{0,40}(?:[|+] ?[-+ ]{0,40})?)$")
"""What loggers and `docker compose` put before each line."""


def error_lines(text: str, context: OutputContext) -> list[ErrorLine]:
    """Errors in the output of programs, which begins with a line feed: the first ones, and the last one, which often
    is what it comes down to. Not what was typed."""
    raised = tracebacks(text)
    candidates = islice(_candidate(context.errors).finditer(text), MAX_CANDIDATES)
    places = {candidate.start() + 1: candidate[0][1:MAX_CHARS] for candidate in candidates} | raised
    first_places: dict[str, int] = {}
    for start in sorted(places):
        first_places.setdefault(places[start], start)
    lines = [(start, line, start in raised) for line, start in first_places.items()]
    kept = list(islice(_reported(lines, context), MAX_FAILURES - 1))
    if len(kept) == MAX_FAILURES - 1:
        kept += [item for item in islice(_reported(reversed(lines), context), 1) if item not in kept]
    return kept


@cache
def _candidate(errors: ErrorTable) -> re.Pattern[str]:
    """Lines that may report an error. None of them is indented."""
    return re.compile(rf"\n(?![ \t])(?:{NAME}:(?:{AFTER_NAME})|{errors.line_start})[^\n]*")


def _reported(lines: Iterable[tuple[int, str, bool]], context: OutputContext) -> Iterator[ErrorLine]:
    """The errors that lines report, one by one: most lines will not be needed."""
    for start, line, is_raised in lines:
        name, _, rest = line.partition(":")
        if is_raised:
            item = ErrorLine(start, classify(line, context.errors, EXCEPTION))
        elif rest and " " not in name:
            item = named_error(start, name, rest, context)
        else:
            item = _started_error(start, line, context.errors)
        if item is not None and not (item.is_weak and context.repeats(item.failure.line)):
            yield item


def _started_error(start: int, line: str, errors: ErrorTable) -> ErrorLine | None:
    """The error that a line reports by the words with which it begins."""
    family = errors.by_line_start(line)
    if family is None or is_benign(line) or (family.is_fallback and is_measurement(line.partition(" ")[2])):
        return None
    failure = classify(line, errors, family) if family.is_fallback else failure_of_line(line, family)
    return ErrorLine(start, failure, is_weak=not family.overrules_exit_code)


def own_errors(text: str, context: OutputContext) -> list[ErrorLine]:
    """What programs that only show contents report of themselves, and the shell of them, in order."""
    names = [*context.programs]
    if contains_any(text, ("sh: ", ZSH_IN_HARNESS)):
        names += ["bash", "sh", "zsh", "-bash", "/bin/sh", "/bin/bash", ZSH_IN_HARNESS]
    if "git" in context.programs:
        names += ["fatal", "error"]
    error_lines: list[ErrorLine] = []
    if not FETCHERS.isdisjoint(context.programs):
        error_lines += [
            ErrorLine(match.start() + 1, classify(match[0], context.errors)) for match in FETCH_ERROR.finditer(text)
        ]
    if "file" in context.programs:
        error_lines += [
            ErrorLine(match.start() + 1, failure_of_line(match[0], NO_SUCH_FILE)) for match in FILE_ERROR.finditer(text)
        ]
    for name in names:
        for start, line in islice(_lines_starting(text, f"{name}:"), MAX_OWN_ERRORS):
            rest = line[len(name) + 1 : MAX_CHARS]
            if rest and (item := named_error(start, name, rest, context)) is not None:
                error_lines.append(item)
    return sorted(error_lines, key=attrgetter("place"))


def _lines_starting(text: str, start: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that start with something, and where they begin."""
    position = text.find(f"\n{start}")
    while position >= 0:
        end = text.find("\n", position + 1)
        yield position + 1, text[position + 1 : end if end >= 0 else len(text)]
        position = text.find(f"\n{start}", position + 1)


def tracebacks(text: str) -> dict[int, str]:
    """Where the last line of each Python traceback begins, and that line; one for each of chained ones."""
    lines: dict[int, str] = {}
    position = text.find(TRACEBACK_START)
    for _ in range(MAX_TRACEBACKS):
        after = text.find("\n", position) if position >= 0 else -1
        if after < 0:
            break
        prefix = text[text.rfind("\n", 0, position) + 1 : position]
        raised = _raised_line(text, after + 1, prefix) if LOG_PREFIX.match(prefix) else None
        if raised is not None:
            lines[raised[0]] = raised[1]
        position = text.find(TRACEBACK_START, after)
    return lines


def _raised_line(text: str, start: int, prefix: str) -> tuple[int, str] | None:
    """The first line behind the frames that is not indented; the start of the traceback if the text breaks off; None
    if it is no traceback."""
    match = re.compile(rf"\n(?>{re.escape(prefix)}|)(?![ \t])(?=[^\n]*\S)([^\n]*)").search(text, start - 1)
    end = match.start() + 1 if match else len(text)
    if text.find('File "', start, end) < 0 or text.count("\n", start, end) >= MAX_TRACEBACK_LINES - (match is None):
        return None
    if match is None:
        return text.rfind("\n") + 1, TRACEBACK_START
    return (end, match[1].strip()) if RAISED.match(match[1]) else None
