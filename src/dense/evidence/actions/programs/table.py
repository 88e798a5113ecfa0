"""What a program does with its arguments: by its row, or by a function of its own where a row cannot say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.programs import archives, files
from dense.evidence.actions.programs.git import record_git
from dense.evidence.actions.programs.lifecycle import record_install
from dense.evidence.actions.programs.operands import record_operands
from dense.evidence.actions.shell.command import Command
from dense.knowledge.program import Program
from dense.knowledge.programs import known_program

Record = Callable[[Sequence[str], Command, EffectsBuilder], None]


def _each(names: str, record: Record) -> dict[str, Record]:
    return dict.fromkeys(names.split(), record)


SPECIAL: dict[str, Record] = {
    **_each("sed gsed", files.record_sed),
    **_each("find fd", files.record_find),
    **_each("dd", files.record_dd),
    **_each("perl", files.record_perl),
    **_each("git", record_git),
    **_each("sqlite3", files.record_sqlite),
    **_each("tar bsdtar gtar", archives.record_tar),
    **_each("unzip", archives.record_unzip),
    **_each("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli pigz uncompress", archives.record_gzip),
    **_each("7z 7za 7zr 7zz", archives.record_7z),
    **_each("patch apply_patch applypatch", archives.record_patching),
    **_each("create edit insert open search_dir search_file find_file", files.record_swe_agent),
}
"""Programs whose arguments need more than a row says."""


def record_program(
    name: str, words: Sequence[str], command: Command, builder: EffectsBuilder, row: Program | None = None
) -> None:
    """Records what a program, without those around it, does to files, packages and the network."""
    if (record := SPECIAL.get(name)) is not None:
        record(words, command, builder)
        return
    row = row or known_program(name)
    record_operands(row, words, command, builder)
    if row.install_verbs:
        record_install(row, words, command.cwd, builder)
