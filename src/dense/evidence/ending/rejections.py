"""Answers that were submitted and rejected. A tool that only repeats what it was given rejects nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from dense.evidence.ending.handovers import prints_work
from dense.evidence.facts.facts import ActionFacts
from dense.knowledge.endings import REJECTED
from dense.trajectory import Step

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
