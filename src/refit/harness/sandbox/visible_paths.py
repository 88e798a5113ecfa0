"""What of this machine shows inside a sandbox: the system, and nothing of ours.

A list of what shows, not of what is hidden: a folder that nobody thought of is not there. Within what shows, our own
folders (the package, its Python environment, the working folder, the experiment's) and the machine's secrets are
blanked, and commands that only lead to hidden folders are taken away, so that they do not shadow working ones."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import dense
from dense.errors import DenseError

SYSTEM = ("/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""What shows of every machine that has it."""
PACKAGES = tuple(
    f"/var/{name}"
    for name in (
        "lib/alternatives lib/apk lib/apt lib/dnf lib/dpkg lib/pacman lib/pam lib/python lib/rpm lib/ucf "
        "cache/apt cache/debconf cache/fontconfig cache/ldconfig"
    ).split()
)
"""Of /var, what package managers need."""
SECRETS = tuple(
    f"/etc/{name}"
    for name in (
        "boto.cfg docker environment gshadow- krb5.keytab kubernetes letsencrypt NetworkManager/system-connections "
        "openvpn rancher security/opasswd shadow- ssh/ssh_host_*_key ssl/private wireguard"
    ).split()
)
"""Of /etc, what is a machine's own. Passwords in /etc/shadow are blanked by `init.sh`, because tools want the file."""
_FOLDERS = ("", *"bin etc games include lib lib32 lib64 libexec sbin share".split())
NEVER_HIDDEN = frozenset(os.path.normpath(f"{root}/{name}") for root in ("/usr", "/usr/local") for name in _FOLDERS)
"""Folders of the system, whoever calls them his: a Python that lives in /usr/local is not ours to hide."""
COMMANDS = ("/usr/local/sbin", "/usr/local/bin")
"""Where people put commands that lead elsewhere, in front of the system's own."""
_LEADS_TO = re.compile(rb"\A#![ \t]*(/[^\s]+)|^[ \t]*exec[ \t]+[\"']?(/[^\s\"'$]+)", re.MULTILINE)
_HEAD = 4096


def mount_words(hidden: Iterable[Path] = (), shown: Iterable[Path] = ()) -> list[str]:
    """The view as `init.sh` takes it: `tree:`, `part:`, `link:`, `hide:` with a path each, in an order for mounting."""
    links = [Path(path) for path in SYSTEM if Path(path).is_symlink()]
    trees = [Path(path) for path in (*SYSTEM, *PACKAGES) if Path(path).is_dir() and not Path(path).is_symlink()]
    asked = [_shown(path) for path in shown]
    trees += asked
    trees = sorted(tree for tree in set(trees) if not any(other in tree.parents for other in trees))
    hidden = list(hidden)
    # Whoever shows a folder that must not show gets it empty.
    blank = sorted(
        {*_inside(trees, [*own_folders(), *hidden]), *(set(asked) & {Path(os.path.realpath(p)) for p in hidden})}
    )
    blank = [path for path in blank if not any(other in path.parents for other in blank)]
    secrets = [path for pattern in SECRETS for path in sorted(Path("/").glob(pattern.lstrip("/")))]
    return [
        *(f"tree:{path}" for path in trees),
        *(f"part:{path}" for path in _mounted(trees)),
        *(f"link:{path}" for path in links),
        *(f"hide:{path}" for path in [*blank, *secrets, *_misleading(trees, blank)]),
    ]


def own_folders() -> list[Path]:
    """Where we live on this machine: nothing of it is the agent's business."""
    folders = [Path(tempfile.gettempdir()), Path(__file__).parents[2], Path(dense.__file__).parent]
    folders += [Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)]
    with contextlib.suppress(OSError):  # It may have been removed under us.
        folders.append(Path.cwd())
    with contextlib.suppress(RuntimeError):  # Not every user has one.
        folders.append(Path.home())
    environment = os.environ.get("VIRTUAL_ENV")
    return [*folders, Path(environment)] if environment else folders


def _mounted(trees: list[Path]) -> list[Path]:
    """File systems that are mounted within what shows: an overlay over a folder does not reach into them."""
    mounted: set[Path] = set()
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        name = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), line.split()[4])
        path = Path(name)
        if any(tree in path.parents for tree in trees) and path.is_dir() and not re.search(r"[,:\\]", name):
            mounted.add(path)
    return sorted(mounted)


def _shown(path: Path) -> Path:
    folder = Path(os.path.realpath(path))
    if not folder.is_dir() or folder == Path("/") or re.search(r"[,:\\]", str(folder)):
        raise DenseError(f"{path} cannot be shown in a sandbox: it must be a folder, and no comma or colon in its name")
    return folder


def _inside(trees: list[Path], folders: list[Path]) -> Iterator[Path]:
    """Of these folders, those that would show."""
    for folder in folders:
        for path in {Path(os.path.normpath(folder)), Path(os.path.realpath(folder))}:
            if str(path) not in NEVER_HIDDEN and any(tree in path.parents for tree in trees):
                yield path


def _misleading(trees: list[Path], blank: list[Path]) -> Iterator[Path]:
    """Commands that would be found and cannot run. A link that leads nowhere is no such thing: shells pass it by."""
    for folder in COMMANDS:
        for path in sorted(Path(folder).glob("*")):
            if path.is_file() and not all(_is_visible(target, trees, blank) for target in _targets(path)):
                yield path


def _targets(path: Path) -> Iterator[Path]:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return
    if head.startswith(b"#!"):
        for interpreter, program in _LEADS_TO.findall(head):
            yield Path(os.fsdecode(interpreter or program))


def _is_visible(path: Path, trees: list[Path], blank: list[Path]) -> bool:
    real = Path(os.path.realpath(path))
    folders = {real, *real.parents}
    return real.exists() and not folders.isdisjoint(trees) and folders.isdisjoint(blank)
