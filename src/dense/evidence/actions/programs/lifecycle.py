"""Programs that install packages, that build, and that keep running."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.effects import EffectsBuilder
from dense.evidence.actions.shell.command import has_flag, operands
from dense.knowledge.program import Program
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import LOOKING_SUBCOMMANDS, known_program

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


def is_build(row: Program, words: Sequence[str]) -> bool:
    """Whether a command that is no check, without the programs around it, builds something."""
    is_script = "py" in row.extensions
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


# Programs that keep running

NOT_SERVING = words_of("--version -v -V --help -h -t -T")
SERVE_SCRIPTS = words_of("start dev serve server preview watch")
"""Scripts of package.json that keep running."""
SERVICE_OPTIONS = words_of("-D -l -m -n")
PACKAGER_OPTIONS = words_of("--prefix -C --cwd")


def is_service(name: str, row: Program, words: Sequence[str]) -> bool:
    """Whether a command keeps running, or starts something that does."""
    if not NOT_SERVING.isdisjoint(words[1:]):
        return False
    if "serves" in row.traits:
        return not has_flag(words, "", "-s", "ping")
    if row.serve_verbs and not row.serve_verbs.isdisjoint(operands(words, SERVICE_OPTIONS)):
        return True
    if name in ("service", "rc-service", "invoke-rc.d") or words[0].startswith("/etc/init.d/"):
        return words[-1] in ("start", "restart")
    if "node_packager" in row.traits:
        rest = [word for word in operands(words, PACKAGER_OPTIONS) if word not in ("run", "run-script")]
        return bool(rest) and rest[0].split(":")[0] in SERVE_SCRIPTS
    if "py" in row.extensions:
        return _python_serves(words)
    return name in ("tmux", "screen") and has_flag(words, "", "-d", "-dm", "-dmS") and "send-keys" not in words


def _python_serves(words: Sequence[str]) -> bool:
    if "-m" in words[1:-1]:
        row = known_program(words[list(words).index("-m") + 1])
        return "serves" in row.traits or bool(row.serve_verbs)
    return "runserver" in words and any(word.rpartition("/")[2] == "manage.py" for word in words[1:3])
