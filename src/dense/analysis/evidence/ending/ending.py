"""How a trace ends: handed over, broken off, given up, continued elsewhere. The agent's word that it succeeded counts
for nothing; its word that it did not is evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from msgspec import Struct

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.phases import team_of
from dense.knowledge.endings import (
    ANSWER_LINE,
    CALL_MARKUP,
    CRASHES,
    EXIT_COMMANDS,
    LIMITED,
    NOT_DONE,
    PARTIAL,
    PRINTS_WORK,
    REJECTED,
    VERDICT_ARGUMENTS,
)
from dense.knowledge.tools import ITEM_FIELDS, NOT_STARTED, known_tool, plain_name
from dense.knowledge.words import pattern, phrases
from dense.text.guarded import GuardedPattern
from dense.text.sentences import LIST_ITEM, first_sentences
from dense.trajectory import Step

EndingKind = Literal["handed_over", "broken_off", "given_up", "continued"]

MAX_TAIL_CHARS = 4000
MAX_HARNESS_CHARS = 300
MAX_NOTICE_CHARS = 80
"""A last message that only says that the run is over is no longer."""
MIN_EXPLANATION_CHARS = 12
FENCED = re.compile(r"^```.*?(?:^```|\Z)", re.DOTALL | re.MULTILINE)
ANNOUNCEMENT = GuardedPattern(pattern("announcement"))
CLOSING = GuardedPattern(pattern("closing"))
MAX_ACTIONS_AFTER_CLOSING = 3
"""A closing message may be followed by so many actions that change nothing."""
MAX_SENTENCE_CHARS = 400
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class Ending(Struct, frozen=True):
    """How the trace ends."""

    kind: EndingKind
    action: int
    """The action that shows it."""
    words: str = ""
    """The words of the agent or the harness that say why."""
    answer: str = ""
    """The answer that somebody wrote down at the end of a run that was broken off."""
    verdict: LeadVerdict | None = None
    """The last verdict of the lead of several agents, if it holds the request to be unsatisfied."""
    announced: str = ""
    """What the last message says is done next, if no call follows."""
    is_partial: bool = False
    """Whether the agent marks what it hands over as partly done; `words` then say what is missing."""


def find_ending(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> Ending:
    """By the last action: a hand-over, a last message, or anything else, after which there was to be more."""
    last, step = facts[-1], steps[-1]
    harness = next(
        (observation.text for observation in reversed(step.observations) if observation.origin == "system"), ""
    ).strip()
    if "continu" in harness[:MAX_HARNESS_CHARS].casefold():
        return Ending(kind="continued", action=last.action, words=harness)
    is_team = bool(team_of(steps))
    ending = _own_ending(facts, steps, harness, is_team=is_team)
    verdict = last_verdict(steps) if is_team else None
    if verdict is None:
        return ending
    if verdict.is_satisfied:
        return Ending(kind="handed_over", action=last.action)
    said = [step.message for step in steps[-3:] if step.message.strip()]
    words = (ending.words if ending.kind == "broken_off" else "") or _last_error(said[-1:])
    return Ending(kind="broken_off", action=last.action, words=words, answer=final_answer(step), verdict=verdict)


def _own_ending(facts: Sequence[ActionFacts], steps: Sequence[Step], harness: str, *, is_team: bool) -> Ending:
    last, step = facts[-1], steps[-1]
    said = [step.message for step in steps[-3:] if step.message.strip()]
    if not is_team and (closing := _closing_message(facts, steps)):
        return Ending(kind="handed_over", action=closing)
    if last.phase != "deliver" and not _is_last_message(last, step):
        texts = [] if step.calls else [observation.text for observation in step.observations]
        words = _limit_line(harness) or _client_error(said) or _last_error(texts)
        return Ending(kind="broken_off", action=last.action, words=words, answer=final_answer(step))
    if LIMITED.search(harness[:MAX_HARNESS_CHARS]):
        return Ending(kind="broken_off", action=last.action, words=_limit_line(harness))
    if is_team and said and len(said[-1]) <= MAX_NOTICE_CHARS and LIMITED.search(said[-1]):
        return Ending(kind="broken_off", action=last.action, words=said[-1])  # the lead says when the run is over
    if any(fact.is_followed_by_user for fact in facts):
        return Ending(
            kind="handed_over", action=last.action
        )  # to tell a user that something is impossible may be the task
    if not is_team and not step.calls and (announced := announced_action(step.message)):
        return Ending(kind="broken_off", action=last.action, announced=announced)
    verdict = own_verdict(step) if last.phase == "deliver" else ""
    if verdict in NOT_DONE:
        return Ending(kind="given_up", action=last.action, words=_explanation(step) or "false")
    if verdict in PARTIAL:
        return Ending(kind="handed_over", action=last.action, words=_explanation(step), is_partial=True)
    return Ending(kind="handed_over", action=last.action)


def _closing_message(facts: Sequence[ActionFacts], steps: Sequence[Step]) -> int:
    """The action that reports that the work is done, if at most a few actions follow that change nothing and show
    nothing new: a command without an answer, another look; 0 if there is none."""
    for fact, step in zip(reversed(facts), reversed(steps[-MAX_ACTIONS_AFTER_CLOSING - 1 :]), strict=False):
        if (
            step.message.strip()
            and not step.calls
            and not any(observation.origin == "tool" for observation in step.observations)
        ):
            text = step.message[-MAX_TAIL_CHARS:]
            return fact.action if CLOSING.search(text) and not announced_action(text) else 0
        if step.observations and (fact.has_failed or fact.phase not in ("explore", "verify", "talk")):
            return 0
    return 0


def announced_action(message: str) -> str:
    """The last sentence of a message, if it says what is done next; a call that the harness left in its text."""
    text = message.strip()[-MAX_TAIL_CHARS:]
    if match := CALL_MARKUP.search(text):
        return text[match.start() :].partition("\n")[0]
    paragraph = text.rpartition("\n\n")[2]
    sentence = SENTENCE_END.split(paragraph)[-1].strip()
    return sentence if ANNOUNCEMENT.search(sentence[-MAX_SENTENCE_CHARS:]) else ""


def own_verdict(step: Step) -> str:
    """The agent's own mark of its hand-over, in lower case; empty if it has none."""
    marks = [call.arguments[name] for call in step.calls for name in VERDICT_ARGUMENTS if name in call.arguments]
    return str(marks[0]).lower() if marks else ""


