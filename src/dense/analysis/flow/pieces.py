"""A trace as pieces, in order: what the agent said by sentences, what it called, wrote and was shown by lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from dense.analysis.actions.blocks import Block
from dense.analysis.actions.transcript import TranscriptAction
from dense.text.clip import ELLIPSIS, Gap, clip_lines, clip_middle, clip_to_parts

type PieceKind = Literal["says", "code", "call", "body", "output"]

FENCE = "```"
SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+(?=[^\W_]|[`*\"'(\[])|(?<=[。！？])|\n+")
PROSE = re.compile(r"(?<![^\s(*`\"'])[^\W\d_]+(?:['’-][^\W\d_]+)*(?=[\s.,;:!?)*`\"']|$)|[\u3041-\u9fff\uac00-\ud7a3]")
"""A word of a sentence, or a character of a script without blanks."""
PROSE_CHARS = 11
"""A sentence has a word for each so many characters, at least."""
CODE_START = re.compile(
    r"[#>$%=+|{}()\[\]<@/\\]|(?:def|class|import|from|return|if|else|for|while|const|let|var|sed|git|cd) "
)
MIN_SENTENCE_CHARS, MAX_SENTENCE_CHARS = 40, 320
MAX_LINE_CHARS, STRETCH_CHARS = 280, 220
MAX_READ_CHARS, MIN_BLOCK_CHARS = 6_000_000, 1_200
"""Of a whole trace; of each block whatever the trace's size."""
MAX_HEAD_CHARS = 90
"""Of the call that introduces an action."""


class Piece(Struct, frozen=True, gc=False):
    """A sentence or a line, in its place."""

    at: int
    """The index of its transcript action."""
    block: int
    """The index of its block; -1 for what the agent said."""
    place: int
    """Its place among all pieces of its action."""
    kind: PieceKind
    text: str
    """Whole, or a part with a mark where something is missing."""


def pieces_of(at: int, action: TranscriptAction, room: int) -> Iterator[Piece]:
    """The pieces of an action that say anything, of each block at most so many characters: its telling lines."""
    place = 0
    for kind, sentence in sentences(clip_lines(action.says, room, is_listing=True)):
        yield Piece(at, -1, place, kind, clip_middle(sentence, MAX_SENTENCE_CHARS))
        place += 1
    for index, block in enumerate(action.blocks):
        is_listing = block.kind != "output" or block.is_listing
        for part in clip_to_parts(block.text, room, is_listing=is_listing):
            if isinstance(part, Gap):
                place += part.lines
                continue
            for line in part.split("\n"):
                for text in stretches(line.rstrip()):
                    yield Piece(at, index, place, block.kind, text)
                    place += 1


def room_for_each(actions: Sequence[TranscriptAction]) -> int:
    """How many characters of a block are read, so that a trace of any size takes bounded time and memory."""
    return max(MAX_READ_CHARS // max(1, len(actions)), MIN_BLOCK_CHARS)


def sentences(text: str) -> Iterator[tuple[PieceKind, str]]:
    """The sentences of a message, each on one line, and the lines of code in it. A sentence that is too short to say
    anything belongs to the one behind it."""
    for index, part in enumerate(text.split(FENCE)):
        if index % 2:
            for line in part.partition("\n")[2].split("\n"):
                if line.strip():
                    yield "code", line.rstrip()
            continue
        waiting = ""
        for sentence in SENTENCE_BREAK.split(part):
            waiting = f"{waiting} {' '.join(sentence.split())}".strip()
            if len(waiting) >= MIN_SENTENCE_CHARS:
                yield "says" if is_prose(waiting) else "code", waiting
                waiting = ""
        if waiting:
            yield "says" if is_prose(waiting) else "code", waiting


def is_prose(text: str) -> bool:
    """Whether a text is a sentence rather than code or a row of marks: mostly words, and it begins like one."""
    return not CODE_START.match(text) and len(PROSE.findall(text)) * PROSE_CHARS >= len(text)


def stretches(line: str) -> Iterator[str]:
    """A line, or the stretches of a long one, between words where it has any."""
    if len(line) <= MAX_LINE_CHARS:
        if line and not line.isspace():
            yield line
        return
    start = 0
    while start < len(line):
        end = start + STRETCH_CHARS
        if end < len(line):
            middle = start + STRETCH_CHARS // 2
            end = max(line.rfind(" ", middle, end), line.rfind(",", middle, end)) + 1 or end
        if text := line[start:end].strip():
            yield (ELLIPSIS if start else "") + text + (ELLIPSIS if end < len(line) else "")
        start = end


def head_call(action: TranscriptAction) -> Block | None:
    """The call by which an action is known."""
    return next((block for block in action.blocks if block.kind == "call"), None)


def head_line(action: TranscriptAction) -> str:
    """The first line of that call, clipped, with the first of its long arguments if it has no others; empty if the
    action only says something or was only shown something."""
    call = head_call(action)
    if call is None:
        return ""
    line = call.text.strip().split("\n", 1)[0].rstrip()
    if line.endswith("()"):
        body = next((block for block in action.blocks if block.kind == "body"), None)
        line = f"{line[:-1]}{body.head} {body.text.split(chr(10), 1)[0]})" if body is not None else line
    return clip_middle(line, MAX_HEAD_CHARS)
