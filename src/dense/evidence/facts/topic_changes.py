"""Whether an action's own message turns to a new topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dense.knowledge.tools import known_tool
from dense.knowledge.words import words
from dense.trajectory import Step

TopicChange = Literal[0, 1, 2]
MAX_MESSAGE_CHARS = 240
"""How much of a message is read: it begins with what is done next."""
MAX_SENTENCES = 5
NUMBERED = re.compile(rf"\W{{0,12}}(?:(?:{'|'.join(sorted(words('plan_part')))})\s{{0,3}}[#№]?\d|\d{{1,2}}[.)]\s)")
SENTENCE_END = re.compile(r"[.!?:\n。！？：]+")
MARKUP = " \t*_#>-\"'`(…—"
TURNS = words("turn")


def topic_change_of(step: Step, names: Sequence[str]) -> TopicChange:
    """2 by structure (a numbered step, an update of the plan), 1 by a word, 0 for none."""
    if any("plans" in known_tool(name).traits for name in names):
        return 2
    text = (step.message or step.reasoning)[:MAX_MESSAGE_CHARS].lower()
    if NUMBERED.match(text):
        return 2
    found = [sentence.lstrip(MARKUP) for sentence in SENTENCE_END.split(text, MAX_SENTENCES)]
    is_turn = any(one.partition(" ")[0].rstrip(",;") in TURNS for one in found)
    return 1 if is_turn else 0