def _explanation(step: Step) -> str:
    """What a hand-over that is marked as not done says is missing."""
    text = longest_text(step)
    if lacking := lacking_sentence(text):
        return text[max(text.find(lacking[:40]), 0) :]
    return text if len(text) > MIN_EXPLANATION_CHARS else ""


def _limit_line(harness: str) -> str:
    """The line of the harness that says why it stopped the run."""
    lines = harness[:MAX_HARNESS_CHARS].splitlines()
    return next((line.strip() for line in lines if LIMITED.search(line)), harness)


def _client_error(messages: Sequence[str]) -> str:
    """An error of the agent's client: the last paragraph of a message, unless the message introduces it."""
    for message in reversed(messages):
        text = FENCED.sub("", message[-MAX_TAIL_CHARS:]).strip()
        before, _, paragraph = text.rpartition("\n\n")
        if not before.rstrip().endswith((":", "：")) and (match := CRASHES.match(paragraph)):
            return match.group().strip()
    return ""


def _last_error(texts: Sequence[str]) -> str:
    """The last line of an error anywhere in texts."""
    errors = [match.group().strip() for text in texts for match in CRASHES.finditer(text[-MAX_TAIL_CHARS:])]
    return next((line for line in reversed(errors) if not line.startswith("Traceback")), "")


def _is_last_message(last: ActionFacts, step: Step) -> bool:
    """Whether an action only says something, notes a plan or leaves, and no tool answers. A plan that lists items as
    not started, without a word beside it, is no last message."""
    if step.calls:
        if not step.message.strip() and any(item.is_waiting for item in plan_items(step)):
            return False
        is_exit = bool(last.commands) and last.commands[-1].strip() in EXIT_COMMANDS
        return is_exit or (last.phase == "talk" and not last.commands and not last.has_failed)
    return bool(step.message.strip()) and not any(observation.origin == "tool" for observation in step.observations)


# Verdicts of a lead agent

