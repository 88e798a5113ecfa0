"""What somebody said: the first sentences of a message, its question, its claim."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, cast

import msgspec

from dense.evidence.actions.tool_calls import is_shell, parse_call
from dense.evidence.facts.agents import subagent_steps
from dense.narrate.quoting import capital
from dense.text.quoting import plain_text, quoted, ticked
from dense.text.sentences import LIST_ITEM, SHORTEST_SENTENCE, first_sentence, sentences
from dense.trajectory import Step


def said(step: Step, limit: int = 100) -> str:
    """The head of a message as a claim, never as a fact."""
    if not any(seen.origin == "user" for seen in step.observations):
        line = first_sentence(unwrapped(step.message), limit)
        return f"said {quoted(line, limit)}" if line else "said nothing"
    line = question(step.message, limit)
    if line:
        return f"asked the user {quoted(line, limit)}"
    return f"told the user {quoted(first_sentence(step.message, limit), limit)}"


def says_nothing(step: Step) -> bool:
    """Whether a step only ends a turn: it calls nothing and says nothing, or one word in capitals to whoever leads."""
    words = step.message[:LONGEST_SIGNAL].strip()
    is_signal = words.startswith(NEXT_SPEAKER) or (words.isalpha() and words.isascii() and words.isupper())
    return not step.calls and (not words or is_signal)


LONGEST_SIGNAL = 40
NEXT_SPEAKER = "Next speaker "
"""What a lead of several agents writes down of whose turn it is."""
PAGE_LINE = re.compile(r"\n={8,}\s*\n")
"""What a browser of files puts between what it says of a page and the page."""
LEDGER_WORDS = (("instruction_or_question", "answer"), ("is_progress_being_made", "reason"))
"""What a ledger says that tells something, by the names of its entries."""


def unwrapped(message: str) -> str:
    """What a message says, where it is the record of a planner, or a page with its address above it."""
    if (
        message.startswith("Address: ")
        and (found := PAGE_LINE.search(message, 0, 2000))
        and message[found.end() :].strip()
    ):
        return message[found.end() :]
    if '"is_request_satisfied"' not in message:
        return message
    try:
        ledger = msgspec.json.decode(message[message.find("{") : message.rfind("}") + 1])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return message
    entries = cast("dict[str, Any]", ledger) if isinstance(ledger, dict) else {}
    for name, key in LEDGER_WORDS:
        entry = entries.get(name)
        if (
            isinstance(entry, dict)
            and isinstance(words := cast("dict[str, Any]", entry).get(key), str)
            and words.strip()
        ):
            return words
    return message


NEXT = re.compile(
    r"(?:(?:now|so|next|then|finally|ok(?:ay)?|great|good|perfect|first)[,.!:]?\s+)*"
    r"(?:let(?:'s| me| us)\b|calling\b|time to\b"
    r"|(?:i|we)(?:'ll| will| should| need| am going| are going|'m going|'re going| can now| want)\b|please proceed)",
    re.IGNORECASE,
)
"""How a sentence begins that says what comes next, and not what was."""
ALOUD = re.compile(r"(?:(?:oh|ah|but|so)[, ]+)?(?:wait|hmm+|hm|ah|oh)\b", re.IGNORECASE)
"""How a sentence begins in which somebody thinks aloud: then the message is no report."""
MUSING = re.compile(r"(?:actually|maybe|perhaps|let'?s see|should i|do i)\b", re.IGNORECASE)
"""The same in a report: such a sentence tells nothing."""
CLAIM = re.compile(
    r"\b(?:done|ready|correct\w*|complete\w*|success\w*|works?|working|fixed|fine|good|great|perfect|present|gone|verified"
    r"|submit\w*|finished|confirm\w*|expected|solved|flag|fertig|terminé|listo|готово)\b|完了|完成|完毕|完畢",
    re.IGNORECASE,
)
"""Words of somebody who is content."""
CONTENT = re.compile(r"\d|`|\w\.[a-zA-Z]|_|/\w|[\"“«「]\w|[a-z][A-Z]")
"""Numbers, names of files and of things in programs, what is quoted: a sentence with one of these tells something."""
OPENING = re.compile(
    r"(?:(?:done|ready|great|perfect|finished)|i(?:'m| am) (?:done|ready)[^.!]{0,30})[.!]\s+", re.IGNORECASE
)
MOST_SENTENCES = 8
LONGEST_CLAIM = 70


def telling_sentence(message: str, limit: int = 100) -> str:
    """The sentence of a last message that tells most; empty where it only says that all is well, or what comes next."""
    best, most = "", -1
    for one in islice(sentences(message, limit), MOST_SENTENCES):
        if ALOUD.match(one):
            return ""
        if not one or NEXT.match(one) or "submit(" in one or one[-1] == "?" or MUSING.match(one):
            continue
        has_content = CONTENT.search(one) is not None
        is_claim = not has_content and len(one) < LONGEST_CLAIM and CLAIM.search(one) is not None
        score = 2 * has_content - is_claim - 2 * (LIST_ITEM.match(one) is not None or one.endswith(":"))
        if score > most:
            best, most = one, score
    rest = best[found.end() :] if (found := OPENING.match(best)) is not None else ""
    return capital(rest) if len(rest) >= SHORTEST_SENTENCE else best


def intent(message: str, limit: int = 90) -> str:
    """What a message says that its action is for: before a call that stands at its end."""
    found = list(sentences(message, limit)) if len(message) <= 600 else []
    return max(found[-2:], key=len) if found else first_sentence(message, limit)


def question(message: str, limit: int = 100) -> str:
    """The first question of a message, in any language that has a mark for it."""
    return next((one for one in sentences(message, limit) if one.endswith(("?", "？", "؟"))), "")


MAX_QUERY_CHARS = 40


def without_query(address: str) -> str:
    """An address without a long query behind it."""
    page, mark, query = address.partition("?")
    return f"{page}?…" if mark and len(query) > MAX_QUERY_CHARS else address


def instruction(step: Step) -> str:
    """What an agent asks another one to do, as it is in the call."""
    texts = (plain_text(value) for call in step.calls for value in call.arguments.values())
    return next((text for text in texts if text.strip()), "")


def describe_delegation(step: Step, limit: int = 100) -> str:
    """A delegation to another agent as a clause."""
    words = first_sentence(instruction(step), limit)
    who = ticked(step.calls[0].name, 30)
    return f"asked {who} {quoted(words, limit)}" if words else f"turned to {who}"


def describe_subagents(step: Step) -> str:
    """How much the agents of an action did."""
    count = sum(1 for _ in subagent_steps(step.subagents))
    who = "the agent" if len(step.subagents) == 1 else f"{len(step.subagents)} agents"
    return f"{who} did {count} action{'' if count == 1 else 's'}, which are not shown here"


ANSWER_KEYS = ("answer", "result", "output", "final_answer", "args", "message", "summary", "text", "input", "content")


def submitted_text(step: Step) -> str:
    """What the call of a hand-over submits; empty if it holds nothing."""
    for call in step.calls:
        answer = plain_text(next((value for key in ANSWER_KEYS if (value := call.arguments.get(key))), None))
        if answer.strip() and not is_shell(parse_call(call)):
            return answer
    return ""


def delivered(step: Step) -> str:
    """A submission, with what was handed over where the call holds it."""
    if answer := submitted_text(step):
        return f"handed in {quoted(answer, 90)}"
    message = telling_sentence(step.message, 90)
    return f"ended the attempt and said {quoted(message, 90)}" if message else "ended the attempt"
