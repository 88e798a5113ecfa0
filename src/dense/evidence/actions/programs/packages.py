"""Programs that install packages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.ledger import Ledger, located
from dense.evidence.actions.shell.arguments import NOTHING, operands, option, values
from dense.evidence.actions.shell.command import Command
from dense.knowledge.programs import program_name

INSTALLERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "pip": (
        values("install"),
        values("""
            -i --index-url --extra-index-url -c --constraint -t --target --prefix --root --timeout -f --find-links
            --python
        """),
    ),
    "pip3": (
        values("install"),
        values("""
            -i --index-url --extra-index-url -c --constraint -t --target --prefix --root --timeout -f --find-links
        """),
    ),
    "apt": (values("install"), values("-t -o -c")),
    "apt-get": (values("install build-dep"), values("-t -o -c")),
    "aptitude": (values("install"), NOTHING),
    "apk": (values("add"), values("-t -X --virtual --repository")),
    "yum": (values("install localinstall groupinstall"), NOTHING),
    "dnf": (values("install"), NOTHING),
    "microdnf": (values("install"), NOTHING),
    "zypper": (values("install in"), NOTHING),
    "pacman": (values("-S -Sy -Syu -Syy"), NOTHING),
    "brew": (values("install"), NOTHING),
    "snap": (values("install"), NOTHING),
    "npm": (values("install i ci add"), values("--prefix --registry")),
    "pnpm": (values("install i add"), values("--filter -C --dir")),
    "yarn": (values("add install"), values("--cwd")),
    "bun": (values("install add i"), NOTHING),
    "gem": (values("install"), values("-v --version -i")),
    "bundle": (values("install"), NOTHING),
    "cargo": (values("install add"), values("--version --features -F --path --git --branch --vers")),
    "go": (values("get install"), NOTHING),
    "conda": (values("install create"), values("-c -n -p --channel --name --prefix")),
    "mamba": (values("install create"), values("-c -n -p --channel --name --prefix")),
    "micromamba": (values("install create"), values("-c -n -p --channel --name --prefix")),
    "poetry": (values("add install"), values("-G --group -E --extras")),
    "pipenv": (values("install"), NOTHING),
    "pipx": (values("install"), NOTHING),
    "pdm": (values("add install"), NOTHING),
    "composer": (values("require install"), NOTHING),
    "cpan": (frozenset(), NOTHING),
    "cpanm": (frozenset(), NOTHING),
    "opam": (values("install"), NOTHING),
    "choco": (values("install"), NOTHING),
    "winget": (values("install"), NOTHING),
    "scoop": (values("install"), NOTHING),
    "easy_install": (frozenset(), NOTHING),
    "luarocks": (values("install"), NOTHING),
    "playwright": (values("install"), NOTHING),
    "rustup": (values("install"), NOTHING),
    "nix-env": (values("-i -iA"), NOTHING),
    "dpkg": (values("-i --install"), NOTHING),
    "rpm": (values("-i -ivh -Uvh"), NOTHING),
    "install-module": (frozenset(), NOTHING),
    "stack": (values("install"), NOTHING),
    "cabal": (values("install"), NOTHING),
    "raco": (values("pkg"), NOTHING),
}
"""Program → the verbs that install, and its options that take a value. No verbs: it does nothing else."""


LOCAL_INSTALLS = values("npm pnpm yarn bun bundle poetry pipenv pdm composer")
"""Without names these install what the project asks for."""


def note_install(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    name = program_name(words[0])
    name = "pip" if re.match(r"pip[\d.]*$", name) else name
    if name == "uv":
        note_uv(words, command.cwd, ledger)
        return
    known = INSTALLERS.get(name)
    if known is None:
        return
    verbs, with_value = known
    rest = operands(words, with_value)
    if verbs:
        at = next((n for n, word in enumerate(words[1:5], 1) if word in verbs), None)
        if at is None or (not words[at].startswith("-") and rest[:1] != [words[at]]):
            if not (name == "yarn" and len(words) == 1):
                return
            rest = []
        elif not words[at].startswith("-"):
            rest = rest[1:]
    packages(rest or (["."] if name in LOCAL_INSTALLS else []), ledger, command.cwd)
    if target := option(words, "-t", "--target") if name == "pip" else None:
        ledger.write(target, cwd=command.cwd)


def note_uv(words: Sequence[str], cwd: str, ledger: Ledger) -> None:
    rest = operands(words, values("-p --python --index-url --extra-index-url -c --group --extra --directory --project"))
    if rest[:2] == ["pip", "install"]:
        packages(rest[2:], ledger, cwd)
    elif rest[:1] == ["add"] or rest[:2] == ["tool", "install"]:
        packages(rest[1 if rest[0] == "add" else 2 :], ledger)
    elif rest[:1] == ["sync"] or rest[:2] == ["pip", "sync"]:
        packages(["."], ledger, cwd)


def packages(names: Sequence[str], ledger: Ledger, cwd: str = "") -> None:
    for name in names:
        name = located(name, cwd) if name == "." else name
        if "\n" not in name and 0 < len(name) <= 300 and name not in ("!", "{}"):
            ledger.installs[name] = None


def note_go(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    if words[1:2] == ["build"] and (target := option(words, "-o")):
        ledger.write(target, cwd=command.cwd)
    elif words[1:2] == ["mod"] and words[2:3]:
        ledger.write("go.mod", cwd=command.cwd)
    elif words[1:2] == ["fmt"]:
        ledger.write(*(operands(words)[1:] or ["."]), cwd=command.cwd)
    note_install(words, command, ledger)


def note_cargo(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    rest = operands(words, values("--name --edition --vcs --color --manifest-path"))
    if rest[:1] in (["new"], ["init"]):
        ledger.write(*(rest[1:] or ["."]), cwd=command.cwd)
    elif rest[:1] == ["fmt"] and "--check" not in words:
        ledger.write(".", cwd=command.cwd)
    note_install(words, command, ledger)


def note_node_packager(words: Sequence[str], command: Command, ledger: Ledger) -> None:
    if words[1:2] == ["init"]:
        ledger.write("package.json", cwd=command.cwd)
    note_install(words, command, ledger)
