"""Programs that make files out of files: archives, compilers, converters, formatters, patches."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.code_texts import note_code_texts
from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.patches import note_patch
from dense.evidence.actions.shell.arguments import has_flag, operands, option, values
from dense.evidence.actions.shell.command import Command
from dense.knowledge.programs import program_name


def note_perl(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-e -E -M -I"))
    has_code = any(re.match(r"-\w*[eE]$", word) for word in words[1:])
    if has_code and not any(word in ("-e", "-E") for word in words):
        rest = rest[1:]  # the code follows a bundle such as `-pie`
    if any(re.match(r"-[np0l]*i", word) for word in words[1:]):
        ledger.write(*rest, cwd=command.cwd)
    elif has_code:
        ledger.read(*rest, cwd=command.cwd)
    note_code_texts(" ".join(words[1:]), command, ledger)


def note_tar(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    bundle = words[1] if len(words) > 1 else ""
    letters = bundle.lstrip("-") if not bundle.startswith("--") else ""
    # `tar xzf a.tgz`, `tar -x -z -f a.tgz`: the archive follows the word that holds the f.
    archive = option(words, "--file")
    rest: list[str] = []
    folder: str | None = None
    position = 1
    while position < len(words):
        word = words[position]
        is_bundle = (position == 1 and not word.startswith("--")) or (
            word[:1] == "-" and word[1:2] != "-" and len(word) > 1
        )
        if word in ("-C", "--directory", "-T", "-X", "--exclude"):
            folder = words[position + 1] if position + 1 < len(words) and word in ("-C", "--directory") else folder
            position += 2
        elif is_bundle and word.endswith("f"):
            archive = words[position + 1] if position + 1 < len(words) else archive
            letters += word.lstrip("-")
            position += 2
        else:
            if is_bundle:
                letters += word.lstrip("-")
            elif not word.startswith("-"):
                rest.append(word)
            position += 1
    if "x" in letters or "--extract" in words:
        ledger.read(*filter(None, [archive]), cwd=command.cwd)
        ledger.write(folder or ".", cwd=command.cwd)
    elif any(letter in letters for letter in "cru") or "--create" in words:
        ledger.read(*rest, cwd=command.cwd)
        ledger.write(*filter(None, [archive]), cwd=command.cwd)
    else:
        ledger.read(*filter(None, [archive]), cwd=command.cwd)


def note_unzip(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    ledger.read(*operands(words, values("-d -x -P"))[:1], cwd=command.cwd)
    if not has_flag(words, "lvtpzZ"):
        ledger.write(option(words, "-d") or ".", cwd=command.cwd)


def note_zip(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-x -i -P -b"))
    ledger.write(*rest[:1], cwd=command.cwd)
    ledger.read(*rest[1:], cwd=command.cwd)


def note_7z(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words)
    verb, archive = (rest[0] if rest else ""), rest[1:2]
    if verb in ("x", "e"):
        ledger.read(*archive, cwd=command.cwd)
        ledger.write(option(words, "-o") or ".", cwd=command.cwd)
    elif verb in ("a", "u"):
        ledger.write(*archive, cwd=command.cwd)
        ledger.read(*rest[2:], cwd=command.cwd)
    else:
        ledger.read(*archive, cwd=command.cwd)


PACKED = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "brotli": ".br", "pigz": ".gz"}


UNPACKERS = values("gunzip bunzip2 unxz unzstd uncompress unpigz")


def note_gzip(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    name = program_name(words[0])
    rest = operands(words, values("-S -o -T"))
    if has_flag(words, "clt", "--stdout", "--list", "--test"):
        ledger.read(*rest, cwd=command.cwd)
        return
    if name in UNPACKERS or has_flag(words, "d", "--decompress"):
        made = [re.sub(r"\.(gz|bz2|xz|zst|lz4|br|Z|tgz)$", "", path) for path in rest]
    else:
        made = [path + PACKED.get(name, ".gz") for path in rest]
    ledger.write(*filter(None, [option(words, "-o")] if name == "zstd" and "-o" in words else made), cwd=command.cwd)
    if has_flag(words, "k", "--keep") or name in ("zstd", "unzstd", "lz4", "brotli"):
        ledger.read(*rest, cwd=command.cwd)
    else:
        ledger.delete(*rest, cwd=command.cwd)


def note_compiler(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    sources = [
        word
        for word in operands(words, values("-o -I -L -D -MF -MT -include -isystem -x -l -target --edition -C"))
        if re.search(r"\.[A-Za-z]\w*$", word)
    ]
    ledger.read(*sources, cwd=command.cwd)
    target = option(words, "-o")
    if target:
        ledger.write(target, cwd=command.cwd)
    elif not sources or has_flag(words, "E", "-fsyntax-only", "-MM", "-M", "--version", "-v"):
        return
    elif program_name(words[0]) == "rustc":
        ledger.write(re.sub(r"\.rs$", "", sources[0].rsplit("/", 1)[-1]), cwd=command.cwd)
    elif has_flag(words, "", "-c"):
        ledger.write(*(re.sub(r"\.\w+$", ".o", source.rsplit("/", 1)[-1]) for source in sources), cwd=command.cwd)
    else:
        ledger.write("a.out", cwd=command.cwd)


def note_out_option(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """Programs whose product is named by an option, and the rest are sources: pandoc, openssl, ld, protoc."""
    for names in (
        ("-o", "--output", "-out", "--out", "--output-file", "-keyout", "-outfile", "--outfile"),
        ("-keyout",),
    ):
        if target := option(words, *names):
            ledger.write(target, cwd=command.cwd)
    if source := option(words, "-in", "-i", "--input"):
        ledger.read(source, cwd=command.cwd)


def note_last_is_product(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """`convert a.png b.jpg`, `ffmpeg -i a b`, `objcopy a b`: the last operand is written."""
    last = words[-1] if len(words) > 1 else ""
    if re.search(r"[\w)]\.\w{1,5}$", last) and not last.startswith("-"):
        ledger.write(last, cwd=command.cwd)
    if source := option(words, "-i"):
        ledger.read(source, cwd=command.cwd)
    elif len(words) > 2 and re.search(r"\w\.\w{1,5}$", words[1]) and not words[1].startswith("-"):
        ledger.read(words[1], cwd=command.cwd)


def note_latex(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    for source in operands(words, values("-output-directory --output-directory"))[-1:]:
        ledger.read(source, cwd=command.cwd)
        folder = option(words, "-output-directory", "--output-directory")
        product = re.sub(r"(?:\.\w+)?$", ".pdf", source, count=1)
        ledger.write(f"{folder}/{product.rsplit('/', 1)[-1]}" if folder else product, cwd=command.cwd)


def note_formatter(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """Formatters change what they are given, unless they are told to check."""
    name = program_name(words[0])
    rest = operands(
        words, values("-l --line-length --config -c --select --ignore --style -style --rulesdir --ext --target-version")
    )
    if has_flag(words, "", "--check", "--diff", "--check-only", "--list-different", "--version", "--help"):
        return
    writes = {
        "ruff": rest[:1] == ["format"] or "--fix" in words,
        "prettier": has_flag(words, "w", "--write"),
        "eslint": "--fix" in words,
        "gofmt": "-w" in words,
        "goimports": "-w" in words,
        "clang-format": "-i" in words,
        "autopep8": has_flag(words, "i", "--in-place"),
        "autoflake": has_flag(words, "i", "--in-place"),
        "yapf": has_flag(words, "i", "--in-place"),
        "shfmt": "-w" in words,
    }.get(name, True)
    if writes:
        ledger.write(*(rest[1:] if name == "ruff" else rest) or ["."], cwd=command.cwd)
    elif name in ("gofmt", "clang-format", "prettier", "shfmt", "yapf", "autopep8"):
        ledger.read(*rest, cwd=command.cwd)


def note_patch_program(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    if has_flag(words, "", "--dry-run", "--check"):
        return
    source = option(words, "-i", "--input")
    if source:
        ledger.read(source, cwd=command.cwd)
    rest = operands(words, values("-i -p -d -o --input --directory --output -F -z"))
    if rest[:1]:
        ledger.write(rest[0], cwd=command.cwd)
    elif not note_patch(command.stdin or "", ledger, command.cwd):
        ledger.write(option(words, "-d", "--directory") or ".", cwd=command.cwd)


def note_apply_patch(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    note_patch(command.stdin or "\n".join(words[1:]), ledger, command.cwd)


def note_gnuplot(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    code = option(words, "-e")
    if code is None:
        ledger.read(*operands(words), cwd=command.cwd)
    note_code_texts(code or command.stdin or "", command, ledger)


def note_ssh_keygen(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    if (path := option(words, "-f")) and not has_flag(words, "lyFR"):
        ledger.write(path, f"{path}.pub", cwd=command.cwd)


def note_venv(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    ledger.write(*operands(words, values("-p --python --prompt"))[-1:], cwd=command.cwd)


def note_javac(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-d -cp -classpath -sourcepath -source -target --release"))
    ledger.read(*rest, cwd=command.cwd)
    folder = option(words, "-d")
    ledger.write(
        *([folder] if folder else [re.sub(r"\.java$", ".class", path) for path in rest if path.endswith(".java")]),
        cwd=command.cwd,
    )
