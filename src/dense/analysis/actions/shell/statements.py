"""A shell text cut into its statements as they are written, for those who quote it. What a statement does is for
`interpret`, which parses it."""

from __future__ import annotations

import re

from dense.analysis.actions.shell.command import strip_wrappers
from dense.analysis.actions.shell.heredocs import take_heredocs
from dense.analysis.actions.shell.interpret import without_edit_blocks
from dense.knowledge.programs import programs_that
from dense.text.quoting import collapse_spaces

MAX_TEXT_CHARS = 50_000
MAX_STATEMENT_CHARS = 2000
SEPARATOR = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|&&|\|\||;;?|\n|&(?<![>&]&)(?![>&])""", re.DOTALL)
"""What ends a statement, or what is quoted and ends none."""
BLOCK = re.compile(r"\s*(?:for|while|until|if|case|select)\s")
BLOCK_END = re.compile(r"\s*(?:done|fi|esac)\b")
REDIRECTED = r">(?:&[12]|>? ?/dev/null)"
TAIL = re.compile(
    rf"(?:[12&]?{REDIRECTED}|&|< ?/dev/null|;|\| ?(?:head|tail|cat|less|more)(?: -?-?\w+(?:=\w+)?){{0,2}})$"
)
"""The end of a statement that only shortens or redirects what is shown."""
DECORATION = programs_that("decorates") | {"EOF"}


def statements(text: str) -> tuple[list[str], list[str]]:
    """The statements of a shell text with a file in the place of each heredoc, and the bodies of the heredocs."""
    text, heredocs = take_heredocs(without_edit_blocks(text[:MAX_TEXT_CHARS]), take_open=False)
    text = text.replace("\\\n", " ")  # a line that goes on in the next one
    return segments(text[: 2 * MAX_STATEMENT_CHARS]), [heredoc.body.removesuffix("\n") for heredoc in heredocs.values()]


def segments(text: str) -> list[str]:
    """The statements of a shell text, pipes and loops whole, without what only prepares or decorates."""
    parts = [part for block in blocks(text) if (part := block.strip()) and part[0] != "#"]
    return [part for part in parts if not is_decoration(part)] or parts[-1:]


def blocks(text: str) -> list[str]:
    """The text cut at its separators, outside quotes; a loop or a condition is one block."""
    parts: list[str] = []
    start = piece = 0
    is_open = False
    for match in SEPARATOR.finditer(text):
        here, end = match.span()
        if text[here] in "'\"\\":
            continue
        is_open = is_open or BLOCK.match(text, piece, here) is not None
        is_open = is_open and BLOCK_END.match(text, piece, here) is None
        piece = end
        if not is_open:
            parts.append(text[start:here])
            start = end
    parts.append(text[start:])
    return parts


def is_decoration(part: str) -> bool:
    """Whether a statement only prepares or decorates; what is piped or written is not for its own sake."""
    name = part.split(None, 1)[0]
    is_used = name in ("echo", "printf") and ("|" in part or ">" in part.replace(">&", ""))
    return name in DECORATION and not is_used


def program(part: str) -> str:
    """The name of the program that a statement runs."""
    words = strip_wrappers(part.split(None, 8))
    return words[0].rpartition("/")[2] if words else ""


def trimmed(part: str) -> str:
    """A statement without its ends that only shorten or redirect what is shown."""
    text = collapse_spaces(part[:MAX_STATEMENT_CHARS])
    while (match := TAIL.search(text, max(0, len(text) - 40))) is not None and match.start():
        text = text[: match.start()].rstrip()
    return text
