"""The names in a sentence: what is in quotes or backticks, and words that look like paths."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from dense.evidence.requirements.file_names import is_file
from dense.knowledge.file_names import WHOLE_NAMES
from dense.knowledge.programs import is_program, programs_that
from dense.knowledge.test_runners import RUNNERS

Sort = Literal["file", "command", "value"]

QUOTED = re.compile(
    r"`([^`\n]{1,300})`|\"([^\"\n]{1,160})\"|“([^”\n]{1,160})”|「([^」\n]{1,160})」|『([^』\n]{1,160})』"
    r"|«([^»\n]{1,160})»|„([^“”\n]{1,160})[“”]|'(?<!\w')([^'\n]{1,100})'(?!\w)|‘([^’\n]{1,100})’(?!\w)"
)
LINE_NUMBER = re.compile(r"(?::\d+)+$|#L\d+.*$")
LEADING = "([{<*@'\"“‘«,;:-=>"
TRAILING = ")]}>*'\"”’».,;:!?…=。、"

ALONE = RUNNERS.programs | programs_that("builds")
"""Programs that are a command without any argument."""
NO_COMMANDS = programs_that("builtin") - {"cd", "echo", "export"}
"""Shell builtins that are as often code of another language."""


class Mention(Struct, frozen=True, gc=False):
    """A name and its position in the sentence."""

    sort: Sort
    text: str
    start: int
    end: int
    """Including the closing quote."""


def mentions(text: str) -> list[Mention]:
    """All names in a sentence, in order."""
    found: list[Mention] = []

    def take(match: re.Match[str]) -> str:
        mention = _quoted(match)
        if mention is None:
            return match[0]
        found.append(mention)
        return " " * len(match[0])

    rest = QUOTED.sub(take, text)
    return sorted([*found, *_plain(rest)], key=lambda mention: mention.start)


def _quoted(match: re.Match[str]) -> Mention | None:
    content = (match[match.lastindex or 0] or "").strip()
    if not content:
        return None
    start, end = match.span()
    if " " not in content and ("." in content or "/" in content or content in WHOLE_NAMES):
        name = _without_line(content.removeprefix("@")).rstrip(",;")
        if is_file(name, True):
            return Mention("file", name, start, end)
    if match[0][0] == "`" and is_command(content):
        return Mention("command", content, start, end)
    if len(content) > 120 or content.count(" ") > 8:
        return None
    return Mention("value", content, start, end)


def is_command(text: str) -> bool:
    """Whether a text reads as a command line."""
    first, _, rest = text.partition(" ")
    if first.startswith("./"):
        return True
    is_known = is_program(first) and first not in NO_COMMANDS
    return is_known and rest[:1] not in ("=", "(", "*") and (bool(rest) or first in ALONE)


def _plain(text: str) -> list[Mention]:
    found: list[Mention] = []
    at = 0
    for token in text.split():
        if "/" not in token and "." not in token[:-1] and token not in WHOLE_NAMES:
            continue
        start = text.find(token, at)
        at = start + len(token)
        if "://" in token or "()" in token or len(token) > 2000:
            continue
        _note_plain(token, start, found)
    return found


def _note_plain(token: str, start: int, found: list[Mention]) -> None:
    word = token.lstrip(LEADING)
    start += len(token) - len(word)
    word = word.rstrip(TRAILING)
    word = word.removesuffix("'s").removesuffix("’s")
    name = _without_line(word)
    if is_file(name, False):
        found.append(Mention("file", name, start, start + len(word)))


def _without_line(name: str) -> str:
    """A file name without the line number behind it."""
    return LINE_NUMBER.sub("", name) if ":" in name or "#" in name else name
