"""What shell texts are made of: simple commands, their redirections, the folder that they run in."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.actions.builder import located

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


def folder_after(words: Sequence[str], cwd: str, last: str) -> str:
    """The folder that a shell is in when one of `FOLDER_CHANGERS` has changed it; `last` is the one before `cwd`."""
    target = next((word for word in words[1:] if not word.startswith("-") or word == "-"), None)
    if words[0] == "popd" or target == "-":
        return last
    if target is None:
        return "~"
    return located(target, cwd) if target != "." else cwd
