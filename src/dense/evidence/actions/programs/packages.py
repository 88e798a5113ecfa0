"""Programs that install packages."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.builder import EffectsBuilder
from dense.evidence.actions.shell.arguments import operands
from dense.knowledge.program import Program


def record_install(row: Program, words: Sequence[str], cwd: str, builder: EffectsBuilder) -> None:
    """Records the packages behind a subcommand that installs; the project's own if none is named."""
    rest = operands(words, row.valued)
    packages: list[str] | None = None
    if "*" in row.install_verbs:
        packages = rest
    elif len(words) > 1 and words[1].startswith("-") and not row.install_verbs.isdisjoint(words[1:5]):
        packages = rest  # `pacman -S x`
    else:
        for length in (1, 2):
            if " ".join(rest[:length]) in row.install_verbs:
                packages = rest[length:]
    if words == ["yarn"]:
        packages = []
    if packages is not None:
        is_local = "local_install" in row.traits or "sync" in rest[:2]
        builder.install(packages or (["."] if is_local else []), cwd)
