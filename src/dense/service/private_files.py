"""Writes files so that a reader sees the old one or the new one, nobody else may read them, and no link is followed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from dense.errors import DenseError

FOLDER_MODE, FILE_MODE = 0o700, 0o600
"""Traces are private; so is what is made of them."""


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone. A link in its place is an error."""
    if folder.is_symlink():
        raise DenseError(
            f"{folder}: a link; results are not written through links: remove it, or choose another folder"
        )
    try:
        for parent in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise DenseError(f"{folder}: the folder cannot be made ({error.strerror or error})") from None
    if not folder.is_dir():
        raise DenseError(f"{folder}: there is a file of this name; remove it, or choose another folder")


def write_files(folder: Path, files: Mapping[str, bytes], *, outdated: Iterable[str] = ()) -> None:
    """Write files of a folder that belong together; `outdated` ones are removed. The last of the files is put in place
    last, and is missing while others are replaced: if it is there, all are complete.

    If the disk is full, nothing of what was there changes."""
    is_new = not folder.exists()
    make_folder(folder)
    written: list[tuple[Path, Path]] = []
    try:
        for name, data in files.items():
            temporary = folder / f".{name}.{os.getpid()}.new"
            written.append((temporary, folder / name))
            _write(temporary, data)
        *_, (_, last) = written
        for path in (last, *(folder / name for name in outdated)):
            path.unlink(missing_ok=True)
        for temporary, path in written:
            temporary.replace(path)
    except OSError as error:
        for temporary, _ in written:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        reason = error.strerror or str(error)
        raise DenseError(f"{folder}: the result cannot be written ({reason}); what was there is unchanged") from None


def _write(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)  # of a process of the same number that was killed
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE), "wb") as file:
        file.write(data)
