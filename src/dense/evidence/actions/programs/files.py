"""Programs that show, copy, make, change and remove files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dense.evidence.actions.ledger import Ledger, note
from dense.evidence.actions.shell.arguments import NOTHING, has_flag, operands, option, values
from dense.evidence.actions.shell.command import Command
from dense.knowledge.programs import program_name

UNNAMED = "{open file}"
"""For editors that change the file they have open, which is named in an earlier step."""


READERS: dict[str, frozenset[str]] = {
    "cat": NOTHING,
    "tac": NOTHING,
    "nl": values("-s -w -v"),
    "less": NOTHING,
    "more": NOTHING,
    "bat": values("-l -r --line-range"),
    "head": values("-n -c"),
    "tail": values("-n -c"),
    "wc": NOTHING,
    "file": values("-m"),
    "stat": values("-c -f --format"),
    "xxd": values("-s -l -c -g"),
    "hexdump": values("-n -s -e -C"),
    "od": values("-A -t -N -j -w"),
    "strings": values("-n -t -e"),
    "md5sum": NOTHING,
    "sha1sum": NOTHING,
    "sha256sum": NOTHING,
    "sha512sum": NOTHING,
    "cksum": NOTHING,
    "b2sum": NOTHING,
    "cut": values("-d -f -c -b"),
    "paste": values("-d"),
    "uniq": values("-f -s -w"),
    "column": values("-s -t"),
    "comm": NOTHING,
    "join": values("-t -j -1 -2 -o"),
    "fold": values("-w"),
    "rev": NOTHING,
    "zcat": NOTHING,
    "bzcat": NOTHING,
    "xzcat": NOTHING,
    "zless": NOTHING,
    "readelf": values("-x -p"),
    "objdump": values("-j -M --section"),
    "nm": NOTHING,
    "ldd": NOTHING,
    "size": NOTHING,
    "diff": values("-U -C -x -I --label"),
    "cmp": values("-n -i"),
    "sdiff": values("-w"),
    "diff3": NOTHING,
    "colordiff": NOTHING,
    "wdiff": NOTHING,
    "exiftool": NOTHING,
    "identify": values("-format"),
    "mediainfo": NOTHING,
    "ffprobe": values("-v -of -show_entries -select_streams"),
    "pdfinfo": NOTHING,
    "csvlook": NOTHING,
    "csvstat": NOTHING,
    "base64": values("-w"),
    "base32": values("-w"),
    "readlink": NOTHING,
    "realpath": NOTHING,
    "view": NOTHING,
    "isoinfo": values("-i -x"),
    "blkid": NOTHING,
    "binwalk": NOTHING,
    "debugfs": values("-R -f"),
    "get-content": values("-tail -totalcount -encoding"),
    "gc": NOTHING,
    "get-item": NOTHING,
    "test-path": NOTHING,
    "get-filehash": NOTHING,
}
"""Programs that show the files they are given; with their options that take a value."""


LISTERS: dict[str, frozenset[str]] = {
    "ls": values("-I -w"),
    "ll": NOTHING,
    "la": NOTHING,
    "tree": values("-L -I -P"),
    "du": values("-d --max-depth"),
    "exa": NOTHING,
    "eza": NOTHING,
    "dir": NOTHING,
    "vdir": NOTHING,
    "get-childitem": values("-filter -include -depth"),
    "gci": NOTHING,
    "lsd": NOTHING,
}
"""Those that show the folder they are in when they are given nothing."""


SCRIPTED: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "grep": (values("-m -A -B -C --include --exclude --exclude-dir --color"), values("-e -f --regexp --file")),
    "egrep": (values("-m -A -B -C --include --exclude --exclude-dir"), values("-e -f")),
    "fgrep": (values("-m -A -B -C --include --exclude"), values("-e -f")),
    "zgrep": (values("-m -A -B -C"), values("-e -f")),
    "rg": (values("-m -A -B -C -g -t -T -j --glob --type --max-count --context"), values("-e -f --regexp")),
    "ag": (values("-m -A -B -C -G --ignore"), NOTHING),
    "ack": (values("-m -A -B -C"), values("--match")),
    "awk": (values("-F -v"), values("-f --file")),
    "gawk": (values("-F -v -i"), values("-f --file")),
    "mawk": (values("-F -v"), values("-f")),
    "jq": (values("--arg --argjson --slurpfile --indent"), values("-f --from-file")),
    "yq": (values("-o -p"), NOTHING),
    "xmllint": (values("--xpath --schema"), NOTHING),
    "select-string": (values("-context"), values("-pattern")),
    "findstr": (NOTHING, NOTHING),
}
"""Programs whose first operand is a pattern or a program, unless one of the second set of options gives it."""


def scripted(with_value: frozenset[str], instead: frozenset[str]) -> Callable[[Sequence[str], Command, Ledger], None]:
    """What notes the files of such a program."""
    all_with_value = with_value | instead

    def note_scripted(words: Sequence[str], command: Command, ledger: Ledger) -> None:
        rest = operands(words, all_with_value)
        if instead.isdisjoint([word.split("=")[0] for word in words[1:] if word[:1] == "-"]):
            rest = rest[1:]
        if (
            not rest
            and command.previous is None
            and command.stdin is None
            and (program_name(words[0]) in ("rg", "ag", "ack") or has_flag(words, "rR", "--recursive"))
        ):
            rest = ["."]
        note(ledger.reads, [word for word in rest if "=" not in word or "/" in word], command.cwd)

    return note_scripted


def note_copy(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(
        words,
        values(
            "-t --target-directory -S --suffix -m -o -g --mode --owner --group -e --exclude --include -i -P -p"
            if program_name(words[0]) in ("install", "rsync", "scp")
            else "-t --target-directory -S"
        ),
    )
    name = program_name(words[0])
    target = option(words, "--target-directory") or (
        option(words, "-t") if name in ("cp", "mv", "ln", "install") else None
    )
    if name == "install" and has_flag(words, "d", "--directory"):
        ledger.write(*rest, cwd=command.cwd)
        return
    if target is None and len(rest) > 1:
        target = rest.pop()
    elif target is None and name == "ln" and rest:
        target = rest[0].rsplit("/", 1)[-1]
    if target is None:
        return
    for path in rest if name in ("rsync", "scp") else ():
        note_remote(path, ledger)
    if name in ("rsync", "scp") and note_remote(target, ledger):
        ledger.read(*rest, cwd=command.cwd)
        return
    local = [path for path in rest if not is_remote(path)]
    if name in ("mv", "move", "move-item", "ren", "rename", "rename-item"):
        ledger.delete(*local, cwd=command.cwd)
    elif name != "ln":
        ledger.read(*local, cwd=command.cwd)
    if target.endswith("/") and rest:
        ledger.write(*(target + path.rstrip("/").rsplit("/", 1)[-1] for path in rest), cwd=command.cwd)
    else:
        ledger.write(target, cwd=command.cwd)


REMOTE = re.compile(r"(?:rsync://|[\w.@-]+:)(?![\\/]{2})(?!\\)")


def is_remote(path: str) -> bool:
    return bool(REMOTE.match(path)) and not re.match(r"[A-Za-z]:[\\/]", path)


def note_remote(path: str, ledger: Ledger) -> bool:
    if not is_remote(path):
        return False
    ledger.network[path.split(":", maxsplit=1)[0]] = None
    return True


def note_make(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """Every operand is made or changed: touch, mkdir, tee, truncate, chmod."""
    name = program_name(words[0])
    rest = operands(words, values("-m --mode -d -t -r -s --size --reference --date -o"))
    if name in ("chmod", "chown", "chgrp", "setfacl", "chattr"):
        rest = rest if "--reference" in words else rest[1:]
    ledger.write(*rest, cwd=command.cwd)


def note_remove(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    ledger.delete(*operands(words, values("-n --iterations -s --size")), cwd=command.cwd)


SED_SCRIPT = re.compile(r"-e|-f\Z|--expression|--file")
SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")


def note_sed(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-e -f --expression --file -l"))
    in_place = has_script = False
    for word in words:
        if word[:1] == "-":
            in_place = in_place or SED_IN_PLACE.match(word) is not None
            has_script = has_script or SED_SCRIPT.match(word) is not None
    if not has_script:
        rest = rest[1:]
    if in_place and rest and not rest[0]:
        rest = rest[1:]  # BSD's `-i ''`
    (ledger.write if in_place else ledger.read)(*rest, cwd=command.cwd)


def note_dd(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key == "if":
            ledger.read(value, cwd=command.cwd)
        elif key == "of":
            ledger.write(value, cwd=command.cwd)


def note_sort(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    ledger.read(*operands(words, values("-k -t -o -S -T --key --output --parallel")), cwd=command.cwd)
    if target := option(words, "-o", "--output"):
        ledger.write(target, cwd=command.cwd)


def note_find(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    roots: list[str] = []
    for word in words[1:]:
        if word[:1] in ("-", "(", "!", "\\"):
            break
        roots.append(word)
    ledger.read(*(roots or ["."]), cwd=command.cwd)
    if "-delete" in words:
        ledger.delete(*found_by(words), cwd=command.cwd)


def found_by(words: Sequence[str]) -> list[str]:
    """What `find` finds, as patterns: its folders with the name that it looks for."""
    roots: list[str] = []
    for word in words[1:]:
        if word[:1] in ("-", "(", "!", "\\"):
            break
        roots.append(word)
    name = option(words, "-name", "-iname")
    return [f"{root.rstrip('/')}/{name}" if name else root for root in roots or ["."]]


def note_split(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("-l -b -n -a -C"))
    ledger.read(*rest[:1], cwd=command.cwd)
    ledger.write((rest[1] if len(rest) > 1 else "x") + "*", cwd=command.cwd)


def note_swe_agent(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """The commands that SWE-agent adds to the shell."""
    name = program_name(words[0])
    rest = operands(words)
    if name == "create":
        ledger.write(*rest[:1], cwd=command.cwd)
        ledger.opened = "".join(rest[:1])
    elif name in ("edit", "insert"):
        ledger.write(UNNAMED)
    elif name == "open":
        ledger.read(*rest[:1], cwd=command.cwd)
        ledger.opened = "".join(rest[:1])
    else:
        ledger.read(*(rest[1:2] or ["."]), cwd=command.cwd)


def note_editor_command(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    """`str_replace_editor view /path`, as a command of the shell."""
    if len(words) > 2:
        (ledger.read if words[1] == "view" else ledger.write)(words[2], cwd=command.cwd)
