"""What somebody said: the sentence of a message that says most, its question, its purpose, what it submits."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, cast

import msgspec

from dense.analysis.actions.calls import is_shell, parse_call
from dense.analysis.evidence.facts.phases import subagent_steps
from dense.analysis.wording.phrases import Clause, capital
from dense.knowledge.tools import ANSWER_KEYS, plain_name
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern
from dense.text.quoting import as_text, code_span, in_quotes
from dense.text.sentences import LIST_ITEM, MIN_SENTENCE_CHARS, first_sentence, first_sentences
from dense.trajectory import Step

MAX_QUOTE_CHARS = 100
MAX_SIGNAL_CHARS = 40
MAX_PURPOSE_CHARS = 110
MIN_PURPOSE_CHARS = 32
"""A shorter sentence announces something without saying what."""
SHORT_MESSAGE_CHARS = 600
MAX_SENTENCES = 8
MAX_CLAIM_CHARS = 70
NEXT_SPEAKER = "Next speaker "
"""How an orchestrator records whose turn it is."""
PAGE_LINE = re.compile(r"\AAddress: .{0,2000}?\n={8,}\s*\n(?=\s*\S)", re.DOTALL)
"""What a file browser puts before a page."""
LEDGER_ENTRIES = (("instruction_or_question", "answer"), ("is_progress_being_made", "reason"))
"""The entries of an orchestrator's ledger that say something."""
NEXT = pattern("next")
THINKING_ALOUD = pattern("thinking_aloud")
MUSING = pattern("musing")
CLAIM = GuardedPattern(pattern("claim"))
DONE_PREFIX = pattern("done_prefix")
INTENTION = GuardedPattern(pattern("intention"))
CONTENT = re.compile(r"\d|`|\w\.[a-zA-Z]|_|/\w|[\"“«「]\w|[a-z][A-Z]")
"""Numbers, names of files and in programs, quotes: a sentence with one of these says something."""


def describe_message(step: Step) -> Clause:
    """The head of a message as a claim, never as a fact."""
    if not any(observation.origin == "user" for observation in step.observations):
        line = first_sentence(_own_words(step.message), MAX_QUOTE_CHARS)
        return Clause("say", in_quotes(line, MAX_QUOTE_CHARS) if line else "nothing")
    if line := question(step.message, MAX_QUOTE_CHARS):
        return Clause("ask the user", in_quotes(line, MAX_QUOTE_CHARS))
    return Clause("say to the user", in_quotes(first_sentence(step.message, MAX_QUOTE_CHARS), MAX_QUOTE_CHARS))


def is_empty_turn(step: Step) -> bool:
    """Whether a step only ends a turn: it calls nothing and says nothing, or one word in capitals."""
    words = step.message[:MAX_SIGNAL_CHARS].strip()
    is_signal = words.startswith(NEXT_SPEAKER) or (words.isalpha() and words.isascii() and words.isupper())
    return not step.calls and (not words or is_signal)


def _own_words(message: str) -> str:
    """A message without what is around its words: an orchestrator's ledger, the address above a page."""
    if address := PAGE_LINE.match(message):
        return message[address.end() :]
    if '"is_request_satisfied"' not in message:
        return message
    try:
        text = message[message.find("{") : message.rfind("}") + 1]
        ledger = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return message
    entries = [(ledger.get(name), key) for name, key in LEDGER_ENTRIES]
    texts = [as_text(cast("dict[str, Any]", entry).get(key)) for entry, key in entries if isinstance(entry, dict)]
    return next(filter(str.strip, texts), message)


def telling_sentence(message: str, limit: int = MAX_QUOTE_CHARS) -> str:
    """The sentence of a last message that says most; empty if it only says that all is well, or what comes next."""
    best, most = "", -1
    for sentence in islice(first_sentences(message, limit), MAX_SENTENCES):
        if THINKING_ALOUD.match(sentence):
            return ""
        if not sentence or "submit(" in sentence or sentence[-1] == "?":
            continue
        if NEXT.match(sentence) or MUSING.match(sentence):
            continue
        has_content = CONTENT.search(sentence) is not None
        is_claim = not has_content and len(sentence) < MAX_CLAIM_CHARS and CLAIM.search(sentence) is not None
        score = 2 * has_content - is_claim - 2 * (LIST_ITEM.match(sentence) is not None or sentence.endswith(":"))
        if score > most:
            best, most = sentence, score
    rest = best[prefix.end() :] if (prefix := DONE_PREFIX.match(best)) is not None else ""
    return capital(rest) if len(rest) >= MIN_SENTENCE_CHARS else best


def intent(message: str, limit: int = 90) -> str:
    """What a message says that its action is for: in a short message the longer of the last two sentences."""
    sentences = list(first_sentences(message, limit)) if len(message) <= SHORT_MESSAGE_CHARS else []
    return max(sentences[-2:], key=len) if sentences else first_sentence(message, limit)


def purpose(message: str, limit: int = MAX_PURPOSE_CHARS, *, is_change: bool = False) -> str:
    """What a message says that its action is for, by the sentences about what comes next: the first one before a
    change, else the last. Without any, see `intent`."""
    purposes: list[str] = []
    for sentence in first_sentences(message, max(3 * limit, 300)):
        if (start := INTENTION.search(sentence)) is not None:
            purposes.append(sentence if start.start() <= limit // 3 else sentence[start.start() :])
    if purposes := [sentence for sentence in purposes if len(sentence) >= MIN_PURPOSE_CHARS]:
        return purposes[0 if is_change else -1]
    return intent(message, limit)


def question(message: str, limit: int = MAX_QUOTE_CHARS) -> str:
    """The first question of a message, in any language that has a mark for it."""
    return next((line for line in first_sentences(message, limit) if line.endswith(("?", "？", "؟"))), "")


def instruction(step: Step) -> str:
    """What an agent asks another one to do, as it is in the call."""
    texts = (as_text(value) for call in step.calls for value in call.arguments.values())
    return next((text for text in texts if text.strip()), "")


def describe_delegation(step: Step) -> Clause:
    """A delegation to another agent."""
    words, who = first_sentence(instruction(step), MAX_QUOTE_CHARS), code_span(step.calls[0].name, 30)
    return Clause(f"ask {who}", in_quotes(words, MAX_QUOTE_CHARS)) if words else Clause("turn to", who)


def describe_subagents(step: Step) -> str:
    """How much the agents of an action did."""
    count = sum(1 for _ in subagent_steps(step.subagents))
    who = "the agent" if len(step.subagents) == 1 else f"{len(step.subagents)} agents"
    return f"{who} did {count} action{'' if count == 1 else 's'}, which are not shown here"


def submitted_text(step: Step) -> str:
    """What the call of a hand-over submits; empty if it holds nothing."""
    for call in step.calls:
        answer = as_text(next((value for key in ANSWER_KEYS if (value := call.arguments.get(key))), None))
        if answer.strip() and not is_shell(parse_call(call)):
            return answer
    return ""


def is_transfer(step: Step) -> bool:
    """Whether a hand-over leaves the work to a person."""
    return any(plain_name(call.name).startswith("transfertohuman") for call in step.calls)


def describe_submission(step: Step) -> Clause:
    """A hand-over, with what the call submits or the message says."""
    if answer := submitted_text(step):
        words = in_quotes(answer, 90)
        return Clause("transfer", f"to a human: {words}") if is_transfer(step) else Clause("hand in", words)
    message = telling_sentence(step.message, 90)
    return Clause("end", f"the attempt and said {in_quotes(message, 90)}" if message else "the attempt")
