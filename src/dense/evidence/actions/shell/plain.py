"""Shell texts that need no grammar: words, literals in quotes, pipes, lists, redirections to files.

Most commands of agents are such, and to read them this way takes a third of the time that a tree takes. It reads what
it is sure of, and gives nothing for the rest: variables, substitutions, escapes, loops, and what the grammar groups in
a way of its own (`shell`)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dense.evidence.actions.shell.command import FOLDER_CHANGERS, Command, Redirect, folder_after
from dense.evidence.actions.shell.heredocs import HEREDOC_PLACE, NO_HEREDOCS, Heredoc

_LETTER = r"-A-Za-z0-9_./:@%+,=*?~^"
_TARGET = rf"[ \t]*+[{_LETTER}]++"
_COMMAND = re.compile(
    rf"""([A-Za-z_./~][A-Za-z0-9_./+-]*+(?![^\s;|&])(?:[{_LETTER} \t]++|('[^']*+'|"[^"\\$`]*+"))*+)"""
    rf"((?:>&1|>>?{_TARGET}|<{_TARGET})(?:[ \t]++(?:2>&1|[12]?>>?{_TARGET}|<{_TARGET}))*+)?+"
    r"[ \t]*+(?:(&&|\|\|?|;(?!;)|\n)\s*+|\Z)",
    re.ASCII,
)
"""One command: its words, the last literal among them, its redirections, and what joins it to the next one. The number
before the first redirection stands with the words. Letters are listed since Python is slower to look for `\\w`."""
_WORD = re.compile(rf"""(?:[{_LETTER}]++|'[^']*+'|"[^"]*+")++""")
_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_REDIRECT = re.compile(rf"(>>|>|<)[ \t]*([{_LETTER}]+)")
_SPECIAL = frozenset(
    """if then elif else fi for while until do done case esac in select function time coproc declare typeset export
    readonly local unset unsetenv""".split()
)
"""Words with which something else than a command begins."""


def plain_commands(text: str, cwd: str = "", heredocs: Mapping[str, Heredoc] = NO_HEREDOCS) -> list[Command] | None:
    """The commands of a text that begins in the folder `cwd`; None where it is not plain."""
    if not text.isascii():
        return None
    text = text.strip()
    commands: list[Command] = []
    command: Command | None = None
    position, end, joint = 0, len(text), ";"
    last_cwd = cwd
    has_pipe = has_change = False  # in the list that ends with the next `;` or line
    while position < end:
        found = _COMMAND.match(text, position)
        if found is None:
            return None
        position = found.end()
        written, literal, redirection, next_joint = found.groups()
        if redirection:
            if written[-1] in "12" and redirection[0] == ">":
                written = written[:-1]
            if written[-1] not in " \t":
                return None
        written = written.rstrip()
        words = _words(written, literal) if literal or "=" in written else written.split()
        if words is None or words[0] in _SPECIAL:
            return None
        if joint == "|":
            has_pipe = True
        else:
            command = None
            is_list = joint in ("&&", "||")
            # The grammar may read `a | b && c` as `a | (b && c)`; where a changed folder ends is for it to say, too.
            if has_pipe and (is_list or has_change):
                return None
            if not is_list:
                has_pipe = has_change = False
        if redirection and redirection[0] == ">" and words[-1] == "-":  # the grammar loses the `-` of `- 2>`
            return None
        if redirection and redirection != ">&1":
            command = _redirected(words, written, cwd, redirection, heredocs, command)
        else:
            command = Command(tuple(words), written, cwd, (), None, False, command)
        commands.append(command)
        if words[0] in FOLDER_CHANGERS:
            has_change = True
            cwd, last_cwd = folder_after(words, cwd, last_cwd), cwd
        joint = next_joint
    return commands if joint is None or joint in ";\n" else None


def _redirected(
    words: list[str],
    written: str,
    cwd: str,
    redirection: str,
    heredocs: Mapping[str, Heredoc],
    previous: Command | None,
) -> Command:
    redirects: list[Redirect] = []
    stdin: str | None = None
    for operator, target in _REDIRECT.findall(redirection):
        if operator != "<" or not target.startswith(HEREDOC_PLACE):
            redirects.append(Redirect(operator, target))
        elif (heredoc := heredocs.get(target)) is not None:
            stdin, written = heredoc.body, f"{written} {heredoc.token}"
    return Command(tuple(words), written, cwd, tuple(redirects), stdin, False, previous)


def _words(written: str, literal: str | None) -> list[str] | None:
    """The words without quotes; None where one begins with `=`, which the grammar may take for an operator. `literal`
    is the last one among them, in its quotes."""
    if literal is None:
        return None if " =" in written or "\t=" in written else written.split()
    before, _, after = written.partition(literal)
    rest = before + after
    if before[-1] in " \t" and after[:1] in " \t" and "'" not in rest and '"' not in rest and "=" not in rest:
        return [*before.split(), literal[1:-1], *after.split()]  # the only one, and a word of its own: mostly
    words: list[str] = _WORD.findall(written)
    if "=" in written and any(word[0] == "=" for word in words):
        return None
    return [_unquoted(word) if "'" in word or '"' in word else word for word in words]


def _unquoted(word: str) -> str:
    first = word[0]
    if first in "'\"" and word.find(first, 1) == len(word) - 1:  # all of it
        return word[1:-1]
    return _QUOTES.sub(r"\1\2", word)
