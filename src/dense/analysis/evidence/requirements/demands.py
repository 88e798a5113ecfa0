"""Demands in words, and what depends on them: values, commands, limits (`<= 2 s`, `at most 2 seconds`) and ports."""

from __future__ import annotations

import re

from dense.analysis.evidence.requirements.requirement import Role
from dense.analysis.evidence.requirements.sentences import Sentence
from dense.knowledge.words import phrases, words
from dense.knowledge.words.cues import CUES, IMPERATIVES, NEGATIONS
from dense.knowledge.words.japanese import DEMANDS as JAPANESE_DEMANDS
from dense.text.guarded import GuardedPattern
from dense.text.search import contains_any

WORD = re.compile(r"[\w'’]+|[,:]")
CLAUSE_STARTS = frozenset(["", ",", ":", "and", "but", "please", "then", "or", "must", "should"])
MODALS_BEFORE_NOT = frozenset(["must", "should", "shall"])
MUST = words("must")
WEAK_MUST = words("weak_must")
MUST_PHRASES = (*phrases("must"), *JAPANESE_DEMANDS)
FIRST_PERSON = words("first_person")
BANS = words("ban")
SOFTENERS = words("softener")
LITERALS = words("literal")
FIELDS = words("field")
SUCCEEDS = words("succeeds")
PASSES = words("passes")
RUNS = words("runs")


def words_of(low: str) -> list[str]:
    """The words of a sentence in lower case, with the commas and colons."""
    return WORD.findall(low)


def is_demand(sentence_words: list[str], low: str) -> bool:
    """Whether a sentence demands something."""
    for before, word in zip(["", *sentence_words], sentence_words, strict=False):
        if word in MUST and (before in CLAUSE_STARTS if word in WEAK_MUST else before not in FIRST_PERSON):
            return True
    return contains_any(low, MUST_PHRASES) or is_ban(sentence_words)


def is_ban(sentence_words: list[str]) -> bool:
    """Whether a sentence forbids something."""
    for index, word in enumerate(sentence_words[:-1]):
        before = sentence_words[index - 1] if index else ""
        starts = MODALS_BEFORE_NOT if word == "not" else CLAUSE_STARTS
        is_after_do = before == "do" and (index < 2 or sentence_words[index - 2] in CLAUSE_STARTS)
        if word in BANS and (before in starts or is_after_do):
            return sentence_words[index + 1] not in SOFTENERS
    return False


def is_order(sentence_words: list[str]) -> bool:
    """Whether a sentence begins with an order."""
    first = next((word for word in sentence_words[:2] if word not in ("please", "then", "and", ",")), "")
    return CUES.get(first) in ("make", "put", "move") or first in IMPERATIVES


def value_role(sentence: Sentence, sentence_words: list[str], demands: bool) -> Role:
    """Values must appear if the sentence asks for something and calls them names, a format or contents."""
    if sentence.purpose == "aside" or not NEGATIONS.isdisjoint(sentence_words):
        return "mentioned"
    if demands or is_order(sentence_words):
        return "mentioned" if LITERALS.isdisjoint(sentence_words) else "deliverable"
    is_field = sentence.purpose == "output" and not FIELDS.isdisjoint(sentence_words)
    return "deliverable" if is_field else "mentioned"


def command_role(sentence: Sentence, sentence_words: list[str]) -> Role:
    """A command must work if the sentence says so; else it is given, or only mentioned."""
    if sentence.purpose == "aside":
        return "mentioned"
    if not PASSES.isdisjoint(sentence_words):
        return "deliverable"
    is_run = not RUNS.isdisjoint(sentence_words)
    if is_ban(sentence_words):
        return "forbidden" if is_run else "mentioned"
    if not SUCCEEDS.isdisjoint(sentence_words):
        return "deliverable"
    return "given" if is_run else "mentioned"


# Limits and ports


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
    limits: list[str] = []
    for number in NUMBER.finditer(text):
        start = number.start()
        sign = SIGN.search(text[max(0, start - MAX_SIGN_CHARS) : start])
        if sign and not PERMISSION.search(sign.string, 0, sign.start()):
            limits.append(_written(text, sign[0].lower(), number))
    return limits


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
    numbers = (match[1] or match[2] for match in PORT.finditer(text))
    return [port for port in numbers if 0 < int(port) < 65536]


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
