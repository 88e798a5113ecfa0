"""A shell text cut into the statements that tell what it does. Only for words: what a command does is told by the
effects, which look closer."""

from __future__ import annotations

import re

from dense.evidence.actions.shell.heredocs import HEREDOC, HEREDOC_PLACE
from dense.evidence.actions.shell.interpret import without_edit_blocks
from dense.knowledge.programs import programs_that
from dense.text.quoting import flat

MAX_STATEMENT_CHARS = 2000
SEPARATOR = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|&&|\|\||;;?|\n|&(?<![>&]&)(?![>&])""", re.DOTALL)
"""What ends a statement, or what is quoted and ends none. Each alternative begins with a character of its own, so that
what lies between is passed over quickly."""
QUOTING = "'\"\\"
PREFIX = re.compile(r"(?:[A-Za-z_]\w*=\S*|sudo|env|nohup|time|exec|command|timeout(?: -\S+)* \S+|stdbuf \S+)\s+")
REDIRECTED = r">(?:&[12]|>? ?/dev/null)"
TAIL = re.compile(
    rf"(?:1{REDIRECTED}|2{REDIRECTED}|&(?:{REDIRECTED})?|{REDIRECTED}|< ?/dev/null|;"
    r"|\| ?(?:head|tail|cat|less|more)(?: -?-?\w+(?:=\w+)?){0,2})$"
)
"""Each alternative begins with a character of its own here, too."""
TAIL_ENDS = "12l;&"
"""What is redirected or ended so ends with one of these; what is shortened has a pipe."""
BLOCK = re.compile(r"\s*(?:for|while|until|if|case|select)\s")
BLOCK_END = re.compile(r"\s*(?:done|fi|esac)\b")
IDLE = programs_that("decorates") | {"EOF"}
"""Programs that prepare or decorate what the rest of the text is about."""


def segments(text: str) -> list[str]:
    """The statements of a shell text, pipes and loops whole, without what only prepares or decorates."""
    told = [part for block in blocks(text) if (part := block.strip()) and part[0] != "#"]
    if len(told) < 2:
        return told
    return [part for part in told if not is_idle(part)] or told[-1:]


def blocks(text: str) -> list[str]:
    """The text cut at its separators, outside quotes; a loop or a condition is one block."""
    if not ("&" in text or "\n" in text or ";" in text or "||" in text):
        return [text]
    found: list[str] = []
    start = piece = 0
    is_open = False
    for match in SEPARATOR.finditer(text):
        here, end = match.span()
        if text[here] in QUOTING:
            continue
        is_open = is_open or BLOCK.match(text, piece, here) is not None
        is_open = is_open and BLOCK_END.match(text, piece, here) is None
        piece = end
        if not is_open:
            found.append(text[start:here])
            start = end
    found.append(text[start:])
    return found


def is_idle(part: str) -> bool:
    name = part.split(None, 1)[0]
    if name not in ("echo", "printf"):
        return name in IDLE
    return "|" not in part and ">" not in part.replace(">&", "")  # piped or written: not for its own sake


def program(part: str) -> str:
    """The name of the program that a statement runs."""
    rest = part
    for _ in range(4):
        found = PREFIX.match(rest)
        if found is None:
            break
        rest = rest[found.end() :]
    words = rest.split(None, 1)
    return words[0].rpartition("/")[2] if words else ""


def trimmed(part: str) -> str:
    """A statement without its ends that only shorten or redirect what is shown."""
    text = flat(part[:MAX_STATEMENT_CHARS])
    while text[-1:] in TAIL_ENDS or "|" in text[-40:]:
        found = TAIL.search(text, len(text) - 40)
        if found is None or not found.start():
            break
        text = text[: found.start()].rstrip()
    return text


def statements(text: str) -> tuple[list[str], list[str]]:
    """The telling statements of a shell text, without heredocs; and the heredocs."""
    text = text if len(text) < 50_000 else text[:50_000]
    if "end_of_edit" in text:
        text = without_edit_blocks(text)
    bodies: list[str] = []
    if "<<" in text:
        text, bodies = without_heredocs(text)
    if "\\\n" in text:
        text = text.replace("\\\n", " ")  # a line that goes on in the next one
    return segments(text[: 2 * MAX_STATEMENT_CHARS]), bodies


def without_heredocs(text: str) -> tuple[str, list[str]]:
    """The text with a place in the stead of each heredoc that ends, and what they hold. Only for words: what a command
    does is told by the effects, which look closer."""
    kept: list[str] = []
    bodies: list[str] = []
    start = 0
    while (at := text.find("<<", start)) >= 0 and (found := HEREDOC.search(text, at)) is not None:
        word = found[2] or found[3] or found[4]
        line_end = text.find("\n", found.end())
        end = text.find(f"\n{word}", line_end) if line_end >= 0 else -1
        if end < 0:
            break
        kept.append(f"{text[start : found.start()]} <{HEREDOC_PLACE}{len(bodies)} {text[found.end() : line_end]}")
        bodies.append(text[line_end + 1 : end])
        start = end + 1 + len(word)
    return "".join(kept) + text[start:], bodies