KEY = "is_request_satisfied"
MAX_ENTRY_CHARS = 3000
ANSWER = re.compile(r"""["']answer["']\s*:\s*["']?(true|false)\b""", re.IGNORECASE)
REASON = re.compile(r"""["']reason["']\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")


class LeadVerdict(Struct, frozen=True):
    """The last verdict of a lead."""

    action: int
    is_satisfied: bool
    reason: str


def last_verdict(steps: Sequence[Step]) -> LeadVerdict | None:
    """What the last ledger says; None if there is none that can be read."""
    for number in range(len(steps), 0, -1):
        text = steps[number - 1].message
        position = text.rfind(KEY)
        entry = text[position : position + MAX_ENTRY_CHARS].partition("}")[0] if position >= 0 else ""
        if match := ANSWER.search(entry):
            reason = REASON.search(entry)
            words = (reason[1] or reason[2] or "") if reason else ""
            return LeadVerdict(
                number, match[1].lower() == "true", words.replace('\\"', '"').replace("\\'", "'").strip()
            )
    return None


# Plans that agents keep by tools of their own

MAX_ITEMS = 50


class PlanItem(Struct, frozen=True):
    """One item of a plan."""

    status: str
    words: str

    @property
    def is_waiting(self) -> bool:
        """Whether it was not started."""
        return self.status in NOT_STARTED and bool(self.words)

    @property
    def is_done(self) -> bool:
        """Whether it was finished, or is no item with a status."""
        return not self.words or self.status in ("", "completed", "complete", "done", "cancelled", "skipped")


def plan_items(step: Step) -> Iterator[PlanItem]:
    """The items of a plan that a step writes."""
    for call in step.calls:
        if "plans" not in known_tool(plain_name(call.name)).traits:
            continue
        for value in call.arguments.values():
            for item in cast("list[Any]", value)[:MAX_ITEMS] if isinstance(value, list) else ():
                if isinstance(item, dict):
                    entry = cast("dict[str, Any]", item)
                    words = next((entry[name] for name in ITEM_FIELDS if isinstance(entry.get(name), str)), "")
                    yield PlanItem(str(entry.get("status", "")).lower().replace(" ", "_").replace("-", "_"), words)


# Hand-overs and rejected answers

LACKING = GuardedPattern(pattern("missing"))
"""Words for what is missing. They only choose a sentence to quote."""
TURN = re.compile(
    rf"(?:^|[\n.!?]\s+)[-*#>_ ]{{0,6}}((?:{'|'.join(phrases('but'))})(?:[^\n.!?]|[.!?](?!\s|$)){{0,400}})",
    re.IGNORECASE,
)
"""A sentence that turns from what was done to what was not."""
FINAL_ANSWER = GuardedPattern(ANSWER_LINE)
"""How benchmarks of questions mark the answer."""
MAX_COMMAND_CHARS = 2000
MAX_MESSAGE_CHARS = 6000
MAX_QUOTED_CHARS = 160


def final_answer(step: Step) -> str:
    """The answer that an attempt ends with, by the agent or by the harness; empty if there is none."""
    for text in (*[observation.text for observation in reversed(step.observations)], step.message):
        if matches := FINAL_ANSWER.findall(text[-MAX_TAIL_CHARS:]):
            return matches[-1].strip()
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
    first = first_sentences(message, MAX_QUOTED_CHARS)
    if lacking := next(
        (sentence for sentence in first if LACKING.search(sentence) and not LIST_ITEM.match(sentence)), ""
    ):
        return lacking
    turns = (match[1] for match in TURN.finditer(message, 0, MAX_MESSAGE_CHARS))
    return next((sentence for sentence in turns if LACKING.search(sentence)), "").strip()


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
    rejections: list[Rejection] = []
    for fact, step in zip(facts, steps, strict=True):
        if fact.phase == "deliver" and not prints_work(fact):
            answer = submitted_answer(fact, step)
            if line := _rejecting_line(step, answer):
                rejections.append(Rejection(fact.action, answer, line))
    return rejections


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
    for observation in step.observations:
        match = REJECTED.search(observation.text[:MAX_OUTPUT_CHARS])
        if match is None or "diff --git " in observation.text[:MAX_OUTPUT_CHARS]:
            continue
        start, end = observation.text.rfind("\n", 0, match.start()) + 1, observation.text.find("\n", match.end())
        line = observation.text[start : end if end >= 0 else None].strip()
        if line not in answer:
            return line
    return ""


def _text(value: Any) -> str:
    """An argument as text."""
    if isinstance(value, list):
        return ", ".join(map(_text, cast("list[Any]", value)[:5]))
    return "" if value is None else str(cast("object", value))
