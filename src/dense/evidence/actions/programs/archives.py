"""Programs that pack, unpack and patch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.patches import record_patch
from dense.evidence.actions.shell.arguments import has_flag, operands, option
from dense.evidence.actions.shell.command import Command
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import known_program, program_name

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
