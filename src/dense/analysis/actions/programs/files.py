"""Programs on files whose arguments need more than a row says: `sed`, `find`, `tar`, `patch`, databases, SWE-agent."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.effects import UNNAMED, EffectsBuilder
from dense.analysis.actions.shell.command import Command, has_flag, operands, option
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import known_program, program_name

CHANGING_SQL = re.compile(
    r"\b(?:insert|update|delete|create|drop|alter|replace|vacuum|\.import|\.restore)\b", re.IGNORECASE
)
SED_VALUES = words_of("-e -f --expression --file -l")
SED_SCRIPT = re.compile(r"-e|-f\Z|--expression|--file")
SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")


def record_sed(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    options = [word for word in words if word[:1] == "-"]
    is_in_place = any(map(SED_IN_PLACE.match, options))
    rest = [word for word in operands(words, SED_VALUES) if word or not is_in_place]  # `-i ''` of macOS keeps no copy
    if not any(map(SED_SCRIPT.match, options)):
        rest = rest[1:]
    (builder.write if is_in_place else builder.read)(*rest, cwd=command.cwd)


def record_dd(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    for key, _, value in (word.partition("=") for word in words[1:]):
        if key == "if":
            builder.read(value, cwd=command.cwd)
        elif key == "of":
            builder.write(value, cwd=command.cwd)


def record_find(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    builder.read(*_roots(words), cwd=command.cwd)
    if "-delete" in words:
        builder.delete(*found_by(words), cwd=command.cwd)


def found_by(words: Sequence[str]) -> list[str]:
    """What `find` finds, as patterns: its folders with the name that it looks for."""
    name = option(words, "-name", "-iname")
    return [f"{root.rstrip('/')}/{name}" if name else root for root in _roots(words)]


def _roots(words: Sequence[str]) -> list[str]:
    """The folders that `find` goes through."""
    end = next((n for n, word in enumerate(words) if n and word[:1] in ("-", "(", "!", "\\")), len(words))
    return list(words[1:end]) or ["."]


def record_swe_agent(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """The commands that SWE-agent adds to the shell."""
    name = program_name(words[0])
    rest = operands(words)
    if name in ("edit", "insert"):
        builder.write(UNNAMED)
    elif name in ("create", "open"):
        (builder.write if name == "create" else builder.read)(*rest[:1], cwd=command.cwd)
        builder.opened = "".join(rest[:1])
    else:
        builder.read(*(rest[1:2] or ["."]), cwd=command.cwd)


def record_perl(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """One-line programs of Perl that change files in place."""
    rest = operands(words, words_of("-e -E -M -I"))
    has_code = any(re.match(r"-\w*[eE]$", word) for word in words[1:])
    if has_code and "-e" not in words and "-E" not in words:
        rest = rest[1:]  # the code follows a bundle such as `-pie`
    if any(re.match(r"-[np0l]*i", word) for word in words[1:]):
        builder.write(*rest, cwd=command.cwd)


def record_sqlite(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    rest = operands(words, known_program("sqlite3").valued)
    sql = " ".join([*rest[1:], command.stdin or ""])
    (builder.write if CHANGING_SQL.search(sql) else builder.read)(*rest[:1], cwd=command.cwd)


# Programs that pack, unpack and patch


HEADER = re.compile(
    r"^(?:\*\*\* (Add|Update|Delete) File: |\*\*\* Move to: |(--- )(?:a/)?|(\+\+\+ )(?:b/)?)(.+)$", re.MULTILINE
)


def record_patch(patch: str, builder: EffectsBuilder, cwd: str = "") -> bool:
    """Records what a patch changes; whether it named any file."""
    old = ""
    is_known = False
    for match in HEADER.finditer(patch):
        verb, minus, plus, rest = match.groups()
        path = rest.strip().split("\t")[0]
        if minus:
            old = path
            continue
        is_known = True
        if verb == "Delete":
            builder.delete(path, cwd=cwd)
        elif plus and path == "/dev/null":
            builder.delete(old, cwd=cwd)
        else:
            builder.write(path, cwd=cwd)
    return is_known


PACKED_SUFFIXES = {"bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "brotli": ".br"}
PACKED = re.compile(r"\.(gz|bz2|xz|zst|lz4|br|Z|tgz)$")
KEEPS_SOURCE = words_of("zstd unzstd lz4 brotli")
TAR_VALUES = words_of("-C --directory -T -X --exclude")


def record_tar(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """`tar xzf a.tgz`, `tar -x -z -f a.tgz`: the archive follows the word that holds the f."""
    letters = ""
    archive, folder = option(words, "--file"), option(words, "-C", "--directory")
    for position, word in enumerate(words[1:], 1):
        if word[:2] != "--" and (position == 1 or (word[:1] == "-" and word not in TAR_VALUES)):
            letters += word.lstrip("-")
            if word.endswith("f"):
                archive = "".join(words[position + 1 : position + 2])
    if "x" in letters or "--extract" in words:
        builder.read(archive or "", cwd=command.cwd)
        builder.write(folder or ".", cwd=command.cwd)
    else:
        (builder.write if set(letters) & set("cru") else builder.read)(archive or "", cwd=command.cwd)


def record_unzip(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    builder.read(*operands(words, known_program("unzip").valued)[:1], cwd=command.cwd)
    if not has_flag(words, "lvtpzZ"):
        builder.write(option(words, "-d") or ".", cwd=command.cwd)


def record_7z(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    rest = operands(words)
    (builder.write if rest[:1] == ["a"] else builder.read)(*rest[1:2], cwd=command.cwd)
    if rest[:1] in (["x"], ["e"]):
        builder.write(option(words, "-o") or ".", cwd=command.cwd)


def record_gzip(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    name = program_name(words[0])
    rest = operands(words, words_of("-S -o -T"))
    is_shown = has_flag(words, "clt", "--stdout", "--list", "--test")
    unpacks = name.startswith("un") or name in ("gunzip", "bunzip2") or has_flag(words, "d", "--decompress")
    for path in () if is_shown else rest:
        builder.write(PACKED.sub("", path) if unpacks else path + PACKED_SUFFIXES.get(name, ".gz"), cwd=command.cwd)
    keeps = is_shown or has_flag(words, "k", "--keep") or name in KEEPS_SOURCE
    (builder.read if keeps else builder.delete)(*rest, cwd=command.cwd)


def record_patching(words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """`patch` and `apply_patch`: the patch itself names its files, else the operand or the folder is changed."""
    row = known_program("patch")
    if not row.dry_options.isdisjoint(words):
        return
    rest = operands(words, row.valued)
    if not record_patch(command.stdin or "\n".join(words[1:]), builder, command.cwd):
        builder.write(*(rest[:1] or ["."]), cwd=command.cwd)
