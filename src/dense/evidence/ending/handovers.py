"""How an attempt is handed over: in the agent's own words, where they say what is missing in those."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.facts.facts import ActionFacts
from dense.narrate.actions import NarratedAction
from dense.narrate.messages import telling_sentence
from dense.text.quoting import quoted
from dense.text.sentences import LIST_ITEM, sentences
from dense.trajectory import Step

LACKING = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|unable to|missing|(?:does|do) not (?:exist|work|pass)|not yet"
    r"|(?:is|are) not (?:there|available|installed|possible|done|complete|completed|finished|implemented|written|made)"
    r"|unfinished|incomplete|fehl(?:t|en)|ist nicht|konnte nicht|manque|n'est pas|n'existe pas|falta|no existe"
    r"|não existe|нет|не удалось)\b|没有|缺少|无法|ありません|できません|없습니다",
    re.IGNORECASE,
)
"""Words for what is not there, in the languages that we know. They choose a sentence to be quoted, nothing else."""
LONGEST_WORD = 160
LONGEST_COMMAND = 2000
MOST = 3


ANSWER = re.compile(r"^[*# ]{0,6}FINAL ANSWER[*]{0,2}:[* ]{0,4}(\S[^\n]{0,300})", re.MULTILINE | re.IGNORECASE)
"""How answers are marked where a benchmark asks questions."""
TAIL = 4000


def answer_given(step: Step) -> str:
    """The answer that an attempt ends with, by the agent or by what wrote it down at the end."""
    for text in (*[seen.text for seen in reversed(step.observations)], step.message):
        tail = text[-TAIL:]
        if "final answer" in tail.lower() and (found := ANSWER.findall(tail)):
            return found[-1].strip()
    return ""


SHOWS_WORK = re.compile(
    r"\bgit\b[^|;&\n]{0,80}\b(?:diff|show|format-patch)\b|\bcat\b[^|;&\n]{0,80}\.(?:patch|diff|txt)\b"
)


def prints_work(facts: ActionFacts) -> bool:
    """Whether a hand-over is a command whose output is what is handed in, as against a question to somebody."""
    return any(SHOWS_WORK.search(text[-LONGEST_COMMAND:]) for text in facts.commands)


def handover(deeds: Sequence[NarratedAction]) -> NarratedAction | None:
    """The hand-over that ends a stretch; the first of several in a row, since the others only confirm it."""
    found: NarratedAction | None = None
    for deed in reversed(deeds[-MOST:]):
        if deed.phase != "deliver":
            break
        found = deed
    return found


class Handovers:
    """How the hand-overs of one trajectory are told. Every level of the tree ends with the same one: each is told
    once."""

    def __init__(self) -> None:
        self._told: dict[tuple[int, bool], str] = {}
        self._given: dict[int, str] = {}

    def told(self, deed: NarratedAction, *, tells_lacking: bool) -> str:
        """See `handover_told`."""
        key = deed.action, tells_lacking
        if key not in self._told:
            self._told[key] = handover_told(deed, tells_lacking=tells_lacking)
        return self._told[key]

    def given(self, deed: NarratedAction) -> str:
        """See `answer_given`."""
        if deed.action not in self._given:
            self._given[deed.action] = answer_given(deed.step)
        return self._given[deed.action]


def handover_told(deed: NarratedAction, *, tells_lacking: bool = True) -> str:
    """A hand-over by the sentence that says what is missing, else by the one that tells most; empty for none."""
    told = deed.action_text
    if told.startswith("handed in "):
        lacking = lacking_in(longest_text(deed.step)) if tells_lacking else ""
        is_told = not lacking or lacking[:40] in told
        return told if is_told else f"{told} and said {quoted(lacking, LONGEST_WORD)}"
    if not told.startswith(("said ", "ended the attempt")):
        return told
    lacking = lacking_in(deed.step.message) if tells_lacking else ""
    if not lacking:
        if told.startswith("ended"):
            return told
        words = telling_sentence(deed.step.message)
        return f"said {quoted(words, 100)}" if words else ""
    verb = "said" if told.startswith("said ") else "ended the attempt and said"
    return f"{verb} {quoted(lacking, LONGEST_WORD)}"


def longest_text(step: Step) -> str:
    """What the calls of a hand-over say at most length."""
    texts = [value for call in step.calls for value in call.arguments.values() if isinstance(value, str)]
    return max(texts, key=len, default="")


TURN = re.compile(
    r"(?:^|[\n.!?]\s+|[。！？]\s*)[-*#>_ ]{0,6}((?:however|but|unfortunately|note that|although|leider|jedoch"
    r"|allerdings|cependant|malheureusement|sin embargo|lamentablemente|no entanto|infelizmente|однако|к сожалению"
    r"|但是|然而|不过|ただし|しかし)(?:[^\n.!?。！？]|[.!?](?!\s|$)){0,400})",
    re.IGNORECASE,
)
"""A sentence that turns from what was done to what was not."""
LONGEST_MESSAGE = 6000


def lacking_in(message: str) -> str:
    """The sentence of a last message that says what is missing: among the first ones; else one that turns to it, which
    may stand at the end of a long report."""
    said = sentences(message, LONGEST_WORD)
    if lacking := next((one for one in said if LACKING.search(one) and not LIST_ITEM.match(one)), ""):
        return lacking
    if len(message) <= 4 * LONGEST_WORD:
        return ""  # these were all
    turns = (found[1] for found in TURN.finditer(message, 0, LONGEST_MESSAGE))
    return next((one for one in turns if LACKING.search(one)), "").strip()
