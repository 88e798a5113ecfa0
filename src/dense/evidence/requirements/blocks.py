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
BOLD_HEADING = re.compile(r"(?:\*\*|__)[^*_]{1,60}(?:\*\*|__):?$")
RULE = re.compile(r"(?:[-=*_]\s?){3,}$")
TABLE_RULE = re.compile(r"[|:\s-]+$")
TAG = re.compile(r"<(/?)([A-Za-z_][\w-]{0,40})>$")
QUOTING_TAGS = frozenset(
    "issue issues issue_description pr_description problem_statement github_issue bug_report traceback log logs output "
    "details example examples stacktrace code".split()
)
"""Tags around what somebody else wrote, which asks nothing of the agent."""


class TaskBlock(Struct, frozen=True, gc=False):
    """A part of the text that belongs together."""

    shape: Shape
    text: str
    """Paragraphs and items on one line, without their marker; code as it is."""
    depth: int = 0
    """The level of a heading, the indentation of an item."""
    language: str = ""
    """For code: the language named by the fence."""
    is_quoted: bool = False
    """Whether a tag says that somebody else wrote it."""


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
        self.after_blank = True
        self.quoting = ""

    def flush(self) -> None:
        if self.lines:
            joint = "\n" if self.shape == "code" else " "
            self._add(TaskBlock(self.shape, joint.join(self.lines), self.depth, self.language, bool(self.quoting)))
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
                self.made[-1] = TaskBlock(last.shape, f"{last.text} {word}", last.depth, is_quoted=last.is_quoted)
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
        self.after_blank = not stripped and not self.fence

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
        elif first == "<" and self._take_tag(stripped):
            return
        elif self._is_indented_code(line):
            if self.shape != "code":
                self.flush()
                self.shape = "code"
            self.lines.append(line)
        elif first == "#" and (heading := HEADING.match(stripped)):
            self._single("heading", stripped[heading.end() :].strip("# "), heading.end())
        elif first == ">":
            self._keep("quote", stripped)
        elif first == "|":
            if not TABLE_RULE.match(stripped):
                self._single("row", stripped.strip("| "), 0)
        elif first in "*_" and BOLD_HEADING.match(stripped):
            self._single("heading", stripped.strip("*_: ") + ":", 7)
        elif RULE.match(stripped):
            self._underline(stripped)
        elif item := ITEM.match(stripped):
            self.flush()
            self.shape = "item"
            self.depth = len(line) - len(line.lstrip())
            self.lines.append(stripped[item.end() :])
        else:
            if self.shape in ("code", "row", "quote"):
                self.flush()
            self.lines.append(stripped)

    def _is_indented_code(self, line: str) -> bool:
        if not line.startswith(("    ", "\t")):
            return False
        if self.shape == "code":
            return True
        in_list = bool(self.made) and self.made[-1].shape == "item"
        return self.after_blank and not in_list and not ITEM.match(line.lstrip())

    def _single(self, shape: Shape, text: str, depth: int) -> None:
        self.flush()
        self.made.append(TaskBlock(shape, text, depth, is_quoted=bool(self.quoting)))

    def _keep(self, shape: Shape, text: str) -> None:
        if self.shape != shape:
            self.flush()
            self.shape = shape
        self.lines.append(text)

    def _underline(self, stripped: str) -> None:
        """A row of dashes under a single line makes a heading of it."""
        if stripped[0] in "=-" and self.shape == "text" and len(self.lines) == 1 and not self.after_blank:
            self.shape = "heading"
            self.depth = 1 if stripped[0] == "=" else 2
        self.flush()

    def _take_tag(self, stripped: str) -> bool:
        tag = TAG.match(stripped)
        if tag is None:
            if stripped.startswith("<!--") and stripped.endswith("-->"):
                self.flush()
                return True
            return False
        self.flush()
        name = tag[2].lower()
        if tag[1]:
            self.quoting = "" if name == self.quoting else self.quoting
        elif not self.quoting and name in QUOTING_TAGS:
            self.quoting = name
        return True
