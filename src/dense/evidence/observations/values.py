"""Named values in a text: `total: 30`, `accuracy = 0.93`, `{"total": 30}`."""

from __future__ import annotations

import re
from itertools import islice

from dense.evidence.observations.result import Value

MAX_VALUES = 60
MAX_LINE_CHARS = 400

NUMBER = r"[-+]?[$€£]?(?:\d+(?:[_,]\d{3})*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
FIELD = re.compile(
    r"[\"']([^\"'\n\\]{1,60})[\"']\s{0,4}:\s{0,4}(?:\"([^\"\n\\]{0,120})\"|'([^'\n\\]{0,120})'|("
    + NUMBER
    + r"|true|false|null|True|False|None)(?![\w.]))"
)
"""A field of JSON, or of a printed dictionary."""
PAIR = re.compile(
    r"[\s>*•-]{0,20}(\*{0,2}[^\W\d][^:=|\n\"'{}\[\]<>;]{0,60}?)\*{0,2}\s{0,20}(?::|=|→|：|->)\**\s{1,20}(\S[^\n]{0,160})$"
)
TIGHT = re.compile(r"\s{0,20}([^\W\d][\w.-]{0,60})[=:：](?![/=\\:])(\S[^\n]{0,160})$")
SCALAR = re.compile(r"(?:" + NUMBER + r")(?: ?(?:%|[^\W\d][\w/]{0,11}))?$")
QUOTED = re.compile(r"\"([^\"]{0,120})\"$|'([^']{0,120})'$|`([^`]{0,120})`$")
MAX_WORDS = 6
"""A string without quotes is a value if it has no more words than this."""


def values(text: str) -> tuple[Value, ...]:
    """The named values of a text, in order, each once; some dozens at most."""
    found = (value for line in text.splitlines() for value in _values_of(line[:MAX_LINE_CHARS]))
    return tuple(islice(dict.fromkeys(found), MAX_VALUES))


def _values_of(line: str) -> list[Value]:
    """The named values of one line."""
    if fields := FIELD.findall(line):
        return [Value(name.strip(), next((text for text in texts if text), "")) for name, *texts in fields]
    pair = PAIR.match(line) or TIGHT.match(line)
    text = _value(pair[2].strip().rstrip(",;")) if pair else None
    return [Value(pair[1].strip("* \t"), text)] if pair and text is not None else []


def _value(text: str) -> str | None:
    """The value itself: a number with its unit, a quoted string without its quotes, a short string."""
    if SCALAR.match(text):
        return text
    if quoted := QUOTED.match(text):
        return next((group for group in quoted.groups() if group), "")
    return text if len(text) <= 80 and len(text.split()) <= MAX_WORDS and text[-1] not in "({[" else None
