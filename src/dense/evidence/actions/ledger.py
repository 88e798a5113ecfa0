"""The book that is kept while the calls of one step are gone through."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from msgspec import Struct

from dense.evidence.actions.effects import Effects

LONGEST_PATH = 1000
BRACES = re.compile(r"\{([^{},\s]*(?:,[^{},\s]*)+)\}")
ROOTED = re.compile(r"[/~$`{]|[A-Za-z]:[\\/]|[A-Za-z][\w+.-]*://")
NO_FILE = frozenset(
    ["", "-", "--", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "NUL", "$null"]
)


class Ledger(Struct, gc=False):
    """What happened so far, in order, each once. Devices and texts that cannot be paths are left out."""

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
    contents: dict[str, str] = {}
    """What was written into a file during this step: a program that is written and run at once is known."""
    checks: dict[str, bool] = {}
    """Whether such a program, once it was gone through, checks something."""
    taken: frozenset[str] = frozenset()
    """Such programs that were gone through."""
    opened: str = ""
    """The file that an editor was told to open, where it edits whatever is open."""

    def keep(self, path: str, content: str) -> None:
        """Remembers what was written into a file."""
        self.contents[path] = content
        if path in self.taken:
            self.checks.pop(path, None)
            self.taken -= {path}

    def take(self, path: str) -> str | None:
        """What was written into a file; once only, since a program that runs itself, or runs often, does the same
        again."""
        if path in self.taken or path not in self.contents:
            return None
        self.taken |= {path}
        return self.contents[path]

    def read(self, *paths: str, cwd: str = "") -> None:
        note(self.reads, paths, cwd)

    def write(self, *paths: str, cwd: str = "") -> None:
        note(self.writes, paths, cwd)
        if self.undoes:
            again: dict[str, None] = {}
            note(again, paths, cwd)
            for path in again:
                self.undoes.pop(path, None)

    def undo(self, *paths: str, cwd: str = "") -> None:
        """Files that are as they were before."""
        self.write(*paths, cwd=cwd)
        note(self.undoes, [path for path in paths if path not in (".", "./", "*")], cwd)

    def delete(self, *paths: str, cwd: str = "") -> None:
        note(self.deletes, paths, cwd)

    def close(self) -> Effects:
        return Effects(
            tuple(self.reads) if self.reads else (),
            tuple(self.writes) if self.writes else (),
            tuple(self.deletes) if self.deletes else (),
            tuple(self.runs) if self.runs else (),
            tuple(self.tests) if self.tests else (),
            tuple(self.installs) if self.installs else (),
            tuple(self.services) if self.services else (),
            tuple(self.network) if self.network else (),
            tuple(self.scripts) if self.scripts else (),
            tuple(self.undoes) if self.undoes else (),
        )


def note(book: dict[str, None], paths: Iterable[str], cwd: str) -> None:
    for written in paths:
        for path in expand_braces(written) if "{" in written and "," in written else (written,):
            # A text of several lines is a program or a message that a damaged command left where a path belongs.
            if path not in NO_FILE and len(path) <= LONGEST_PATH and "\n" not in path and path[:8] != "/dev/fd/":
                book[located(path, cwd) if cwd else path] = None


def located(path: str, cwd: str) -> str:
    """A path as it was written, behind the folder that the shell had changed to."""
    if not cwd or ROOTED.match(path):
        return path
    return posixpath.normpath(f"{cwd}/{path}")


def expand_braces(path: str) -> list[str]:
    """`a.{c,h}` is `a.c` and `a.h`; one pair of braces, the rest stays as it is written."""
    found = BRACES.search(path)
    if found is None:
        return [path]
    return [path[: found.start()] + part + path[found.end() :] for part in found[1].split(",")]
