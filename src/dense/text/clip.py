"""Clip a text to a length. The only place where DENSE shortens text of a trace.

Every count is true. For any text that `clip_lines` clips to whole lines:
`len(text) + 1 == sum(len(line) + 1 for each line kept) + sum(characters of each gap)`."""

from __future__ import annotations

import re
from typing import Self

from dense.text.search import matcher

ELLIPSIS = "…"
TELLING = (
    *("error", "exception", "traceback", "fail", "fatal", "panic", "denied", "not found", "no such", "cannot", "can't"),
    *("could not", "unable", "invalid", "unexpected", "missing", "timeout", "timed out", "killed", "warning", "assert"),
    *("mismatch", "expected", "passed", " ok", "ok ", "success", "exit", "return code", "returncode", "refused"),
    *("undefined", "conflict", "differ", "wrong", "segmentation", "abort"),
)
"""Words of lines that report something."""
TELLING_WORD = "|".join(map(re.escape, TELLING))
COUNTED = "tests?|suites?|checks?|specs?|examples?|assertions?|pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?|skipped|ok"
RESULT = rf"\b\d+ (?:{COUNTED})\b|\b(?:{COUNTED})\b ?[:=] ?\d|^ok$"
is_result = matcher(re.compile(RESULT))
"""Lines that sum up: `Ran 521 tests in 3.1s`, `2 failed, 16 passed`, `OK`. Lines of progress name no count."""
is_reported = matcher(re.compile(f"{TELLING_WORD}|{RESULT}"))
"""Lines of either kind: most are of none."""
DIGIT = re.compile("[0-9]")
MAX_LINE_CHARS, MIN_LINE_CHARS = 300, 80
"""Of a longer line so much is kept, less if there is little room."""
MAX_TRIES = 6
MIN_STEP = 20
"""With less, the same lines might be chosen again."""
GAP_CHARS = 60
"""What a gap's own line costs, about."""


def clip_end(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning of the text, with an ellipsis if anything is missing."""
    if len(text) <= limit:
        return text
    return text[: max(0, limit - 1)] + ELLIPSIS * (limit > 0)


def clip_middle(text: str, limit: int, *, head: float = 0.6) -> str:
    """At most `limit` characters: the beginning and the end, and between them how many characters are missing.

    `head` is the share of the beginning. If there is no room for the count, the text is clipped at its end."""
    if len(text) <= limit:
        return text
    room = limit - len(_left_out(len(text)))
    if room < 8:
        return clip_end(text, limit)
    front = int(room * head)
    missing = len(text) - room
    return text[:front] + _left_out(missing) + text[front + missing :]


def _left_out(count: int) -> str:
    return f"[{ELLIPSIS} {count:,} characters left out {ELLIPSIS}]"


def clip_lines(text: str, limit: int, *, is_listing: bool = False, focus: str = "") -> str:
    """At most `limit` characters: the whole text, or the lines of it that tell most, in order.

    An output keeps its first and last lines and those that report errors, results and numbers. A listing (a file, code,
    a diff) keeps its beginning and its end: which of its other lines tell, nobody knows, and code with holes is worth
    nothing. With `focus`, the lines around the first one that holds it come first."""
    return "\n".join(
        f"[{part}]" if isinstance(part, Gap) else part
        for part in clip_to_parts(text, limit, is_listing=is_listing, focus=focus)
    )


class Gap(str):
    """What says how much is left out at this place, as apart from a line of the text that says the same."""

    lines: int
    characters: int
    """Of the lines with their line feeds."""

    def __new__(cls, lines: int, characters: int) -> Self:
        """The text, with its numbers at hand."""
        words = "line" if lines == 1 else "lines"
        gap = super().__new__(cls, f"… {lines:,} {words}, {characters:,} characters left out …")
        gap.lines, gap.characters = lines, characters
        return gap


def clip_to_parts(text: str, limit: int, *, is_listing: bool = False, focus: str = "") -> list[str]:
    """What `clip_lines` keeps: stretches of whole lines, and a `Gap` for what is missing between them."""
    if len(text) <= limit:
        return [text]
    lines = text.split("\n")
    if len(lines) == 1:
        return [clip_middle(text, limit)]
    by_value = _by_value(lines, is_listing, focus)
    room = limit
    width = max(MIN_LINE_CHARS, min(MAX_LINE_CHARS, limit // 3))
    for _ in range(MAX_TRIES):
        parts = _parts(lines, _choose(lines, by_value, room, is_listing, width), limit, focus, width)
        size = sum(len(part) + 1 + 2 * isinstance(part, Gap) for part in parts) - 1
        if size <= limit:
            return parts
        room -= max(size - limit, MIN_STEP)  # what the gaps themselves take
    return [clip_middle(text, limit)]


def _parts(lines: list[str], kept: list[int], limit: int, focus: str, width: int) -> list[str]:
    """The kept lines, in order, those that follow each other as one part, with a gap for what is missing between."""
    out: list[str] = []
    shown: list[str] = []
    following = 0
    for index in [*kept, len(lines)]:
        if index > following:
            if shown:
                out.append("\n".join(shown))
                shown = []
            missing = lines[following:index]
            out.append(Gap(len(missing), sum(map(len, missing)) + len(missing)))
        if index < len(lines):
            line = lines[index]
            shown.append(clip_middle(line, limit if focus and focus in line else _length(line, width)))
        following = index + 1
    return [*out, "\n".join(shown)] if shown else out


def _length(line: str, width: int) -> int:
    """How much of a line is kept: all of it, or `width` characters of a long one."""
    return len(line) if len(line) <= MAX_LINE_CHARS else width


def _by_value(lines: list[str], is_listing: bool, focus: str) -> list[int]:
    """The places of the lines, the one to keep first at first."""
    last = len(lines) - 1
    centre = next((index for index, line in enumerate(lines) if focus and focus in line), None)
    values, places = [0] * len(lines), range(len(lines))
    if not is_listing:
        values = list(map(line_worth, lines))
        for line_index in (*places[:3], *places[3:][-4:]):
            values[line_index] += 2
        known: set[str] = set()
        for line_index, line in enumerate(lines):
            if line in known:
                values[line_index] = 0  # said already
            known.add(line)
    if centre is None:
        distance = [min(index, 2 * (last - index)) for index in places]
    else:
        distance = [abs(index - centre) for index in places]
        for line_index in places[max(0, centre - 4) : centre + 5]:
            values[line_index] += 9
        values[centre] += 9
    return sorted(places, key=lambda index: (-values[index], distance[index]))


def line_worth(line: str) -> int:
    """How much a line of an output tells: a result most, then a word that reports something, then a number."""
    lower = line.strip().lower()
    if not is_reported(lower):
        return int(DIGIT.search(lower) is not None)
    return 6 if is_result(lower) else 3 + (DIGIT.search(lower) is not None)


def _choose(lines: list[str], by_value: list[int], limit: int, is_listing: bool, width: int) -> list[int]:
    """The places of the lines that fit, in order."""
    kept: set[int] = set()
    room = limit - GAP_CHARS
    shortest = min(map(len, lines)) + 1
    for index in by_value:
        if room < shortest:
            break
        cost = _length(lines[index], width) + 1
        if cost <= room:
            kept.add(index)
            room -= cost
        elif is_listing:
            break  # no crumbs of a listing
    # A gap of one short line costs as much as the line.
    kept |= {index + 1 for index in kept if index + 2 in kept and len(lines[index + 1]) < GAP_CHARS}
    return sorted(kept)
