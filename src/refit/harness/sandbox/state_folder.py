"""Folders that a sandbox or a run keeps on disk while it lasts, and what becomes of them when the owner was killed.

The owner holds a lock on it, which the kernel drops when the owner ends, however it ends. Whatever starts next removes
the folders that nobody holds. The lock is right where process ids are not: in containers that share a folder."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import time
from pathlib import Path

from dense.errors import DenseError

SANDBOX_PREFIX, RUN_PREFIX = "dense-sandbox-", "dense-run-"
"""How the folders of sandboxes and of runs are called; while one is being made, there is a dot before its name."""
_OLD = 3600.0
"""Seconds after which a folder that was never finished belongs to nobody."""


class StateFolder:
    """A state folder that is ours."""

    def __init__(self, parent: Path | None = None, prefix: str = SANDBOX_PREFIX) -> None:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        try:
            parent.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=parent.resolve()))
        except OSError as error:
            raise DenseError(f"{parent}: no folder can be made here ({error.strerror}); name another folder") from None
        self._lock: int | None = os.open(folder / "owner", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.write(self._lock, f"pid {os.getpid()}\n".encode())
        # It gets the name by which it may be swept only now that it is held.
        self.folder = folder.rename(folder.with_name(folder.name.removeprefix(".")))

    def remove(self) -> None:
        """Takes it away, and lets go of it. Nothing may run in the sandbox any more."""
        if self._lock is not None:
            remove(self.folder)
            os.close(self._lock)
            self._lock = None


def sweep(parent: Path | None = None) -> list[Path]:
    """Removes the state folders whose owner is dead, and says which. Those of other users are left alone."""
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    swept: list[Path] = []
    names = [f"{dot}{prefix}*" for prefix in (SANDBOX_PREFIX, RUN_PREFIX) for dot in ("", ".")]
    for folder in sorted(path for name in names for path in parent.glob(name)):
        try:
            swept += [folder] if _swept(folder) else []
        except OSError:
            continue  # Someone else was quicker.
    return swept


def remove(folder: Path) -> None:
    """Removes a folder whatever its files' modes: the overlay's own is 000, and so may be any of an agent's."""
    command = ["rm", "-rf", "--one-file-system", "--", str(folder)]
    for _ in range(3):
        subprocess.run(command, check=False, capture_output=True)
        if not folder.exists():
            return
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(folder)], check=False, capture_output=True)


def _swept(folder: Path) -> bool:
    status = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or status.st_uid != os.geteuid():
        return False
    if folder.name.startswith("."):
        if time.time() - status.st_mtime < _OLD:
            return False
        remove(folder)
        return True
    lock = os.open(folder / "owner", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        remove(folder)
        return True
    finally:
        os.close(lock)
