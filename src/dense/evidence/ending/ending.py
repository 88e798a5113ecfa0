"""How a trace ends: handed over, broken off, given up, gone on elsewhere. The agent's word that it succeeded counts for
nothing; its word that it did not is evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from dense.evidence.ending.admissions import admission
from dense.evidence.ending.handovers import answer_given, lacking_in, longest_text
from dense.evidence.ending.ledgers import Ledger, last_ledger
from dense.evidence.facts.agents import team_of
from dense.evidence.facts.facts import ActionFacts
from dense.trajectory import Step

EndingKind = Literal["handed_over", "broken_off", "given_up", "continued"]

TAIL = 4000
"""How much of the last message is looked at, from its end: what is said last counts."""

NOTICE = 80
"""How long a last word is at most that only says that the run is over."""
HEAD = 300
"""How much of what the harness says last is looked at."""
BOUNDS = r"(?:limits?|max(?:imum)?|budget|quota|rounds?|turns?|steps?|iterations?|tokens?|time|context|cost|counter)"
LIMITED = re.compile(
    rf"\b{BOUNDS}\b[^.\n]{{0,60}}\b(?:reached|exceeded|exhausted|used up)\b"
    rf"|\b(?:reached|exceed(?:s|ed)|exhausted|hit|ran out of)\b[^.\n]{{0,40}}\b{BOUNDS}\b"
    r"|LimitsExceeded|\bexit_(?:cost|context|format|error)|\b(?:was |got |been |^)killed\b|\btime(?:d|d[ -]|-)?out\b",
    re.IGNORECASE,
)
"""Words of a harness that ended a run before its time, and says so even after a last word."""
CRASHES = re.compile(
    r"^(?:Traceback \(most recent call last\).*|(?:[a-z_]\w*\.)+\w*(?:Error|Exception)\b.*|API Error: .*"
    r"|Error code: [45]\d\d\b.*)",
    re.MULTILINE,
)
"""An error of the agent's client, at the beginning of a line."""
FENCED = re.compile(r"^```.*?(?:^```|\Z)", re.DOTALL | re.MULTILINE)
VERDICTS = ("task_completed", "success", "is_successful", "completed")
"""Arguments of tools that hand over, by which an agent says whether it is done."""
PARTIAL = frozenset({"partial", "partially"})
LONG_WORD = 12
LEAVES = frozenset(["exit", "exit 0", "logout", "quit"])
"""Commands that end a session: the agent says that it is over."""


class Ending(Struct, frozen=True):
    """How the trace ends."""

    kind: EndingKind
    action: int
    """The action that shows it."""
    words: str = ""
    """The agent's own words, or the harness's, where they tell."""
    answer: str = ""
    """The answer that somebody wrote down at the end of a run that was broken off."""
    ledger: Ledger | None = None
    """What the lead of several agents held of it last, where that is that the request is not satisfied."""
    is_partial: bool = False
    """Whether it was handed over as done in part; `words` then tell what is missing."""


def ending(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> Ending:
    """By the last action: a hand-over, a last word, or anything else, which means that there was to be more."""
    last, step = facts[-1], steps[-1]
    harness = next((seen.text for seen in reversed(step.observations) if seen.origin == "system"), "").strip()
    if "continu" in harness[:HEAD].casefold():
        return Ending("continued", last.action, harness)  # in another trace: what became of it is not told here
    team = team_of(steps)
    said = [one.message for one in steps[-3:] if one.message.strip()]
    ended = _handed(facts, steps, harness, said, is_team=bool(team))
    if not team or (ledger := last_ledger(steps)) is None:
        return ended
    if ledger.is_satisfied:
        return Ending("handed_over", last.action)  # the lead was content: whether rightly, nothing here tells
    words = (ended.words if ended.kind == "broken_off" else "") or _last_crash(said[-1:])
    return Ending("broken_off", last.action, words, answer_given(step), ledger)


def _handed(
    facts: Sequence[ActionFacts], steps: Sequence[Step], harness: str, said: Sequence[str], *, is_team: bool
) -> Ending:
    last, step = facts[-1], steps[-1]
    if last.phase != "deliver" and not _is_last_word(last, step):
        came = [] if step.calls else [seen.text for seen in step.observations]
        words = _telling(harness) or _crash(said) or _last_crash(came)
        answer = answer_given(step)
        if answer and not words:
            return Ending("handed_over", last.action, answer=answer)
        return Ending("broken_off", last.action, words, answer)
    if LIMITED.search(harness[:HEAD]):
        return Ending("broken_off", last.action, _telling(harness))
    if crash := _crash(said[-1:]):
        return Ending("broken_off", last.action, crash)
    if is_team and said and len(said[-1]) <= NOTICE and LIMITED.search(said[-1]):
        return Ending("broken_off", last.action, said[-1])  # who leads the others says when it is over
    if True in [fact.is_followed_by_user for fact in facts]:
        return Ending("handed_over", last.action)  # to tell a user that something cannot be done may be the task
    verdict = own_verdict(step) if last.phase == "deliver" else ""
    if verdict == "false":
        return Ending("given_up", last.action, _own_words(step) or "false")
    makes_files = any(fact.effects.writes for fact in facts)
    if said and (admitted := admission(said[-1], makes_files=makes_files)):
        return Ending("given_up", last.action, admitted)
    if verdict in PARTIAL:
        return Ending("handed_over", last.action, _own_words(step), is_partial=True)
    return Ending("handed_over", last.action)


def own_verdict(step: Step) -> str:
    """What a hand-over is marked as by the agent itself, in small letters; empty where it has no such mark."""
    marks = [call.arguments[key] for call in step.calls for key in VERDICTS if key in call.arguments]
    return str(marks[0]).lower() if marks else ""


def _own_words(step: Step) -> str:
    """What a hand-over says that is marked as one of work that is not done: what is missing, where it tells that."""
    text = longest_text(step)
    lacking = lacking_in(text)
    return text[max(text.find(lacking[:40]), 0) :] if lacking else text if len(text) > LONG_WORD else ""


def _telling(harness: str) -> str:
    """The line of what the harness says that tells why it ended."""
    lines = harness[:HEAD].splitlines()
    return next((line.strip() for line in lines if LIMITED.search(line)), harness)


def _crash(messages: Sequence[str]) -> str:
    """An error of the agent's client among what was said last: a paragraph at the end of a message that nothing leads
    to, since what is quoted is introduced."""
    for message in reversed(messages):
        text = FENCED.sub("", message[-TAIL:]).strip()
        before, _, paragraph = text.rpartition("\n\n")
        if not before.rstrip().endswith((":", "：")) and (crash := CRASHES.match(paragraph)):
            return crash.group().strip()
    return ""


def _last_crash(texts: Sequence[str]) -> str:
    """The same behind the page that an agent was shown which called nothing: of a traceback the line that tells."""
    found = [crash.group().strip() for text in texts for crash in CRASHES.finditer(text[-TAIL:])]
    return next((line for line in reversed(found) if not line.startswith("Traceback")), "")


def _is_last_word(last: ActionFacts, step: Step) -> bool:
    """Whether an action only says something, notes a plan or leaves, and no tool answers what was said."""
    if step.calls:
        is_over = bool(last.commands) and last.commands[-1].strip() in LEAVES
        return is_over or (last.phase == "talk" and not last.has_failed)
    return bool(step.message.strip()) and not any(seen.origin == "tool" for seen in step.observations)
