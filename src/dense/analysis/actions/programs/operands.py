"""What a program does with its arguments: as its row in `knowledge.programs` says, or by a function of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dense.analysis.actions.effects import EffectsBuilder, files
from dense.analysis.actions.programs import files as special
from dense.analysis.actions.programs.git import record_git
from dense.analysis.actions.shell.command import Command, has_flag, operands, option
from dense.knowledge.program import Program
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import LOOKING_SUBCOMMANDS, known_program

REMOTE = re.compile(r"(?![A-Za-z]:[\\/])(?:rsync://|[\w.@-]+:)(?![\\/]{2})(?!\\)")
"""A path on another machine: `host:path`, but no drive and no address."""
SUFFIX = re.compile(r"\w\.\w{1,5}$")


def record_operands(row: Program, words: Sequence[str], command: Command, builder: EffectsBuilder) -> None:
    """Records what a program does with its operands and with the options that name files and machines."""
    cwd = command.cwd
    is_dry = not row.dry_options.isdisjoint(words)
    if row.output_options and not is_dry:
        builder.write(*_values(words, row.output_options), cwd=cwd)
    builder.read(*_values(words, row.input_options), cwd=cwd)
    builder.ask(*_values(words, row.host_options))
    if not row.operands:
        return
    rest = operands(words, row.followed, row.valued if row.operands == "searched" else ())
    match row.operands:
        case "searched":
            builder.read(*_searched(row, words, rest, command), cwd=cwd)
        case "listed":
            builder.read(*(rest or ["."]), cwd=cwd)
        case "deleted":
            builder.delete(*rest, cwd=cwd)
        case "changed":
            builder.modes |= dict.fromkeys(files(rest if "--reference" in words else rest[1:], cwd))
        case "copied" | "moved" | "linked":
            _record_transfer(row, words, rest, cwd, builder)
        case "archived":
            builder.write(*rest[:1], cwd=cwd)
            builder.read(*rest[1:], cwd=cwd)
        case "fetched":
            builder.ask(*rest)
        case "asked":
            builder.ask(":".join(rest[:2] if rest[1:] and rest[1].isdigit() else rest[:1]))
        case "converted":
            _record_conversion(words, cwd, builder)
        case "written" if not is_dry:
            builder.write(*rest, cwd=cwd)
        case _:
            is_written = not row.write_options.isdisjoint(words)
            (builder.write if is_written else builder.read)(*rest, cwd=cwd)


def _values(words: Sequence[str], options: frozenset[str]) -> list[str]:
    return [value for name in sorted(options) if (value := option(words, name))]


def _searched(row: Program, words: Sequence[str], rest: list[str], command: Command) -> list[str]:
    """The files behind a pattern or a program."""
    if row.script_options.isdisjoint([word.split("=")[0] for word in words[1:] if word[:1] == "-"]):
        rest = rest[1:]
    is_fed = command.previous is not None or command.stdin is not None
    walks = row.names[0] in ("rg", "ag") or has_flag(words, "rR", "--recursive")
    if not rest and not is_fed and walks:
        return ["."]
    return [word for word in rest if "=" not in word or "/" in word]


def _record_transfer(row: Program, words: Sequence[str], rest: list[str], cwd: str, builder: EffectsBuilder) -> None:
    """Copies, moves and links: the last operand is where the others go, unless an option names the folder."""
    target = option(words, "-t", "--target-directory") if "-t" in row.valued else None
    if target is None and len(rest) > 1:
        target = rest.pop()
    if target is None:
        return
    builder.ask(*(path.split(":", 1)[0] for path in [*rest, target] if REMOTE.match(path)))
    local = [path for path in rest if not REMOTE.match(path)]
    if row.operands == "moved":
        builder.delete(*local, cwd=cwd)
    elif row.operands == "copied":
        builder.read(*local, cwd=cwd)
    if not REMOTE.match(target):
        names = [path.rstrip("/").rsplit("/", 1)[-1] for path in rest] if target.endswith("/") else [""]
        builder.write(*(target + name for name in names), cwd=cwd)


def _record_conversion(words: Sequence[str], cwd: str, builder: EffectsBuilder) -> None:
    """`convert a.png b.jpg`, `ffmpeg -i a b`: the last word is written, the first is read."""
    named = [word for word in words[1:] if SUFFIX.search(word) and not word.startswith("-")]
    if named and named[-1] == words[-1]:
        builder.write(named[-1], cwd=cwd)
    source = option(words, "-i") or (words[1] if len(words) > 2 and words[1] in named else "")
    builder.read(source, cwd=cwd)


# Which function records a program


Record = Callable[[Sequence[str], Command, EffectsBuilder], None]


def _each(names: str, record: Record) -> dict[str, Record]:
    return dict.fromkeys(names.split(), record)


SPECIAL: dict[str, Record] = {
    **_each("sed gsed", special.record_sed),
    **_each("find fd", special.record_find),
    **_each("dd", special.record_dd),
    **_each("perl", special.record_perl),
    **_each("git", record_git),
    **_each("sqlite3", special.record_sqlite),
    **_each("tar bsdtar gtar", special.record_tar),
    **_each("unzip", special.record_unzip),
    **_each("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli pigz uncompress", special.record_gzip),
    **_each("7z 7za 7zr 7zz", special.record_7z),
    **_each("patch apply_patch applypatch", special.record_patching),
    **_each("create edit insert open search_dir search_file find_file", special.record_swe_agent),
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


# Builds, services, installations

SETUP_PY_VERBS = words_of("build build_ext build_py install develop sdist bdist_wheel")
NOTHING_HAPPENS = words_of("--dry-run --just-print --recon --simulate --version --help -h")
"""Options with which nothing is installed or built."""


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
