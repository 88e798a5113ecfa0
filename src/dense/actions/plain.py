"""Shell texts that need no grammar: words, literals in quotes, pipes, lists, redirections to files.

Most commands of agents are such, and to read them this way takes a third of the time that a tree takes. It reads what
it is sure of, and gives nothing for the rest: variables, substitutions, escapes, loops, and what the grammar groups in
a way of its own (`shell`)."""

from __future__ import annotations

import re

from msgspec import Struct

_LETTER = r"-\w./:@%+,=*?~^"
_TARGET = rf"[ \t]*+[{_LETTER}]++"
_COMMAND = re.compile(
    rf"""([A-Za-z_./~][\w./+-]*+(?![^\s;|&])(?:[{_LETTER} \t]++|'[^']*+'|"[^"\\$`]*+")*+)"""
    rf"((?:>&1|>>?{_TARGET}|<{_TARGET})(?:[ \t]++(?:2>&1|[12]?>>?{_TARGET}|<{_TARGET}))*+[ \t]*+)?+"
    r"(?:(&&|\|\|?|;(?!;)|\n)\s*+|\Z)",
    re.ASCII,
)
"""One command: its words, its redirections, and what joins it to the next one. The number before the first redirection
stands with the words."""
_WORD = re.compile(rf"""(?:[{_LETTER}]++|'[^']*+'|"[^"]*+")++""", re.ASCII)
_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_REDIRECT = re.compile(rf"(>>|>|<)[ \t]*([{_LETTER}]+)", re.ASCII)
_SPECIAL = frozenset(
    """if then elif else fi for while until do done case esac in select function time coproc declare typeset export
    readonly local unset unsetenv""".split()
)
"""Words with which something else than a command begins."""
FOLDER_CHANGERS = frozenset(["cd", "pushd", "popd", "chdir"])


class Plain(Struct, frozen=True, gc=False):
    """One command of a plain text."""

    words: list[str]
    text: str
    """As it was written, without redirections."""
    redirects: list[tuple[str, str]]
    """Operators and targets, in order; `2>&1` is none."""
    is_piped: bool
    """Whether the one before writes into it."""


def plain_commands(text: str) -> list[Plain] | None:
    """The commands of a text; None where it is not plain."""
    if not text.isascii():
        return None
    text = text.strip()
    found: list[Plain] = []
    position, end, joint = 0, len(text), ";"
    has_pipe = has_change = False  # in the list that ends with the next `;` or line
    while position < end:
        one = _COMMAND.match(text, position)
        if one is None:
            return None
        position = one.end()
        written, redirects, next_joint = one.groups()
        if redirects:
            if written[-1] in "12" and redirects[0] == ">":
                written = written[:-1]
            if written[-1] not in " \t":
                return None
        written = written.rstrip()
        words = _words(written)
        if words is None or words[0] in _SPECIAL:
            return None
        if redirects and words[-1] == "-" and redirects[0] == ">":  # the grammar loses the `-` of `- 2>`
            return None
        if joint in ";\n":
            if has_pipe and has_change:  # where the changed folder ends is for the grammar to say
                return None
            has_pipe = has_change = False
        elif joint == "|":
            has_pipe = True
        elif has_pipe:  # the grammar may read `a | b && c` as `a | (b && c)`
            return None
        if words[0] in FOLDER_CHANGERS:
            has_change = True
        found.append(Plain(words, written, _REDIRECT.findall(redirects) if redirects else [], joint == "|"))
        joint = next_joint
    return found if joint is None or joint in ";\n" else None


def _words(written: str) -> list[str] | None:
    """The words without quotes; None where one begins with `=`, which the grammar may take for an operator."""
    has_quotes = "'" in written or '"' in written
    words: list[str] = _WORD.findall(written) if has_quotes else written.split()
    if "=" in written and any(word[0] == "=" for word in words):
        return None
    return [_unquoted(word) if "'" in word or '"' in word else word for word in words] if has_quotes else words


def _unquoted(word: str) -> str:
    first = word[0]
    if first in "'\"" and word.find(first, 1) == len(word) - 1:  # all of it
        return word[1:-1]
    return _QUOTES.sub(r"\1\2", word)
