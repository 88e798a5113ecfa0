"""Simple commands of shell texts: their redirections, the folder that they run in, their words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from dense.analysis.actions.effects import located
from dense.knowledge.program import Wrapper
from dense.knowledge.programs import known_program, program_name

FOLDER_CHANGERS = frozenset(["cd", "pushd", "popd", "chdir"])


class Redirect(Struct, frozen=True, gc=False):
    """One redirection: `2> log` is `>` and `log`."""

    operator: str
    target: str


class Command(Struct, frozen=True, gc=False):
    """One simple command: what is left when pipes, lists, loops and functions are taken apart."""

    words: tuple[str, ...]
    """Name and arguments, without quotes; variables that the text itself sets are filled in, others stay as `$name`."""
    text: str
    """As it was written, without redirections."""
    cwd: str = ""
    """The folder that the text changed to before, as it was written; empty if it did not."""
    redirects: tuple[Redirect, ...] = ()
    """In order."""
    stdin: str | None = None
    """The text of a heredoc or a here-string."""
    is_background: bool = False
    """Whether the shell goes on without waiting."""
    previous: Command | None = None
    """The one that writes into it through a pipe."""


MAX_FOLDER_CHARS = 4_096
"""No system has a longer path: the shell stays where it is."""


def folder_after(words: Sequence[str], cwd: str, last: str) -> str:
    """The folder that a shell is in when one of `FOLDER_CHANGERS` has changed it; `last` is the one before `cwd`."""
    target = next((word for word in words[1:] if not word.startswith("-") or word == "-"), None)
    if words[0] == "popd" or target == "-":
        return last
    if target is None:
        return "~"
    if target == ".":
        return cwd
    folder = located(target, cwd)
    return folder if len(folder) <= MAX_FOLDER_CHARS else cwd


# The words of a command


ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def operands(words: Sequence[str], valued: Collection[str] = (), bundled: Collection[str] = ()) -> list[str]:
    """The arguments that are no options. `valued` are the options whose value is a word of its own, `bundled` those of
    them that may end a bundle of short options: `-nC 3`."""
    operand_words: list[str] = []
    position, count = 1, len(words)
    while position < count:
        word = words[position]
        position += 1
        if word == "--":
            operand_words += words[position:]
            break
        if len(word) > 1 and word[0] == "-":
            if word in valued or (bundled and word[1:].isalpha() and f"-{word[-1]}" in bundled):
                position += 1
        else:
            operand_words.append(word)
    return operand_words


def option(words: Sequence[str], *names: str) -> str | None:
    """The value of an option: `-o x`, `-ox` for one letter, `--out x`, `--out=x`."""
    for position in range(1, len(words)):
        word = words[position]
        for name in names:
            if word == name:
                return words[position + 1] if position + 1 < len(words) else None
            if word.startswith(f"{name}=") and name.startswith("-"):
                return word[len(name) + 1 :]
            if len(name) == 2 and name[0] == "-" and word.startswith(name):
                return word[2:]
    return None


def has_flag(words: Sequence[str], letters: str, *names: str) -> bool:
    """Whether one of the letters is in a bundle of short options, or one of the names is a word."""
    for word in words[1:]:
        if word in names:
            return True
        if letters and word[:1] == "-" and word[1:2] not in ("", "-") and any(letter in word for letter in letters):
            return True
    return False


def words_behind(words: Sequence[str], wrapper: Wrapper) -> list[str] | None:
    """The words of the program behind a wrapper; None if the wrapper does not apply."""
    position, count = 1, len(words)
    for verb in wrapper.verbs:
        while position < count and words[position].startswith("-"):
            position += 2 if words[position] in wrapper.valued else 1
        if position >= count or words[position] != verb:
            return None
        position += 1
    leading = wrapper.leading
    while position < count:
        word = words[position]
        if word == "--":
            position += 1
            if not leading:
                break
        elif len(word) > 1 and word[0] == "-":
            position += 2 if word in wrapper.valued else 1
        elif ASSIGNMENT.match(word) and not leading:
            position += 1
        elif leading:
            leading -= 1
            position += 1
        else:
            break
    return list(words[position:])


def strip_wrappers(words: list[str]) -> list[str]:
    """The words of a command without assignments and programs around it, such as `sudo` and `timeout 5`."""
    for _ in range(8):
        while words and ASSIGNMENT.match(words[0]):
            words = words[1:]
        wrappers = known_program(program_name(words[0])).wrappers if words else ()
        inner = next((match for wrapper in wrappers if (match := words_behind(words, wrapper))), None)
        if inner is None:
            break
        words = inner
    return words
