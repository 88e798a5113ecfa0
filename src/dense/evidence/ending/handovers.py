"""What an attempt hands over: an answer, a diff that a command prints, words about what is missing."""

from __future__ import annotations

import re

from dense.evidence.facts.facts import ActionFacts
from dense.knowledge.endings import ANSWER_LINE, PRINTS_WORK
from dense.knowledge.words import pattern, phrases
from dense.text.guarded import GuardedPattern
from dense.text.sentences import LIST_ITEM, first_sentences
from dense.trajectory import Step

LACKING = GuardedPattern(pattern("missing"))
"""Words for what is missing. They only choose a sentence to quote."""
TURN = re.compile(
    rf"(?:^|[\n.!?]\s+)[-*#>_ ]{{0,6}}((?:{'|'.join(phrases('but'))})(?:[^\n.!?]|[.!?](?!\s|$)){{0,400}})",
    re.IGNORECASE,
)
"""A sentence that turns from what was done to what was not."""
FINAL_ANSWER = GuardedPattern(ANSWER_LINE)
"""How benchmarks of questions mark the answer."""
MAX_TAIL_CHARS = 4000
MAX_COMMAND_CHARS = 2000
MAX_MESSAGE_CHARS = 6000
MAX_SENTENCE_CHARS = 160


def final_answer(step: Step) -> str:
    """The answer that an attempt ends with, by the agent or by the harness; empty if there is none."""
    for text in (*[seen.text for seen in reversed(step.observations)], step.message):
        if found := FINAL_ANSWER.findall(text[-MAX_TAIL_CHARS:]):
            return found[-1].strip()
    return ""


def prints_work(fact: ActionFacts) -> bool:
    """Whether a hand-over is a command whose output is what is submitted."""
    return any(PRINTS_WORK.search(text[-MAX_COMMAND_CHARS:]) for text in fact.commands)


def longest_text(step: Step) -> str:
    """The longest text that the calls of a hand-over hold."""
    texts = [value for call in step.calls for value in call.arguments.values() if isinstance(value, str)]
    return max(texts, key=len, default="")


def lacking_sentence(message: str) -> str:
    """The sentence of a last message that says what is missing: one of the first, else one that turns to it, which may
    be at the end of a long report. Empty if there is none."""
    first = first_sentences(message, MAX_SENTENCE_CHARS)
    if lacking := next((one for one in first if LACKING.search(one) and not LIST_ITEM.match(one)), ""):
        return lacking
    if len(message) <= 4 * MAX_SENTENCE_CHARS:
        return ""  # these were all
    turns = (found[1] for found in TURN.finditer(message, 0, MAX_MESSAGE_CHARS))
    return next((one for one in turns if LACKING.search(one)), "").strip()
