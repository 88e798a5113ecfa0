"""What somebody said: the first sentences of a message, its question, its claim."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.actions.tools import is_shell, known
from dense.analyst.rules.quoting import one_line, plain_text, quoted
from dense.trajectory import Step

LABEL = re.compile(
    r"[#*>\s-]{0,8}(?:(?:thought|analysis|plan|task|answer|response|discussion|reasoning)s?\**:\**\s+)?", re.IGNORECASE
)
SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|(?<![:\n])\n")
MARKS = "*#_> \n\t"
"""Marks of headings and of stress."""
SHORTEST_SENTENCE = 24
"""A greeting or a heading is no sentence: what follows belongs to it."""


def said(step: Step, limit: int = 100) -> str:
    """The head of a message as a claim, never as a fact."""
    if not any(seen.origin == "user" for seen in step.observations):
        line = first_sentence(step.message, limit)
        return f"said {quoted(line, limit)}" if line else "said nothing"
    line = question(step.message, limit)
    if line:
        return f"asked the user {quoted(line, limit)}"
    return f"told the user {quoted(first_sentence(step.message, limit), limit)}"


def sentences(message: str, limit: int) -> Iterator[str]:
    """The first sentences of a message, without marks of lists and labels before them."""
    head = message[: max(4 * limit, 600)].strip()
    found = LABEL.match(head)
    start = found.end() if found else 0
    for end in SENTENCE_END.finditer(head, start):
        if end.end() - start >= SHORTEST_SENTENCE:
            yield one_line(head[start : end.end()].strip(MARKS), limit)
            start = end.end()
    if start < len(head):
        yield one_line(head[start:].strip(MARKS), limit)


def first_sentence(message: str, limit: int = 100) -> str:
    """What a message begins with."""
    return next((one for one in sentences(message, limit) if one), "")


def intent(message: str, limit: int = 90) -> str:
    """What a message says that its action is for: before a call that stands at its end."""
    found = list(sentences(message, limit)) if len(message) <= 600 else []
    return max(found[-2:], key=len) if found else first_sentence(message, limit)


def question(message: str, limit: int = 100) -> str:
    """The first question of a message, in any language that has a mark for it."""
    return next((one for one in sentences(message, limit) if one.endswith(("?", "？", "؟"))), "")


ANSWER_KEYS = ("answer", "result", "output", "final_answer", "args", "message", "summary", "text", "input", "content")


def delivered(step: Step) -> str:
    """A submission, with what was handed over where the call holds it."""
    for call in step.calls:
        answer = plain_text(next((value for key in ANSWER_KEYS if (value := call.arguments.get(key))), None))
        if answer.strip() and not is_shell(known(call)):
            return f"handed in {quoted(answer, 90)}"
    message = first_sentence(step.message, 90)
    return f"ended the attempt and said {quoted(message, 90)}" if message else "ended the attempt"
