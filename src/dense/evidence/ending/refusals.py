"""Answers that were handed in and not taken: whoever took them says so. A tool that only repeats what it was given
refuses nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.ending.handovers import prints_work
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.links.origins import Origins
from dense.narrate.quoting import listed
from dense.text.quoting import plain_text, ticked
from dense.trajectory import Step

_NO = r"(?:incorrect|not (?:\w+ )?correct|wrong|rejected|not accepted)"
_HANDED = r"(?:submission|answer|flag|solution|response|result|guess|key|password|patch)"
REFUSED = re.compile(
    rf"\b{_HANDED}\b[^.\n]{{0,40}}\b{_NO}\b|\b{_NO}\s+{_HANDED}\b|^\W*(?:{_NO}|try again)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Words of whoever does not take what was handed over: of that very thing, or at the head of a line. Hints only."""
REFUSING = ("correct", "wrong", "reject", "not accept", "try again")
"""Without one of these there is none of them."""
LONGEST = 120
MOST_TOLD = 6
"""So many answers are told, the last ones."""
SHORTEST_GUESS, LONGEST_GUESS = 6, 120
"""How long an answer is that is looked for in what came back before: a value, no word."""
HEAD = 2000
"""How much of what came back is looked at."""


class Refusal(Struct, frozen=True):
    """One hand-over that was not taken."""

    action: int
    answer: str
    """What was handed in; empty where the call does not hold it."""
    line: str
    """The line that refuses it."""


def handed_in(fact: ActionFacts, step: Step) -> str:
    """What an action hands in, as one text, in its own words. A command that only says that the work is done hands in
    what is on the disk, which is another thing every time."""
    for text in fact.commands:
        verb, _, rest = text.strip().partition(" ")
        if verb == "submit":
            return rest.strip()
    if fact.commands:
        return ""
    values = [plain_text(value).strip() for call in step.calls for value in call.arguments.values()]
    return max(values, key=len, default="")


def refusals(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> list[Refusal]:
    """All hand-overs that were refused, in order."""
    found: list[Refusal] = []
    for fact, step in zip(facts, steps, strict=True):
        if fact.phase == "deliver" and not prints_work(fact):
            answer = handed_in(fact, step)
            if line := refusal(step, answer):
                found.append(Refusal(fact.action, answer, line))
    return found


def refused_told(found: Sequence[Refusal], origins: Origins, most: int = MOST_TOLD) -> str:
    """The answers that were not taken, each once, with the actions that handed them in, and whether they were made
    up."""
    actions: dict[str, list[str]] = {}
    for one in found:
        actions.setdefault(one.answer, []).append(f"a{one.action}")
    told: list[str] = []
    for answer, at in list(actions.items())[-most:]:
        if is_value(answer) and origins.is_guess(answer, int(at[0][1:])):
            at.append("no output had shown it")
        told.append(f"{ticked(answer, LONGEST)} ({', '.join(at)})" if answer else ", ".join(at))
    return listed(told, most)


def is_value(answer: str) -> bool:
    """Whether an answer is a value that an output may have shown before, and no word or sentence."""
    return SHORTEST_GUESS <= len(answer) <= LONGEST_GUESS and len(answer.split()) == 1 and not answer.isalpha()


def refusal(step: Step, answer: str) -> str:
    """The line in which a hand-over is refused."""
    for came in step.observations:
        head = came.text[:HEAD]
        if "diff --git " in head or not any(map(head.lower().__contains__, REFUSING)):
            continue
        if answer and head.strip() in answer:
            continue  # the answer, repeated
        if found := REFUSED.search(head):
            start, end = came.text.rfind("\n", 0, found.start()) + 1, came.text.find("\n", found.end())
            line = came.text[start : end if end >= 0 else None].strip()
            if line not in answer:
                return line
    return ""
