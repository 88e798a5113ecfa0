"""What an action did to the world, as far as its calls show, and collecting it while they are gone through."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from msgspec import Struct

UNNAMED = "{open file}"
"""Means the file that an editor has open, which an earlier step named."""


class Effects(Struct, frozen=True, omit_defaults=True, gc=False):
    """What the calls of one step did, or tried to do. Paths and names as they were written, in order, each once."""

    reads: tuple[str, ...] = ()
    """Files and folders that were looked at."""
    writes: tuple[str, ...] = ()
    """Files that were created or changed."""
    deletes: tuple[str, ...] = ()
    """Files that were removed."""
    runs: tuple[str, ...] = ()
    """Programs that were run: `python3`, `make`, `./solve`."""
    tests: tuple[str, ...] = ()
    """Commands that test or check something."""
    installs: tuple[str, ...] = ()
    """Packages that were installed."""
    services: tuple[str, ...] = ()
    """Long-lived processes that were started."""
    network: tuple[str, ...] = ()
    """Addresses that were asked, and what was searched for on the web."""
    scripts: tuple[str, ...] = ()
    """Program files that were run, by an interpreter or by themselves: `solve.py`, `./solve`."""
    undoes: tuple[str, ...] = ()
    """Those among the written files that were taken back to what a repository holds, and not written again."""
    builds: tuple[str, ...] = ()
    """Commands that build something: programs, pages, images."""
    modes: tuple[str, ...] = ()
    """Files whose permissions or owner were changed: their contents are as they were."""

    @property
    def changes_files(self) -> bool:
        """Whether it writes or removes anything."""
        return bool(self.writes or self.deletes or self.modes)

    @property
    def is_key(self) -> bool:
        """Whether it is kept by rule: it changes files, runs tests, builds or installs something."""
        return bool(self.changes_files or self.tests or self.installs or self.builds)


# Collecting the effects of a step


MAX_PATH_CHARS = 1000
MAX_ADDRESS_CHARS = 500
MAX_PACKAGE_CHARS = 300
ROOTED = re.compile(r"[/~$`{]|[A-Za-z]:[\\/]|[A-Za-z][\w+.-]*://")
NO_FILE = frozenset(
    ["", "-", "--", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "NUL", "$null"]
)


class EffectsBuilder(Struct, gc=False):
    """The effects so far, in order, each once. Devices and texts that cannot be paths are left out."""

    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    deletes: dict[str, None] = {}
    runs: dict[str, None] = {}
    tests: dict[str, None] = {}
    installs: dict[str, None] = {}
    services: dict[str, None] = {}
    network: dict[str, None] = {}
    scripts: dict[str, None] = {}
    undoes: dict[str, None] = {}
    builds: dict[str, None] = {}
    modes: dict[str, None] = {}
    contents: dict[str, str] = {}
    """What was written into a file during this step: a program that is written and run at once is known."""
    checks: dict[str, bool] = {}
    """Whether such a program, once it was gone through, checks something."""
    taken: set[str] = set()
    """Such programs that were gone through."""
    opened: str = ""
    """The file that an editor opened which edits whatever is open."""

    def keep_content(self, path: str, content: str) -> None:
        """Remembers what was written into a file."""
        self.contents[path] = content
        self.taken.discard(path)
        self.checks.pop(path, None)

    def take_content(self, path: str) -> str | None:
        """What was written into a file; once only, because a program that runs itself does the same again."""
        if path in self.taken or path not in self.contents:
            return None
        self.taken.add(path)
        return self.contents[path]

    def read(self, *paths: str, cwd: str = "") -> None:
        self.reads |= dict.fromkeys(files(paths, cwd))

    def write(self, *paths: str, cwd: str = "") -> None:
        written = dict.fromkeys(files(paths, cwd))
        self.writes |= written
        for path in written if self.undoes else ():
            self.undoes.pop(path, None)

    def undo(self, *paths: str, cwd: str = "") -> None:
        """Files that are as they were before."""
        self.write(*paths, cwd=cwd)
        self.undoes |= dict.fromkeys(files([path for path in paths if path not in (".", "./", "*")], cwd))

    def delete(self, *paths: str, cwd: str = "") -> None:
        self.deletes |= dict.fromkeys(files(paths, cwd))

    def ask(self, *addresses: str) -> None:
        for address in addresses:
            if address and "\n" not in address and len(address) <= MAX_ADDRESS_CHARS:
                self.network[address] = None

    def install(self, packages: Iterable[str], cwd: str = "") -> None:
        for package in packages:
            name = located(package, cwd) if package == "." else package
            if "\n" not in name and 0 < len(name) <= MAX_PACKAGE_CHARS and name not in ("!", "{}"):
                self.installs[name] = None

    def build(self) -> Effects:
        return Effects(
            reads=tuple(self.reads),
            writes=tuple(self.writes),
            deletes=tuple(self.deletes),
            runs=tuple(self.runs),
            tests=tuple(self.tests),
            installs=tuple(self.installs),
            services=tuple(self.services),
            network=tuple(self.network),
            scripts=tuple(self.scripts),
            undoes=tuple(self.undoes),
            builds=tuple(self.builds),
            modes=tuple(self.modes),
        )


def files(paths: Iterable[str], cwd: str) -> Iterable[str]:
    """Those texts that are paths, each behind the folder that the shell had changed to."""
    for path in paths:
        # A text of several lines is a program or a message that a damaged command left where a path belongs.
        if path not in NO_FILE and len(path) <= MAX_PATH_CHARS and "\n" not in path and path[:8] != "/dev/fd/":
            yield located(path, cwd)


def located(path: str, cwd: str) -> str:
    """A path as it was written, behind the folder that the shell had changed to."""
    if not cwd or ROOTED.match(path):
        return path
    return posixpath.normpath(f"{cwd}/{path}")
