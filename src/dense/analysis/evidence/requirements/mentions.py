"""The names in a sentence: what is in quotes or backticks, and words that are names of files."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from dense.knowledge import file_names as known
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
    mentions: list[Mention] = []

    def take(match: re.Match[str]) -> str:
        mention = _quoted(match)
        if mention is None:
            return match[0]
        mentions.append(mention)
        return " " * len(match[0])

    rest = QUOTED.sub(take, text)
    return sorted([*mentions, *_plain(rest)], key=lambda mention: mention.start)


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
    mentions: list[Mention] = []
    at = 0
    for token in text.split():
        if "/" not in token and "." not in token[:-1] and token not in WHOLE_NAMES:
            continue
        start = text.find(token, at)
        at = start + len(token)
        if "://" in token or "()" in token or len(token) > 2000:
            continue
        _note_plain(token, start, mentions)
    return mentions


def _note_plain(token: str, start: int, mentions: list[Mention]) -> None:
    word = token.lstrip(LEADING)
    start += len(token) - len(word)
    word = word.rstrip(TRAILING)
    word = word.removesuffix("'s").removesuffix("’s")
    name = _without_line(word)
    if is_file(name, False):
        mentions.append(Mention("file", name, start, start + len(word)))


def _without_line(name: str) -> str:
    """A file name without the line number behind it."""
    return LINE_NUMBER.sub("", name) if ":" in name or "#" in name else name


# Whether a word is the name of a file

TOP_FOLDERS = re.compile(
    r"(?:/[\w.-]*/?|\.{0,2}/?|~/?|/home/[\w.-]+/?|/var/?\w*/?|/usr/(?:local/)?\w+/?|/Users/[\w.-]+/?)"
)
PLACEHOLDER = re.compile(r"path/to|[<>{}$…]|\.\.\.|[Xx]{3}|your[-_]|\[")
BODY = re.compile(r"(?:[A-Za-z]:)?[\w.+~%*?@!=,#&()\[\]{}<>$:/\\…-]+")
SLASHED = re.compile(r"[\w.~*{}<>$-]+(?:/[\w.~*@{}<>$+-]+)+/?$")
ROUTED = re.compile(r"/[\w.~*@{}<>$+/:%-]*$")
TITLE = re.compile(r"[A-Z][a-z]+$")


def is_placeholder(path: str) -> bool:
    """Whether a path is a placeholder for one that the text does not name."""
    return PLACEHOLDER.search(path) is not None


def is_top_folder(path: str) -> bool:
    """Whether a path is a place to work in rather than a thing: `/app`, `~`, `.`, `/home/user`."""
    return TOP_FOLDERS.fullmatch(path) is not None and not has_extension(path)


def has_extension(path: str) -> bool:
    """Whether the last part of a path has a known extension, or is a known name without one."""
    name = path.rpartition("/")[2]
    if name in known.DOT_FILES or name in known.WHOLE_NAMES:
        return True
    stem, dot, ending = name.rpartition(".")
    return bool(dot and stem) and ending.lower() in known.EXTENSIONS


def is_file(word: str, is_quoted: bool) -> bool:
    """Whether a word without punctuation around it names a file or folder. In quotes it is more likely to."""
    if not 2 <= len(word) <= 260 or "://" in word or "@" in word[1:]:
        return False
    if word in known.WHOLE_NAMES or word in known.DOT_FILES:
        return is_quoted or word not in ("BUILD", "WORKSPACE", "NOTICE", "LICENSE", "README", "CHANGELOG")
    return _is_path(word, is_quoted) if "/" in word else _is_bare_name(word, is_quoted)


def _is_bare_name(word: str, is_quoted: bool) -> bool:
    stem, dot, ending = word.rpartition(".")
    kind = ending.lower()
    if not dot or not stem or kind not in known.EXTENSIONS or word.lower() in known.PRODUCTS:
        return False
    if "(" in stem or "=" in stem or stem[-1] in ".-" or stem[0] == "-" or not BODY.fullmatch(word):
        return False
    if "." in stem and stem[0] != "." and kind in known.ATTRIBUTES and not is_quoted:
        return False
    if kind in known.ATTRIBUTES:
        head = stem.partition(".")[0]
        if (
            head.lower() in (known.CODE_OBJECTS if is_quoted else known.OBJECTS)
            or head.isdigit()
            or (len(kind) == 1 and len(stem) < 2 and not is_quoted)
        ):
            return False
    # "Node.js", but a capitalised name in quotes may be a component's file.
    return not (kind == "js" and not is_quoted and TITLE.match(stem))


def _is_path(word: str, is_quoted: bool) -> bool:
    first = word.partition("/")[0]
    if word[0] == "/":
        if not ROUTED.match(word) or "//" in word:
            return False
        top = word[1:].partition("/")[0]
        return has_extension(word) or top.lower() in known.ROOTS or top in known.DOT_FILES
    if not SLASHED.match(word) and not (word[-1] == "/" and len(word) > 2):
        return False
    if "." in first and first.rpartition(".")[2].lower() in known.DOMAINS:
        return False
    if has_extension(word) or word.rpartition("/")[2] in known.WHOLE_NAMES:
        return not first.isdigit() or len(first) > 2
    if first in (".", "..", "~"):
        return True
    if word[-1] == "/":
        return word[:-1].replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    return is_quoted and "*" in word
