"""A shell text cut into the statements that tell what it does. Only for words: what a command does is told by the
effects, which look closer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.actions.heredocs import HEREDOC, HEREDOC_PLACE
from dense.actions.interpret import without_edit_blocks
from dense.analyst.rules.quoting import HEAD

SEPARATOR = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|&&|\|\||;;?|\n|&(?<![>&]&)(?![>&])""", re.DOTALL)
"""What ends a statement, or what is quoted and ends none. Each alternative begins with a character of its own, so that
what lies between is passed over quickly."""
QUOTING = "'\"\\"
PREFIX = re.compile(r"(?:[A-Za-z_]\w*=\S*|sudo|env|nohup|time|exec|command|timeout(?: -\S+)* \S+|stdbuf \S+)\s+")
TAIL = re.compile(
    r" ?(?:[12&]?>&[12]|[12&]?>>? ?/dev/null|< ?/dev/null|;|&"
    r"|\| ?(?:head|tail|cat|less|more)(?: -?-?\w+(?:=\w+)?){0,2})$"
)
TAIL_SIGN = re.compile(r"[<>|;&]")
"""Without one of these near the end there is nothing to take off."""
BLOCK = re.compile(r"\s*(?:for|while|until|if|case|select)\s")
BLOCK_END = re.compile(r"\s*(?:done|fi|esac)\b")
IDLE = frozenset(
    "cd pushd popd export set unset source . echo printf sleep pwd true : clear date mkdir wait alias shopt ulimit "
    "EOF stty tput whoami".split()
)
"""Programs that prepare or decorate what the rest of the text is about."""


def segments(text: str) -> list[str]:
    """The statements of a shell text, pipes and loops whole, without what only prepares or decorates."""
    found = [part.strip() for part in blocks(text)]
    told = [part for part in found if part and part[0] != "#"]
    return [part for part in told if not is_idle(part)] or told[-1:]


def blocks(text: str) -> Iterator[str]:
    """The text cut at its separators, outside quotes; a loop or a condition is one block."""
    start = piece = 0
    is_open = False
    for match in SEPARATOR.finditer(text):
        if match[0][0] in QUOTING:
            continue
        is_open = is_open or BLOCK.match(text, piece, match.start()) is not None
        is_open = is_open and BLOCK_END.match(text, piece, match.start()) is None
        piece = match.end()
        if not is_open:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


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
    text = " ".join(part[:HEAD].split())
    while True:
        near = max(0, len(text) - 40)
        sign = TAIL_SIGN.search(text, near)
        # Before its sign a tail has two characters at the most.
        found = TAIL.search(text, max(near, sign.start() - 2)) if sign is not None else None
        if found is None or not found.start():
            return text
        text = text[: found.start()]


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
    return segments(text[: 2 * HEAD]), bodies


def without_heredocs(text: str) -> tuple[str, list[str]]:
    """The text with a place in the stead of each heredoc that ends, and what they hold. Only for words: what a command
    does is told by the effects, which look closer."""
    kept: list[str] = []
    bodies: list[str] = []
    start = 0
    while (found := HEREDOC.search(text, start)) is not None:
        word = found[2] or found[3] or found[4]
        line_end = text.find("\n", found.end())
        end = text.find(f"\n{word}", line_end) if line_end >= 0 else -1
        if end < 0:
            break
        kept.append(f"{text[start : found.start()]} <{HEREDOC_PLACE}{len(bodies)} {text[found.end() : line_end]}")
        bodies.append(text[line_end + 1 : end])
        start = end + 1 + len(word)
    return "".join(kept) + text[start:], bodies
