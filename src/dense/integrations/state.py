"""The state folder: queued sessions, results by project, what was injected when. Files of the user alone."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from dense.errors import DenseError
from dense.readers.json_value import obj


def state_folder() -> Path:
    """`$DENSE_STATE_DIR`, or `dense` in the user's state folder."""
    if given := os.environ.get("DENSE_STATE_DIR"):
        return Path(given)
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "dense"


def project_root(folder: str) -> Path:
    """The repository that a folder is in, by its `.git`; the folder itself if there is none."""
    start = Path(os.path.realpath(folder))
    return next((path for path in (start, *start.parents) if (path / ".git").exists()), start)


def project_key(folder: str) -> str:
    """A name for a project: equal for all folders of one repository, different for any two."""
    return sha256(os.fsencode(project_root(folder))).hexdigest()[:16]


def write_atomically(path: Path, text: str) -> None:
    """Write a file of mode 0600, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(value, indent=1) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty if there is none, or if it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return obj(value)


def append_line(path: Path, value: dict[str, Any]) -> None:
    """Append one JSON line; lines below a page are written whole."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file; damaged ones are passed over."""
    values: list[dict[str, Any]] = []
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return values
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            values.append(obj(cast("Any", value)))
    return values


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Generator[bool]:
    """Hold a lock that ends with the process; gives False if it is taken and nobody wants to wait."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            raise DenseError(f"{path}: the lock cannot be taken ({error.strerror})") from None
        yield True


def now() -> str:
    """The time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
