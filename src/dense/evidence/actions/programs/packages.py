"""Programs that install packages, and programs that build."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.shell.arguments import operands
from dense.knowledge.program import Program
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import LOOKING_SUBCOMMANDS, is_python

NOTHING_HAPPENS = words_of("--dry-run --just-print --recon --simulate --version --help -h")
"""Options with which nothing is installed or built."""
SETUP_PY_VERBS = words_of("build build_ext build_py install develop sdist bdist_wheel")


def record_install(row: Program, words: Sequence[str], cwd: str, builder: EffectsBuilder) -> None:
    """Records the packages behind a subcommand that installs; the project's own if none is named."""
    rest = operands(words, row.valued)
    for length in (1, 2):
        if " ".join(rest[:length]) in row.install_verbs and NOTHING_HAPPENS.isdisjoint(words):
            is_local = "local_install" in row.traits or "sync" in rest[:2]
            builder.install(rest[length:] or (["."] if is_local else []), cwd)


def is_build(name: str, row: Program, words: Sequence[str]) -> bool:
    """Whether a command that is no check, without the programs around it, builds something."""
    is_script = is_python(name)
    if not (row.build_verbs or is_script or "builds" in row.traits) or not NOTHING_HAPPENS.isdisjoint(words):
        return False
    rest = operands(words, row.valued)
    if is_script:
        return len(rest) > 1 and rest[0].endswith("setup.py") and rest[1] in SETUP_PY_VERBS
    if "builds" in row.traits:
        return "-n" not in words and LOOKING_SUBCOMMANDS.isdisjoint([*rest[:1], *words[1:2]])
    if "node_packager" in row.traits and rest[:1] in (["run"], ["run-script"]):
        return rest[1:2] != [] and rest[1].startswith("build")
    return not row.build_verbs.isdisjoint([*rest[:1], " ".join(rest[:2]), *words[1:3]])
