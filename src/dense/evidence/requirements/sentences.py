"""Sentences with their place in the text: the section that they stand in, and what leads to the list they are in."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from dense.evidence.requirements.blocks import Block, Shape
from dense.evidence.requirements.cues import (
    ASIDE_WORDS,
    CUES,
    DEMAND_WORDS,
    INPUT_WORDS,
    OUTPUT_WORDS,
    PLAIN_IMPERATIVES,
    SAMPLE_WORDS,
)

Place = Literal["", "output", "input", "demand", "aside"]
"""What a section or list is for: results, what is given, what is demanded, or an aside that asks for nothing."""

END = re.compile(r"[.!?](?=\s)|[。！？；]|;(?=\s)")
ABBREVIATIONS = (
    "e.g", "i.e", "etc", " vs", " cf", "z.B", " bzw", "approx", " Nr", " No", "p.ej", " ex",
    "(ex", " z", " B", "т.е", " т", " Dr", " Mr",
)  # fmt: skip
WORDS = re.compile(r"[^\W\d_]+")
CJK_MAKES = ("创建", "生成", "输出", "保存", "作成", "出力", "만들", "생성")
CJK_DEMAND = ("要求", "要件", "条件", "요구")
CJK_OUTPUT = ("输出", "輸出", "出力", "成果物", "交付", "출력", "결과")
CJK_INPUT = ("输入", "輸入", "入力", "给定", "입력", "数据", "データ")


class Sentence(Struct, frozen=True, gc=False):
    """One sentence."""

    text: str
    place: Place
    """What its list or section is for."""
    shape: Shape
    """The block that it stands in."""
    is_first: bool
    """Whether it opens its block."""
    leads: bool
    """Whether it ends in a colon: what follows belongs to it."""
    language: str = ""
    """For code: what the fence says."""


def sentences(found: list[Block]) -> list[Sentence]:
    """All sentences, in order. Code is one sentence."""
    result: list[Sentence] = []
    sections: list[tuple[int, Place]] = []
    lead: Place = ""
    inner: tuple[int, Place] | None = None
    for block in found:
        section = sections[-1][1] if sections else ""
        if block.shape == "heading":
            while sections and sections[-1][0] >= block.depth:
                sections.pop()
            outer = sections[-1][1] if sections else ""
            place = place_of(block.text) or outer
            sections.append((block.depth, place))
            lead, inner = "", None
            result.append(_first(block, block.text, place))
            continue
        if block.shape == "item":
            if inner is not None and block.depth <= inner[0]:
                inner = None
            place = inner[1] if inner is not None else (lead or section)
        elif block.shape == "text":
            place, inner = section, None
        else:
            place = lead or section
        if block.is_quoted or block.shape == "quote":
            place = "aside"
        _split(block, place, result)
        if block.text.endswith((":", "：")) and block.shape in ("text", "item"):
            opened = place_of_lead(result[-1].text) or place
            if block.shape == "text":
                lead, inner = opened, None
            else:
                inner = (block.depth, opened)
        elif block.shape == "text":
            lead = ""
    return result


def _first(block: Block, text: str, place: Place) -> Sentence:
    return Sentence(text, place, block.shape, True, text.endswith((":", "：")), block.language)


def _split(block: Block, place: Place, result: list[Sentence]) -> None:
    text = block.text
    if block.shape in ("code", "quote", "row"):
        result.append(_first(block, text, place))
        return
    start = 0
    is_first = True
    for end in END.finditer(text):
        stop = end.end()
        if end[0] == "." and text[max(0, stop - 8) : stop - 1].endswith(ABBREVIATIONS):
            continue
        part = text[start:stop].strip()
        if part:
            result.append(Sentence(part, place, block.shape, is_first, False))
            is_first = False
        start = stop
    rest = text[start:].strip()
    if rest or is_first:
        result.append(Sentence(rest, place, block.shape, is_first, rest.endswith((":", "："))))


def place_of(heading: str) -> Place:
    """What a heading says that its section is for."""
    if not heading.isascii():
        if any(word in heading for word in CJK_OUTPUT):
            return "output"
        if any(word in heading for word in CJK_INPUT):
            return "input"
        if any(word in heading for word in CJK_DEMAND):
            return "demand"
    # A path that stands in the heading says nothing of what the section is for.
    plain = " ".join(token for token in heading[:120].split() if "/" not in token and "`" not in token)
    words = WORDS.findall(plain.lower())
    if len(words) > 8:
        return ""
    known = set(words)
    if known & ASIDE_WORDS and not (known & OUTPUT_WORDS and not known & SAMPLE_WORDS):
        return "aside"
    if known & OUTPUT_WORDS:
        return "output"
    if known & INPUT_WORDS:
        return "input"
    return "demand" if known & DEMAND_WORDS else ""


def place_of_lead(lead: str) -> Place:
    """What a sentence that ends in a colon says that the list after it is for."""
    words = WORDS.findall(lead[-300:].lower())
    if len(words) <= 6 and (place := place_of(lead)):
        return place
    is_making = False
    for index, word in enumerate(words):
        cue = CUES.get(word)
        if cue in ("make", "put") and (word in PLAIN_IMPERATIVES or _is_order(words, index)):
            is_making = True
        elif word in ("given", "provided", "available", "exist", "contains", "has", "consists"):
            return "input"
    if is_making and any(word in FILE_LISTS for word in words):
        return "output"
    if not lead.isascii() and any(verb in lead for verb in CJK_MAKES):
        return "output"
    return ""


FILE_LISTS = frozenset(
    """
    file files results output outputs artifacts deliverables following documents scripts programs these images
    everything dateien datei folgende fichiers fichier suivants archivos archivo siguientes arquivos seguintes файлы
    файл следующие
""".split()
)


def _is_order(words: list[str], index: int) -> bool:
    before = words[index - 1] if index else ""
    return before in ("", "and", "then", "please", "to", "must", "should", "also", "now")
