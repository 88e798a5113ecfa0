"""Limits: a sign or a phrase before a number (`<= 2 s`, at most 2 seconds), or behind it (3秒以内)."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[$€£]?\d[\d,.]*(?:e[-+]?\d{1,3}\b)?")
UNIT = re.compile(r"\**\s?(%|°[CF]?|[^\W\d_]{1,14})")
NOT_A_UNIT = frozenset(
    """
    and or of in on at for to with is are the a an if so then when und oder et ou y e и в из de des en from by as per
    but that which where while until total each
""".split()
)

SIGNS = ("<=", ">=", "≤", "≥", "<", ">", "≦", "≧", "⩽", "⩾")
PHRASES = (
    "at most", "at least", "no more than", "no less than", "not more than", "less than", "fewer than", "more than",
    "greater than", "under", "below", "above", "over", "within", "up to", "maximum of", "minimum of", "exceed",
    "exceeding", "limit of", "höchstens", "mindestens", "weniger als", "mehr als", "unter", "innerhalb von", "au plus",
    "au moins", "moins de", "plus de", "inférieur à", "supérieur à", "como máximo", "como mínimo", "al menos",
    "menos de", "más de", "no máximo", "pelo menos", "mais de", "не более", "не менее", "менее", "более",
)  # fmt: skip
WIDE_PHRASES = tuple(
    """
    不超过 不少于 不低于 不高于 至少 最多 小于 大于 低于 高于 少于 超过 최소 최대
""".split()
)
WIDE_BEHIND = re.compile(r"\s?(?:%|[^\W\d_]{1,4}?)?(?:以内|以上|以下|未満|이상|이하|미만|이내)")
ANY = frozenset([*SIGNS, *PHRASES, *WIDE_PHRASES])
HINTS = frozenset(
    """
    most least than under below above over within up maximum minimum exceed exceeding limit als unter von plus moins
    menos menor mais de
""".split()
)
"""Without one of these words a sentence in plain letters holds no phrase."""
LONGEST_PHRASE = 24
LENGTHS = sorted(set(map(len, ANY)), reverse=True)


def limits(text: str, low: str, words: list[str]) -> list[str]:
    """The limits in a sentence that holds a number, as written, in order."""
    if HINTS.isdisjoint(words) and text.isascii() and "<" not in text and ">" not in text:
        return []
    if len(low) != len(text):  # a letter that has no lower case of its own length
        low = text
    is_wide = not text.isascii()
    found: list[str] = []
    for number in NUMBER.finditer(text):
        start = number.start()
        left = (
            low[max(0, start - LONGEST_PHRASE) : start].rstrip(" *`-").removesuffix(" a").removesuffix(" the").rstrip()
        )
        if sign := _ending(left):
            before = left[-len(sign) - 1 : -len(sign)]
            if sign not in PHRASES or not before.isalnum():  # a phrase must be a word of its own
                found.append(_written(text, sign, number))
        elif is_wide and (behind := WIDE_BEHIND.match(text, number.end())):
            found.append(text[start : behind.end()])
    return found


def _ending(left: str) -> str:
    """The sign or phrase that stands right before the number; the longest one; empty for none."""
    return next((left[-length:] for length in LENGTHS if left[-length:] in ANY), "")


def _written(text: str, sign: str, number: re.Match[str]) -> str:
    value = number[0].rstrip(",.")
    unit = UNIT.match(text, number.end()) if value == number[0] else None
    word = unit[1] if unit and unit[1].lower() not in NOT_A_UNIT else ""
    space = "" if unit and text[number.end() : unit.start(1)].strip("*") == "" else " "
    return f"{sign} {value}{space if word else ''}{word}"
