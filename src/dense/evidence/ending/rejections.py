"""What an attempt hands over: an answer, a diff, words about what is missing; and answers that were rejected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from dense.evidence.facts.facts import ActionFacts
from dense.knowledge.endings import ANSWER_LINE, PRINTS_WORK, REJECTED
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
    turns = (found[1] for found in TURN.finditer(message, 0, MAX_MESSAGE_CHARS))
    return next((one for one in turns if LACKING.search(one)), "").strip()


MIN_VALUE_CHARS, MAX_VALUE_CHARS = 6, 120
"""How long an answer is that is a value and no word."""
MAX_OUTPUT_CHARS = 2000


class Rejection(Struct, frozen=True):
    """One submission that was rejected."""

    action: int
    answer: str
    """What was submitted; empty if the call does not hold it."""
    line: str
    """The line that rejects it."""


def find_rejections(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> list[Rejection]:
    """All rejected submissions, in order."""
    found: list[Rejection] = []
    for fact, step in zip(facts, steps, strict=True):
        if fact.phase == "deliver" and not prints_work(fact):
            answer = submitted_answer(fact, step)
            if line := _rejecting_line(step, answer):
                found.append(Rejection(fact.action, answer, line))
    return found


def submitted_answer(fact: ActionFacts, step: Step) -> str:
    """What an action submits, as one text; empty if that is on the disk, which is another thing every time."""
    for text in fact.commands:
        program, _, rest = text.strip().partition(" ")
        if program == "submit":
            return rest.strip()
    if fact.commands:
        return ""
    values = [_text(value).strip() for call in step.calls for value in call.arguments.values()]
    return max(values, key=len, default="")


def is_value(answer: str) -> bool:
    """Whether an answer is a value that an output may have shown before, not a word or a sentence."""
    return MIN_VALUE_CHARS <= len(answer) <= MAX_VALUE_CHARS and len(answer.split()) == 1 and not answer.isalpha()


def _rejecting_line(step: Step, answer: str) -> str:
    for seen in step.observations:
        found = REJECTED.search(seen.text[:MAX_OUTPUT_CHARS])
        if found is None or "diff --git " in seen.text[:MAX_OUTPUT_CHARS]:
            continue
        start, end = seen.text.rfind("\n", 0, found.start()) + 1, seen.text.find("\n", found.end())
        line = seen.text[start : end if end >= 0 else None].strip()
        if line not in answer:
            return line
    return ""


def _text(value: Any) -> str:
    """An argument as text."""
    if isinstance(value, list):
        return ", ".join(map(_text, cast("list[Any]", value)[:5]))
    return "" if value is None else str(cast("object", value))
