"""What git does to the working tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.patches import note_patch
from dense.evidence.actions.shell.arguments import has_flag, operands, values
from dense.evidence.actions.shell.command import Command

GIT_VALUES = values("-C -c --git-dir --work-tree --namespace")


TREE_CHANGERS = values("merge rebase cherry-pick revert pull am switch")


GIT_FILE_VALUES = values("""
    -m -F -s --message --author --date -b -B -n -S -G -L --format --pretty --since --until --source -U
""")


def note_git(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    cwd = command.cwd
    position = 1
    while position < len(words) and words[position].startswith("-"):
        if words[position] == "-C" and position + 1 < len(words):
            folder = words[position + 1]
            cwd = folder if not cwd or folder[:1] in "/~$" else f"{cwd}/{folder}"
        position += 2 if words[position] in GIT_VALUES else 1
    words = words[position:]
    verb = words[0] if words else ""
    rest = operands(words, GIT_FILE_VALUES)
    if (handler := GIT.get(verb)) is not None:
        handler(words, rest, cwd, command, ledger)
    elif verb in TREE_CHANGERS:
        ledger.write(".", cwd=cwd)
    if verb in ("pull", "push", "fetch", "ls-remote") and not (verb == "pull" and not rest):
        ledger.network[rest[0] if rest else "origin"] = None


GitHandler = Callable[[Sequence[str], list[str], str, Command, Ledger], None]


def git_clone(words: Sequence[str], _rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-b --branch --depth -o --origin -c --config --reference -j --jobs --filter"))
    if rest:
        if "://" in rest[0] or "@" in rest[0]:
            ledger.network[rest[0]] = None
        else:
            ledger.read(rest[0], cwd=cwd)
        ledger.write(rest[1] if len(rest) > 1 else rest[0].rstrip("/").rsplit("/", 1)[-1].removesuffix(".git"), cwd=cwd)


def git_apply(words: Sequence[str], rest: list[str], cwd: str, command: Command, ledger: Ledger) -> None:
    ledger.read(*rest, cwd=cwd)
    if not has_flag(words, "", "--check", "--stat", "--numstat", "--summary") and not note_patch(
        command.stdin or "", ledger, cwd
    ):
        ledger.write(".", cwd=cwd)


def git_checkout(words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    """With files, those are changed; with a branch, the whole tree. A new branch changes nothing."""
    if "--" in words:
        rest = list(words[list(words).index("--") + 1 :])
        ledger.undo(*rest, cwd=cwd)
    elif not has_flag(words, "bB", "--orphan", "-c"):
        # A single operand may be a branch or a file; a dot within tells.
        files = [path for path in rest[:1] if re.search(r"\.[A-Za-z]\w*$", path)] + rest[1:]
        ledger.undo(*(files or ["."]), cwd=cwd)


def git_restore(words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    if "--staged" not in words or "--worktree" in words:
        ledger.undo(*rest, cwd=cwd)


def git_stash(_words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    if not rest or rest[0] in ("push", "pop", "apply", "save"):
        ledger.write(".", cwd=cwd)


def git_reset(words: Sequence[str], _rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    ledger.write("." if "--hard" in words or "--merge" in words else ".git", cwd=cwd)


def git_clean(words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    if not has_flag(words, "n", "--dry-run"):
        ledger.delete(*(rest or ["."]), cwd=cwd)


def git_rm(words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    if "--cached" not in words:
        ledger.delete(*rest, cwd=cwd)


def git_mv(_words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    ledger.delete(*rest[:-1], cwd=cwd)
    ledger.write(*rest[-1:], cwd=cwd)


def git_store(words: Sequence[str], _rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    if not has_flag(words, "", "--dry-run", "-l", "--list"):
        ledger.write(".git", cwd=cwd)


def git_init(words: Sequence[str], _rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    folder = operands(words, values("-b --initial-branch --template"))
    ledger.write(f"{folder[0].rstrip('/')}/.git" if folder else ".git", cwd=cwd)


def git_show(words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    if "--" in words:
        rest = list(words[list(words).index("--") + 1 :])
    for word in rest:
        revision, colon, path = word.partition(":")
        if colon and revision and path:
            ledger.read(path, cwd=cwd)
        elif "." in word.rsplit("/", 1)[-1] and ".." not in word:
            ledger.read(word, cwd=cwd)


def git_grep(_words: Sequence[str], rest: list[str], cwd: str, _command: Command, ledger: Ledger) -> None:
    ledger.read(*(rest[1:] or ["."]), cwd=cwd)


GIT: dict[str, GitHandler] = {
    "clone": git_clone,
    "apply": git_apply,
    "checkout": git_checkout,
    "restore": git_restore,
    "stash": git_stash,
    "reset": git_reset,
    "clean": git_clean,
    "rm": git_rm,
    "mv": git_mv,
    "commit": git_store,
    "init": git_init,
    "show": git_show,
    "diff": git_show,
    "log": git_show,
    "blame": git_show,
    "grep": git_grep,
    "tag": git_store,
}
