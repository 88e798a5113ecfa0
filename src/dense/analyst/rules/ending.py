"""How a trace ends: handed over, broken off, given up. The agent's word that it succeeded counts for nothing; its word
that it did not is evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from dense.analyst.rules.facts import Facts
from dense.analyst.rules.teams import team_of
from dense.trajectory import Step

EndingKind = Literal["handed_over", "broken_off", "given_up"]

TAIL = 4000
"""How much of the last message is looked at, from its end: what is said last counts."""

NOTICE = 80
"""How long a last word is at most that only says that the run is over."""
HEAD = 300
"""How much of what the harness says last is looked at."""
STOPPED = re.compile(
    r"\b(?:max(?:imum)?|limits?|budget|time[ -]?(?:d[ -])?out|exceeded|killed)\b"
    r"|\b(?:terminat|interrupt|abort|cancel)\w*|LimitsExceeded|exit_(?:cost|context|format|error)",
    re.IGNORECASE,
)
"""Words of a harness that ends a run before its time."""
CRASHES = re.compile(
    r"^(?:Traceback \(most recent call last\).*|(?:[a-z_]\w*\.)+\w*(?:Error|Exception)\b.*|API Error: .*"
    r"|Error code: [45]\d\d\b.*)",
    re.MULTILINE,
)
"""A last word that is no word of the agent's: an error of its client, at the beginning of a line."""

ADMISSIONS = re.compile(
    r"""
    \b(?:i|we)\s+(?:was|were|am|are|have\s+been)\s+(?:unable|not\s+able)\s+to\b
    | \b(?:i|we)\s+(?:could\s*n[o']t|could\s+not|can\s*not|can't)\s+(?:complete|finish|find|determine|solve
        |access|get|make|proceed|continue|install|fix|locate|answer|retrieve|open|read|write)\b
    | \b(?:i|we)\s+(?:did\s+not\s+manage|failed\s+to|ran\s+out\s+of)\b
    | \b(?:unable|not\s+possible)\s+to\s+(?:determine|complete|finish|find|solve|answer|access|retrieve|verify|locate)\b
    | \b(?:is|are|remains?)\s+(?:still\s+)?(?:unresolved|unfinished|incomplete)\b
    | \b(?:is|are|remains?)\s+(?:still\s+)?not\s+(?:yet\s+)?(?:done|completed?|finished|implemented|working|solved)\b
    | \bich\s+konnte\b[^.\n]{0,80}\bnicht\b
    | \bje\s+n['’]ai\s+pas\s+(?:pu|réussi)\b
    | \bno\s+(?:pude|he\s+podido|logré)\b
    | \bnão\s+(?:consegui|foi\s+possível)\b
    | не\s+удалось | 无法(?:完成|确定|找到) | 未能 | できませんでした
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""Words of giving up, in the languages that we know. Hints only: where none is found nothing follows."""


class Ending(Struct, frozen=True):
    """How the trace ends."""

    kind: EndingKind
    action: int
    """The action that shows it."""
    words: str = ""
    """The agent's own words, or the harness's, where they tell."""


def ending(facts: Sequence[Facts], steps: Sequence[Step]) -> Ending:
    """By the last action: a hand-over, a last word, or anything else, which means that there was to be more."""
    last, step = facts[-1], steps[-1]
    harness = next((seen.text for seen in reversed(step.observations) if seen.origin == "system"), "").strip()
    if "continu" in harness[:HEAD].casefold():
        return Ending("handed_over", last.action, harness)  # to another trace: what became of it is not told here
    said = [one.message for one in steps[-3:] if one.message.strip()]
    if last.phase != "deliver" and not _is_last_word(last, step):
        came = [] if step.calls else [seen.text for seen in step.observations]
        return Ending("broken_off", last.action, harness or _crash(said) or _last_crash(came))
    if STOPPED.search(harness[:HEAD]):
        return Ending("broken_off", last.action, harness)
    if crash := _crash(said[-1:]):
        return Ending("broken_off", last.action, crash)
    if said and len(said[-1]) <= NOTICE and STOPPED.search(said[-1]) and team_of(steps):
        return Ending("broken_off", last.action, said[-1])  # who leads the others says when it is over
    admitted = "" if _is_dialog(steps) else _admission(said[-1] if said else "")
    return Ending("given_up", last.action, admitted) if admitted else Ending("handed_over", last.action)


def _crash(messages: Sequence[str]) -> str:
    """An error of the agent's client among what was said last."""
    found = (CRASHES.search(message[-TAIL:]) for message in reversed(messages))
    return next((crash.group().strip() for crash in found if crash is not None), "")


def _last_crash(texts: Sequence[str]) -> str:
    """The same behind the page that an agent was shown which called nothing: of a traceback the line that tells."""
    found = [crash.group().strip() for text in texts for crash in CRASHES.finditer(text[-TAIL:])]
    return next((line for line in reversed(found) if not line.startswith("Traceback")), "")


def _is_last_word(last: Facts, step: Step) -> bool:
    """Whether an action only says something, or notes a plan, and no tool answers what was said."""
    if step.calls:
        return last.phase == "talk" and not last.has_failed
    return bool(step.message.strip()) and not any(seen.origin == "tool" for seen in step.observations)


def _is_dialog(steps: Sequence[Step]) -> bool:
    """Whether a user speaks again and again: to tell them that something cannot be done may be what the task is."""
    return sum(["user" in [seen.origin for seen in step.observations] for step in steps]) > 1


def _admission(message: str) -> str:
    """The sentence in which the agent says that it is not done."""
    tail = message[-TAIL:]
    found = ADMISSIONS.search(tail)
    if found is None:
        return ""
    start = max(tail.rfind(mark, 0, found.start()) for mark in ".\n!?。") + 1
    ends = [place for mark in (". ", ".\n", "\n", "。", "! ") if (place := tail.find(mark, found.end())) >= 0]
    return tail[start : min(ends, default=len(tail)) + 1].strip()
