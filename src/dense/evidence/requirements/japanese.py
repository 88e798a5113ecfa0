"""The role of a file in a Japanese sentence, by the particle and the verb behind its name."""

from __future__ import annotations

import re

from dense.evidence.requirements.requirement import Role
from dense.knowledge.words.japanese import BANS, CHANGES
from dense.text.search import contains_any

KANA = re.compile(r"[぀-ヿ]")
PARTICLE = re.compile(
    r"[\s`」』”\"']*(?:という(?:名前の)?|の)?\s*(?:ファイル|スクリプト)?\s*(?:に|へ|として|を)([^，。；、,;？！]{0,18})"
)
"""A particle that marks an object or a goal, and the clause behind it."""


def japanese_role(behind: str) -> Role | None:
    """The role of a name, by the text behind it; None if that says nothing."""
    clause = PARTICLE.match(behind)
    if clause is None or not contains_any(clause[1], CHANGES):
        return None
    return "forbidden" if contains_any(clause[1], BANS) else "deliverable"
