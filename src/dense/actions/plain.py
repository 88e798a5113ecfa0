"""Shell texts that need no grammar: words, literals in quotes, pipes, lists, redirections to files.

Most commands of agents are such, and to read them this way takes a tenth of the time that a tree takes. It reads what
it is sure of, and gives nothing for the rest: variables, substitutions, escapes, loops, and what the grammar groups in
a way of its own (`shell`)."""

from __future__ import annotations

import re
from typing import NamedTuple

_LETTERS = r"[\w./:@%+,=*?~^-]++"
_WORD = rf"""(?:{_LETTERS}|'[^']*+'|"[^"\\$`]*+")++"""
_NAME = r"[A-Za-z_./~][\w./+-]*+"
_END = r"(?![^\s;|&])"
_COMMAND = re.compile(
    rf"({_NAME}{_END}(?:[ \t]++(?!=){_WORD}{_END})*+)"
    rf"((?:[ \t]++(?:2>&1|[12]?>>?[ \t]*+{_LETTERS}|<[ \t]*+{_LETTERS}){_END})*+)"
    r"[ \t]*+(?:(&&|\|\|?|;(?!;)|\n)\s*+|\Z)",
    re.ASCII,
)
"""One command: its words, its redirections, and what joins it to the next one."""
_QUOTED = re.compile(_WORD, re.ASCII)
_REDIRECT = re.compile(rf"(>>|>|<)[ \t]*({_LETTERS})", re.ASCII)
_NO_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_SPECIAL = frozenset(
    """if then elif else fi for while until do done case esac in select function time coproc declare typeset export
    readonly local unset unsetenv""".split()
)
"""Words with which something else than a command begins."""
FOLDER_CHANGERS = frozenset(["cd", "pushd", "popd", "chdir"])


class Plain(NamedTuple):
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
    found: list[Plain] = []
    text = text.strip()
    position, joint = 0, ";"
    has_pipe = has_change = False  # in the list that ends with the next `;` or line
    while position < len(text):
        one = _COMMAND.match(text, position)
        if one is None:
            return None
        written, redirects, next_joint = one.groups()
        words = _words(written)
        if joint in ";\n":
            if has_pipe and has_change:  # where the grammar sees the end of the changed folder depends
                return None
            has_pipe = has_change = False
        elif has_pipe and joint != "|":  # the grammar may read `a | b && c` as `a | (b && c)`
            return None
        if words[0] in _SPECIAL or (words[-1] == "-" and redirects.lstrip()[:1].isdigit()):  # `- 2>` confuses it, too
            return None
        has_pipe = has_pipe or joint == "|"
        has_change = has_change or words[0] in FOLDER_CHANGERS
        found.append(Plain(words, written, _REDIRECT.findall(redirects) if redirects else [], joint == "|"))
        joint, position = next_joint, one.end()
    return found if joint is None or joint in ";\n" else None


def _words(written: str) -> list[str]:
    if "'" not in written and '"' not in written:
        return written.split()
    words = _QUOTED.findall(written)
    return [_NO_QUOTES.sub(r"\1\2", word) if "'" in word or '"' in word else word for word in words]
