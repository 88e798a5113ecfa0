"""What git does to the working tree."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.effects import EffectsBuilder
from dense.analysis.actions.programs.files import record_patch
from dense.analysis.actions.shell.command import Command, has_flag, operands
from dense.knowledge.program import words as words_of

BEFORE_VERB = words_of("-C -c --git-dir --work-tree --namespace")
"""Options before the subcommand that take a value."""
VALUED = words_of("""
    -m -F -s --message --author --date -b -B -n -S -G -L --format --pretty --since --until --source -U
    --branch --depth -o --origin --config --reference -j --jobs --filter --initial-branch --template
""")
TREE_CHANGERS = words_of("merge rebase cherry-pick revert pull am switch")
REMOTE_VERBS = words_of("push fetch ls-remote")
DRY_OPTIONS = words_of("--check --stat --numstat --summary --dry-run -l --list --cached")
NAMES_A_FILE = re.compile(r"\.[A-Za-z]\w*$")


def record_git(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    cwd = command.cwd
    position = 1
    while position < len(words) and words[position].startswith("-"):
        if words[position] == "-C" and position + 1 < len(words):
            folder = words[position + 1]
            cwd = folder if not cwd or folder[:1] in "/~$" else f"{cwd}/{folder}"
        position += 2 if words[position] in BEFORE_VERB else 1
    words = words[position:]
    if not words:
        return
    rest = operands(words, VALUED)
    verb = words[0]
    if verb in REMOTE_VERBS or (verb == "pull" and rest):
        builder.network[rest[0] if rest else "origin"] = None
    _record_verb(verb, words, rest, cwd, command.stdin or "", builder)


def _record_verb(
    verb: str, words: Sequence[str], rest: list[str], cwd: str, stdin: str, builder: EffectsBuilder
) -> None:
    is_dry = not DRY_OPTIONS.isdisjoint(words) or (verb == "clean" and has_flag(words, "n"))
    if verb in ("show", "diff", "log", "blame"):
        builder.read(*_shown_files(words, rest), cwd=cwd)
    elif verb == "apply":
        builder.read(*rest, cwd=cwd)
        if not is_dry and not record_patch(stdin, builder, cwd):
            builder.write(".", cwd=cwd)
    elif is_dry:
        return
    elif verb == "clone" and rest:
        _record_clone(rest, cwd, builder)
    elif verb in ("checkout", "restore"):
        builder.undo(*_restored_files(verb, words, rest), cwd=cwd)
    elif verb in TREE_CHANGERS or (verb == "stash" and rest[:1] in ([], ["push"], ["pop"], ["apply"], ["save"])):
        builder.write(".", cwd=cwd)
    elif verb == "reset":
        builder.write("." if "--hard" in words or "--merge" in words else ".git", cwd=cwd)
    elif verb in ("commit", "tag", "init"):
        builder.write(f"{rest[0].rstrip('/')}/.git" if verb == "init" and rest else ".git", cwd=cwd)
    elif verb == "clean":
        builder.delete(*(rest or ["."]), cwd=cwd)
    elif verb in ("rm", "mv"):
        builder.delete(*(rest if verb == "rm" else rest[:-1]), cwd=cwd)
        builder.write(*(rest[-1:] if verb == "mv" else ()), cwd=cwd)


def _shown_files(words: Sequence[str], rest: list[str]) -> list[str]:
    """`HEAD:src/a.py` and whatever looks like a file; all behind `--` may be one."""
    files: list[str] = []
    for word in words[words.index("--") + 1 :] if "--" in words else rest:
        revision, colon, path = word.partition(":")
        if colon and revision and path:
            files.append(path)
        elif "." in word.rsplit("/", 1)[-1] and ".." not in word:
            files.append(word)
    return files


def _restored_files(verb: str, words: Sequence[str], rest: list[str]) -> list[str]:
    """The files that are taken back; the whole tree for a branch, nothing for a new branch."""
    if verb == "restore":
        return rest if "--staged" not in words or "--worktree" in words else []
    if "--" in words:
        return list(words[words.index("--") + 1 :])
    if has_flag(words, "bB", "--orphan", "-c"):
        return []
    # A single operand may be a branch or a file; a dot in it means a file.
    return [path for path in rest[:1] if NAMES_A_FILE.search(path)] + rest[1:] or ["."]


def _record_clone(rest: list[str], cwd: str, builder: EffectsBuilder) -> None:
    source = rest[0]
    if "://" in source or "@" in source:
        builder.network[source] = None
    else:
        builder.read(source, cwd=cwd)
    name = source.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    builder.write(rest[1] if len(rest) > 1 else name, cwd=cwd)
