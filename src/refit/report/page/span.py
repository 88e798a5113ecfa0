"""The decisive span of a feedback: the lines that name what the recipient then did.

Nobody can see why a recipient acted. What can be seen is which lines speak of what it then used: files, programs,
modules, values. Words that few lines have, that a run without feedback did not use and that the task does not say
count most; lines that ask for something count more than quotes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from dense.text.clip import clip_middle

MAX_SPAN_CHARS, MAX_LINE_CHARS, MAX_NAMED = 900, 240, 8
_WORD = re.compile(r"[A-Za-z0-9_/.-]*[A-Za-z_/][A-Za-z0-9_/.-]*[A-Za-z0-9_]")
_MIN_WORD_CHARS = 3
_COMMON = frozenset(
    "the and for not was are with that this from have but its all one any has been into out and".split()
)
_ASKING = re.compile(
    r"(?:next-step|open-issue|missing|unchecked|dead-end|shortcut|lesson|check|strategy|FAIL)", re.IGNORECASE
)
_ASKS, _IS_NEW, _IN_TASK = 3.0, 3.0, 0.3


class SpanLine(Struct, frozen=True):
    """A line of the span."""

    text: str
    """The line, shortened in its middle."""
    is_followed: bool
    """Whether it names something that the recipient used, and a run without feedback did not."""


class DecisiveSpan(Struct, frozen=True):
    """Lines of a feedback, one after the other."""

    lines: tuple[SpanLine, ...] = ()
    """The lines."""
    first: int = 0
    """The number of the first one, from 1 on."""
    total: int = 0
    """How many lines the feedback has."""
    named: tuple[str, ...] = ()
    """What the span names, the recipient then used, and a run without feedback did not; the most telling first."""


def decisive_span(feedback: str, actions: Sequence[str], without: Sequence[str] = (), task: str = "") -> DecisiveSpan:
    """The span of a feedback that names most of what `actions` use. `without` are the actions of the same recipient
    without feedback: of a second try, or of the first."""
    lines = feedback.splitlines()
    if not lines:
        return DecisiveSpan()
    used, known, asked = _words(" ".join(actions)), _words(" ".join(without)), _words(task)
    words_by_line = [_words(line) & used for line in lines]
    often = Counter(word for words in words_by_line for word in words)
    worth = {
        word: (_IS_NEW if word not in known else 1.0) * (_IN_TASK if word in asked else 1.0) / count
        for word, count in often.items()
    }
    values = [
        sum(worth[word] for word in words) * (_ASKS if _ASKING.match(line) else 1.0)
        for line, words in zip(lines, words_by_line, strict=True)
    ]
    shown = [clip_middle(line, MAX_LINE_CHARS) for line in lines]
    start, end = _best(values, [len(line) + 1 for line in shown])
    common = known | asked
    named = sorted(
        {word for words in words_by_line[start:end] for word in words - common}, key=lambda word: -worth[word]
    )
    return DecisiveSpan(
        tuple(SpanLine(shown[n], bool(words_by_line[n] - common)) for n in range(start, end)),
        start + 1,
        len(lines),
        tuple(named[:MAX_NAMED]),
    )


def _best(values: Sequence[float], sizes: Sequence[int]) -> tuple[int, int]:
    """The lines within the room that are worth most; of equals the earliest. Without any, the beginning."""
    best, stretch, end, value, size = -1.0, (0, 0), 0, 0.0, 0
    for start in range(len(values)):
        while end < len(values) and (end == start or size + sizes[end] <= MAX_SPAN_CHARS):
            value, size, end = value + values[end], size + sizes[end], end + 1
        if value > best + 1e-9:
            best, stretch = value, (start, end)
        value, size = value - values[start], size - sizes[start]
    return stretch


def _words(text: str) -> set[str]:
    """Names of files, programs, modules and values. A path also counts by its parts."""
    words = {word.strip("./-") for word in _WORD.findall(text)}
    words |= {part for word in words if "/" in word for part in word.split("/")}
    return {word for word in words if len(word) >= _MIN_WORD_CHARS and word.lower() not in _COMMON}
