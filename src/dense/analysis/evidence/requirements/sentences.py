"""The sentences of a task, each with the purpose of the section or list that it is in."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from dense.analysis.evidence.requirements.blocks import Shape, TaskBlock
from dense.knowledge.words import words
from dense.knowledge.words.cues import CUES, IMPERATIVES
from dense.text.sentences import split_sentences

Purpose = Literal["", "output", "input", "demand", "aside"]
"""What a section or list is for: results, what is given, what is demanded, or an aside that asks for nothing."""

WORD = re.compile(r"[^\W\d_]+")
OUTPUTS = words("output_heading")
INPUTS = words("input_heading")
ASIDES = words("aside_heading")
DEMANDS = words("demand_heading")
SAMPLES = words("sample_heading")
FILE_LISTS = words("file_list")
BEFORE_ORDER = frozenset(["", "and", "then", "please", "to", "must", "should", "also", "now"])
MAX_BARE_WORDS = 3


class Sentence(Struct, frozen=True, gc=False):
    """One sentence, or a whole block of code."""

    text: str
    purpose: Purpose
    """What its list or section is for."""
    shape: Shape
    """The kind of block that it is in."""
    is_first: bool
    """Whether it opens its block."""
    leads: bool
    """Whether it ends in a colon: what follows belongs to it."""
    language: str = ""
    """For code: the language named by the fence."""


def sentences(blocks: list[TaskBlock]) -> list[Sentence]:
    """All sentences, in order."""
    result: list[Sentence] = []
    sections: list[tuple[int, Purpose]] = []
    lead: Purpose = ""
    for block in blocks:
        section = sections[-1][1] if sections else ""
        if block.shape == "heading":
            while sections and sections[-1][0] >= block.depth:
                sections.pop()
            purpose = heading_purpose(block.text) or (sections[-1][1] if sections else "")
            sections.append((block.depth, purpose))
            lead = ""
            result.append(_whole(block, purpose))
            continue
        purpose = section if block.shape == "text" else lead or section
        if block.shape == "quote":
            purpose = "aside"
        result += _split(block, purpose)
        if block.shape == "text":
            is_lead = block.text.endswith((":", "：")) or _is_bare_order(result[-1])
            lead = (lead_purpose(result[-1].text) or purpose) if is_lead else ""
    return result


def _is_bare_order(sentence: Sentence) -> bool:
    """Whether a sentence is an order without an object, which the list after it names: `Write`."""
    words = sentence.text.split()
    return 0 < len(words) <= MAX_BARE_WORDS and words[-1].isalpha() and CUES.get(words[0].lower()) in ("make", "put")


def _whole(block: TaskBlock, purpose: Purpose) -> Sentence:
    return Sentence(
        text=block.text,
        purpose=purpose,
        shape=block.shape,
        is_first=True,
        leads=block.text.endswith((":", "：")),
        language=block.language,
    )


def _split(block: TaskBlock, purpose: Purpose) -> list[Sentence]:
    if block.shape in ("code", "quote", "row"):
        return [_whole(block, purpose)]
    parts = split_sentences(block.text) or [""]
    last = len(parts) - 1
    return [
        Sentence(
            text=part,
            purpose=purpose,
            shape=block.shape,
            is_first=number == 0,
            leads=number == last and part.endswith((":", "：")),
        )
        for number, part in enumerate(parts)
    ]


def heading_purpose(heading: str) -> Purpose:
    """What a heading says that its section is for."""
    # A path in the heading says nothing of what the section is for.
    plain = " ".join(token for token in heading[:120].split() if "/" not in token and "`" not in token)
    matches = WORD.findall(plain.lower())
    known = set(matches)
    if known & ASIDES and not (known & OUTPUTS and not known & SAMPLES):
        return "aside"
    if known & OUTPUTS:
        return "output"
    if known & INPUTS:
        return "input"
    return "demand" if known & DEMANDS else ""


def lead_purpose(lead: str) -> Purpose:
    """What a sentence that ends in a colon says that the list after it is for."""
    matches = WORD.findall(lead[-300:].lower())
    if len(matches) <= 6 and (purpose := heading_purpose(lead)):
        return purpose
    is_making = False
    for before, word in zip(["", *matches], matches, strict=False):
        if CUES.get(word) in ("make", "put") and (word in IMPERATIVES or before in BEFORE_ORDER):
            is_making = True
    return "output" if is_making and not FILE_LISTS.isdisjoint(matches) else ""
