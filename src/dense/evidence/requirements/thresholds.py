"""Limits: a sign or a phrase before a number, such as `<= 2 s` or `at most 2 seconds`."""

from __future__ import annotations

import re

from dense.knowledge.words import phrases, words

NUMBER = re.compile(r"[$€£]?\d[\d,.]*(?:e[-+]?\d{1,3}\b)?")
UNIT = re.compile(r"\**\s?(%|°[CF]?|[^\W\d_]{1,14})")
NO_UNIT = words("no_unit")
SIGN = re.compile(
    rf"(?:<=|>=|[≤≥<>≦≧⩽⩾]|(?<![^\W_])(?:{'|'.join(sorted(phrases('limit'), key=len, reverse=True))}))"
    r"(?=(?: an?| the)?[ *`-]*$)",
    re.IGNORECASE,
)
MAX_SIGN_CHARS = 24


def thresholds(text: str) -> list[str]:
    """The limits in a sentence, as written, in order."""
    found: list[str] = []
    for number in NUMBER.finditer(text):
        start = number.start()
        if sign := SIGN.search(text[max(0, start - MAX_SIGN_CHARS) : start]):
            found.append(_written(text, sign[0].lower(), number))
    return found


def _written(text: str, sign: str, number: re.Match[str]) -> str:
    value = number[0].rstrip(",.")
    unit = UNIT.match(text, number.end()) if value == number[0] else None
    word = unit[1] if unit and unit[1].lower() not in NO_UNIT else ""
    space = "" if unit and text[number.end() : unit.start(1)].strip("*") == "" else " "
    return f"{sign} {value}{space if word else ''}{word}"
