"""Limits (`<= 2 s`, `at most 2 seconds`) and the ports of services, to be set up or there already."""

from __future__ import annotations

import re

from dense.evidence.requirements.requirement import Role
from dense.evidence.requirements.vocabulary import CUES
from dense.knowledge.words import phrases, words
from dense.text.guarded import GuardedPattern

NUMBER = re.compile(r"[$€£]?\d[\d,.]*(?:e[-+]?\d{1,3}\b)?")
UNIT = re.compile(r"\**\s?(%|°[CF]?|[^\W\d_]{1,14})")
NO_UNIT = words("no_unit")
LIMIT_WORDS = "|".join(sorted(phrases("limit"), key=len, reverse=True))
SIGN = GuardedPattern(
    re.compile(
        r"(?:(?<!\w)(?:not|never|no|without|cannot|n't) (?:(?!and |but |or |at )\w{1,12} ){0,4}(?!at ))?"
        rf"(?:<=|>=|[≤≥<>≦≧⩽⩾]|(?<![^\W_])(?:{LIMIT_WORDS}))(?=(?: an?| the)?[ *`-]*$)",
        re.IGNORECASE,
    )
)
PERMISSION = re.compile(r"\b(?:can|may|might|could) $", re.IGNORECASE)
"""What comes before a limit that is none: totals can exceed 4 GB."""
MAX_SIGN_CHARS = 48


def thresholds(text: str) -> list[str]:
    """The limits in a sentence, as written, in order."""
    found: list[str] = []
    for number in NUMBER.finditer(text):
        start = number.start()
        sign = SIGN.search(text[max(0, start - MAX_SIGN_CHARS) : start])
        if sign and not PERMISSION.search(sign.string, 0, sign.start()):
            found.append(_written(text, sign[0].lower(), number))
    return found


def _written(text: str, sign: str, number: re.Match[str]) -> str:
    value = number[0].rstrip(",.")
    unit = UNIT.match(text, number.end()) if value == number[0] else None
    word = unit[1] if unit and unit[1].lower() not in NO_UNIT else ""
    space = "" if unit and text[number.end() : unit.start(1)].strip("*") == "" else " "
    return f"{sign} {value}{space if word else ''}{word}"


# Ports

PORT_TEXT = r"""\bports?\b(?:\s+(?:number|no\.?))?[\s:=`*"']{0,4}(\d{2,5})\b
    |(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|\[::1?\]):(\d{2,5})\b"""
PORT = GuardedPattern(re.compile(PORT_TEXT, re.IGNORECASE | re.VERBOSE))
MODALS = words("modal")
SETS_UP = words("sets_up")
SERVES = words("serves")
BEFORE_ORDER = frozenset("and then please to ,".split())


def ports(text: str) -> list[str]:
    """The ports in a sentence."""
    found = (match[1] or match[2] for match in PORT.finditer(text))
    return [port for port in found if 0 < int(port) < 65536]


def port_role(sentence_words: list[str], low: str) -> Role:
    """The role of a port, by the words of its sentence."""
    known = set(sentence_words)
    if known & {"already", "provided"} or ("is running" in low and not known & MODALS) or "are running" in low:
        return "given"
    if known & ((MODALS | {"ensure"}) - {"has", "have", "need"}) and known & SERVES:
        return "deliverable"
    for before, word in zip(["and", *sentence_words], sentence_words, strict=False):
        if word in SETS_UP and (before in BEFORE_ORDER or CUES.get(before) == "make"):
            return "deliverable"
    return "mentioned"
