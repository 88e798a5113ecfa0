"""The blocks of a task: paragraphs, list items, headings, table rows, quotations and code."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

Shape = Literal["text", "item", "heading", "row", "quote", "code"]

MAX_HEAD_CHARS = 12 << 10
MAX_TAIL_CHARS = 4 << 10
"""Of a longer text only so much is read: a task asks at its beginning or at its end."""

ITEM = re.compile(r"(?:[-*+•·▪‣–]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|[①-⑳]|\d{1,2}、)\s+|\[[ xX]\]\s+")
HEADING = re.compile(r"#{1,6}(?=\s)")
RULE = re.compile(r"(?:[-=*_]\s?){3,}$")


class TaskBlock(Struct, frozen=True, gc=False):
    """A part of the text that belongs together."""

    shape: Shape
    text: str
    """Paragraphs and items on one line, without their marker; code as it is."""
    depth: int = 0
    """The level of a heading, the indentation of an item."""
    language: str = ""
    """For code: the language named by the fence."""


def window(text: str) -> str:
    """The part of a text that is read."""
    if len(text) <= MAX_HEAD_CHARS + MAX_TAIL_CHARS:
        return text
    cut = text.rfind("\n", 0, MAX_HEAD_CHARS)
    head = text[: cut if cut > 0 else MAX_HEAD_CHARS]
    start = text.find("\n", len(text) - MAX_TAIL_CHARS)
    tail = text[start if start >= 0 else len(text) - MAX_TAIL_CHARS :]
    # A fence that the cut leaves open would turn the rest inside out.
    closing = "\n```" if head.count("\n```") % 2 else ""
    opening = "\n```" if tail.count("\n```") % 2 else ""
    return f"{head}{closing}\n\n{opening}{tail}"


def blocks(text: str) -> list[TaskBlock]:
    """All blocks, in order."""
    builder = _Builder()
    for line in text.splitlines():
        builder.take(line)
    return builder.finish()


class _Builder:
    """Makes blocks of lines."""

    def __init__(self) -> None:
        self.made: list[TaskBlock] = []
        self.lines: list[str] = []
        self.shape: Shape = "text"
        self.depth = 0
        self.fence = ""
        self.language = ""

    def flush(self) -> None:
        if self.lines:
            joint = "\n" if self.shape == "code" else " "
            self._add(TaskBlock(self.shape, joint.join(self.lines), self.depth, self.language))
        self.lines = []
        self.shape = "text"
        self.depth = 0
        self.language = ""

    def finish(self) -> list[TaskBlock]:
        self.flush()
        return self.made

    def _add(self, block: TaskBlock) -> None:
        """A code block that is one word, after a colon, is the end of that sentence."""
        last = self.made[-1] if self.made else None
        if block.shape == "code" and last is not None and last.shape in ("text", "item"):
            word = block.text.strip()
            if last.text.endswith((":", "：")) and word and len(word) < 200 and not any(map(str.isspace, word)):
                self.made[-1] = TaskBlock(last.shape, f"{last.text} {word}", last.depth)
                return
        self.made.append(block)

    def take(self, line: str) -> None:
        stripped = line.strip()
        if self.fence:
            self._take_code(line, stripped)
        elif stripped:
            self._take_line(line, stripped)
        elif self.shape != "code":
            self.flush()

    def _take_code(self, line: str, stripped: str) -> None:
        if stripped.startswith(self.fence) and not stripped.strip(self.fence[0]):
            self.flush()
            self.fence = ""
        else:
            self.lines.append(line)

    def _take_line(self, line: str, stripped: str) -> None:
        first = stripped[0]
        if first in "`~" and stripped.startswith(("```", "~~~")) and "`" not in stripped[3:].strip("`"):
            self.flush()
            self.fence = stripped[:3]
            self.shape = "code"
            self.language = stripped[3:].strip("`~ {}.").lower()
        elif first == "#" and (heading := HEADING.match(stripped)):
            self._single("heading", stripped[heading.end() :].strip("# "), heading.end())
        elif first == ">":
            if self.shape != "quote":
                self.flush()
                self.shape = "quote"
            self.lines.append(stripped)
        elif first == "|":
            self._single("row", stripped.strip("| "), 0)
        elif RULE.match(stripped):
            self.flush()
        elif item := ITEM.match(stripped):
            self.flush()
            self.shape = "item"
            self.depth = len(line) - len(line.lstrip())
            self.lines.append(stripped[item.end() :])
        else:
            if self.shape in ("code", "row", "quote"):
                self.flush()
            self.lines.append(stripped)

    def _single(self, shape: Shape, text: str, depth: int) -> None:
        self.flush()
        self.made.append(TaskBlock(shape, text, depth))
