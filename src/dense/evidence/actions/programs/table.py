"""What a program does with its arguments, by its name. Programs that are not here are only said to have run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.evidence.actions.ledger import Ledger, note
from dense.evidence.actions.programs.files import (
    LISTERS,
    READERS,
    SCRIPTED,
    note_copy,
    note_dd,
    note_editor_command,
    note_find,
    note_make,
    note_remove,
    note_sed,
    note_sort,
    note_split,
    note_swe_agent,
    scripted,
)
from dense.evidence.actions.programs.git import note_git
from dense.evidence.actions.programs.network import note_curl, note_database, note_host, note_sqlite, note_wget
from dense.evidence.actions.programs.packages import INSTALLERS, note_cargo, note_go, note_install, note_node_packager
from dense.evidence.actions.programs.products import (
    note_7z,
    note_apply_patch,
    note_compiler,
    note_formatter,
    note_gnuplot,
    note_gzip,
    note_javac,
    note_last_is_product,
    note_latex,
    note_out_option,
    note_patch_program,
    note_perl,
    note_ssh_keygen,
    note_tar,
    note_unzip,
    note_venv,
    note_zip,
)
from dense.evidence.actions.programs.windows import note_powershell
from dense.evidence.actions.shell.arguments import operands, values
from dense.evidence.actions.shell.command import Command

Handler = Callable[[Sequence[str], Command, Ledger], None]


SILENT = values("""
    cd pushd popd chdir echo printf export set unset true false : exit return break continue read shift local
    declare typeset alias unalias trap wait sleep pwd test [ [[ let source . umask ulimit hash type jobs fg bg
    disown shopt readonly getopts clear reset history logout function do done then fi else elif in time if while for
    case esac write-host write-output set-location exec eval builtin command enable bind complete compgen mapfile
    readarray
""")
"""Words of the shell itself, and programs that do nothing to speak of: they are not among the programs that ran."""


def note_program(name: str, words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """Notes what a program that is not a wrapper does to files, packages and the network. `name` is the one by which
    it is known."""
    if (handler := HANDLERS.get(name)) is not None:
        handler(words, command, ledger)


def each(names: str, handler: Handler) -> dict[str, Handler]:
    return dict.fromkeys(names.split(), handler)


def reader(with_value: frozenset[str], otherwise: Sequence[str] = ()) -> Handler:
    """For programs that show what they are given; `otherwise` is what they show when they are given nothing."""

    def note_reader(words: Sequence[str], command: Command, ledger: Ledger) -> None:
        note(ledger.reads, operands(words, with_value) or otherwise, command.cwd)

    return note_reader


def note_type(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """On Windows it shows a file; in a Unix shell it tells what a name is."""
    ledger.read(*(word for word in operands(words) if "." in word), cwd=command.cwd)


HANDLERS: dict[str, Handler] = {
    **{name: scripted(*kinds) for name, kinds in SCRIPTED.items()},
    **{name: reader(with_value, ["."]) for name, with_value in LISTERS.items()},
    **{name: reader(with_value) for name, with_value in READERS.items()},
    **each("cp mv ln install rsync scp copy move gcp gmv ren rename", note_copy),
    **each("touch mkdir tee truncate mkfifo mknod chmod chown chgrp md fallocate sponge", note_make),
    **each("rm rmdir unlink shred trash", note_remove),
    **each(
        "gcc g++ cc c++ clang clang++ tcc rustc ld nasm as gfortran ghc ocamlfind ocamlopt nvcc fpc ldc2 dmd",
        note_compiler,
    ),
    **each(
        "pandoc openssl protoc gpg dot yosys iverilog rsvg-convert genisoimage mkisofs xorriso",
        note_out_option,
    ),
    **each(
        "convert magick ffmpeg objcopy pdftotext wkhtmltopdf cwebp dwebp montage sox pdftoppm", note_last_is_product
    ),
    **each("pdflatex xelatex lualatex latexmk tectonic", note_latex),
    **each(
        "black isort ruff prettier eslint gofmt goimports clang-format autopep8 autoflake yapf rustfmt shfmt",
        note_formatter,
    ),
    **each("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli pigz uncompress", note_gzip),
    **each("ping nc ncat netcat telnet dig nslookup host traceroute whois nmap", note_host),
    **each("psql mysql mysqldump mongosh redis-cli pg_dump mongo", note_database),
    **each("7z 7za 7zr 7zz", note_7z),
    **each("npm yarn pnpm bun", note_node_packager),
    **each("virtualenv", note_venv),
    **each("create edit insert open search_dir search_file find_file", note_swe_agent),
    "str_replace_editor": note_editor_command,
    **each(
        "set-content add-content out-file new-item remove-item ri del erase rd copy-item move-item invoke-webrequest "
        "iwr invoke-restmethod irm export-csv clear-content tee-object expand-archive",
        note_powershell,
    ),
    **each(
        " ".join(name for name in INSTALLERS if name not in ("go", "cargo", "npm", "yarn", "pnpm", "bun")) + " uv pip2",
        note_install,
    ),
    "sed": note_sed,
    "gsed": note_sed,
    "perl": note_perl,
    "dd": note_dd,
    "sort": note_sort,
    "find": note_find,
    "fd": note_find,
    "tar": note_tar,
    "bsdtar": note_tar,
    "gtar": note_tar,
    "unzip": note_unzip,
    "zip": note_zip,
    "patch": note_patch_program,
    "apply_patch": note_apply_patch,
    "applypatch": note_apply_patch,
    "git": note_git,
    "curl": note_curl,
    "wget": note_wget,
    "aria2c": note_curl,
    "sqlite3": note_sqlite,
    "gnuplot": note_gnuplot,
    "split": note_split,
    "csplit": note_split,
    "ssh-keygen": note_ssh_keygen,
    "javac": note_javac,
    "go": note_go,
    "cargo": note_cargo,
    "type": note_type,
}
