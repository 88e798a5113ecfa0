"""One writer at a time, enforced by the system: the lock goes when its process goes, however it went."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from dense.errors import ExperimentLocked

LOCK_FILE = "lock"


@contextmanager
def writing(folder: Path, what: str) -> Generator[None]:
    """Holds the experiment for as long as the block runs; says who holds it where somebody does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_FILE).open("a+", encoding="utf-8") as file:
        if not _taken(file.fileno()):
            raise ExperimentLocked(f"{folder}: {_holder(folder)}; wait for it to end, or end it")
        file.truncate(0)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": now, "what": what}))
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _taken(file: int) -> bool:
    """Whether the lock is ours now. Whoever looks who holds it (`holder_of`) has it for a moment, so a few tries."""
    for _ in range(5):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.05)
        else:
            return True
    return False


def _holder(folder: Path) -> str:
    try:
        holder = json.loads((folder / LOCK_FILE).read_text(encoding="utf-8"))
        return f"process {holder['pid']} on {holder['host']} holds it since {holder['since']} (`{holder['what']}`)"
    except (OSError, ValueError, LookupError, TypeError):
        return "another process holds it"


def holder_of(folder: Path) -> str | None:
    """Who holds the experiment now, in words; None where nobody does."""
    try:
        with (folder / LOCK_FILE).open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except OSError:
        return _holder(folder)
    return None
