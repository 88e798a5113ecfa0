"""What a program does with its arguments: by its row, or by a function of its own where a row cannot say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.programs.archives import (
    record_7z,
    record_gzip,
    record_patching,
    record_tar,
    record_unzip,
)
from dense.evidence.actions.programs.files import (
    record_dd,
    record_find,
    record_perl,
    record_sed,
    record_swe_agent,
)
from dense.evidence.actions.programs.git import record_git
from dense.evidence.actions.programs.network import record_download, record_sqlite
from dense.evidence.actions.programs.operands import record_operands
from dense.evidence.actions.programs.packages import record_install
from dense.evidence.actions.shell.command import Command
from dense.knowledge.programs import known_program

Record = Callable[[Sequence[str], Command, EffectsBuilder], None]


def _each(names: str, record: Record) -> dict[str, Record]:
    return dict.fromkeys(names.split(), record)


SPECIAL: dict[str, Record] = {
    **_each("sed gsed", record_sed),
    **_each("find fd", record_find),
    **_each("dd", record_dd),
    **_each("perl", record_perl),
    **_each("git", record_git),
    **_each("curl wget aria2c", record_download),
    **_each("sqlite3", record_sqlite),
    **_each("tar bsdtar gtar", record_tar),
    **_each("unzip", record_unzip),
    **_each("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli pigz uncompress", record_gzip),
    **_each("7z 7za 7zr 7zz", record_7z),
    **_each("patch apply_patch applypatch", record_patching),
    **_each("create edit insert open search_dir search_file find_file", record_swe_agent),
}
"""Programs whose arguments need more than a row says."""


def record_program(name: str, words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """Records what a program, without those around it, does to files, packages and the network."""
    if (record := SPECIAL.get(name)) is not None:
        record(words, command, builder)
        return
    row = known_program(name)
    record_operands(row, words, command, builder)
    if row.install_verbs:
        record_install(row, words, command.cwd, builder)
