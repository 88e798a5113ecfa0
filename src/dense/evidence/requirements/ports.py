"""Ports of services, and whether they are to be set up or there already."""

from __future__ import annotations

import re

from dense.evidence.requirements.requirement import Role
from dense.evidence.requirements.vocabulary import CUES
from dense.knowledge.words import words

PORT = re.compile(
    r"\bports?\b(?:\s+(?:number|no\.?))?[\s:=`*\"']{0,4}(\d{2,5})\b"
    r"|(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|\[::1?\]):(\d{2,5})\b",
    re.IGNORECASE,
)
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
