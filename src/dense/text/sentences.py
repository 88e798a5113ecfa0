"""The sentences of a message."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.text.quoting import one_line

LABEL = re.compile(
    r"[#*>\s-]{0,8}(?:(?:thought|analysis|plan|task|answer|response|discussion|reasoning)s?\**:\**\s+)?", re.IGNORECASE
)
SENTENCE_END = re.compile(r"[.!?。！？\n](?:(?<=[.!?])(?=\s)(?<!\n\d\.)(?<!: \d\.)|(?<=[。！？])|(?<=\n)(?<![:\n]\n))")
"""The full stop behind the number of a list item ends no sentence."""
MARKS = "*#_> \n\t"
"""Markdown of headings and emphasis."""
MIN_SENTENCE_CHARS = 24
"""Anything shorter, such as a greeting or a heading, belongs to the sentence behind it."""
LIST_ITEM = re.compile(r"[-•·+]\s|\(?\d{1,2}[.)]\s")
"""The beginning of a list item."""
STOP = re.compile(r"[.!?;](?=\s)|[。！？；]")
ABBREVIATIONS = ("e.g", "i.e", "etc", " vs", " cf", "approx", " No", " ex", "(ex", " Dr", " Mr", "z.B", " bzw", "p.ej")


def first_sentences(message: str, limit: int) -> Iterator[str]:
    """The first sentences of a message, without Markdown and without a label before them."""
    head = message[: max(4 * limit, 600)].strip()
    match = LABEL.match(head)
    start = match.end() if match else 0
    for end in SENTENCE_END.finditer(head, start):
        if end.end() - start >= MIN_SENTENCE_CHARS:
            yield one_line(head[start : end.end()].strip(MARKS), limit)
            start = end.end()
    if start < len(head):
        yield one_line(head[start:].strip(MARKS), limit)


def first_sentence(message: str, limit: int = 100) -> str:
    """The first sentence of a message that is not empty."""
    return next((sentence for sentence in first_sentences(message, limit) if sentence), "")


def split_sentences(text: str) -> list[str]:
    """All sentences of a paragraph. A full stop behind an abbreviation ends none."""
    parts: list[str] = []
    start = 0
    for end in STOP.finditer(text):
        stop = end.end()
        if end[0] == "." and text[max(0, stop - 8) : stop - 1].endswith(ABBREVIATIONS):
            continue
        parts.append(text[start:stop].strip())
        start = stop
    parts.append(text[start:].strip())
    return [part for part in parts if part]
