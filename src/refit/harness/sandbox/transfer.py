"""Files into a sandbox and out of it: archives that `tar` packs and unpacks inside, where every path is resolved.

What comes out is an agent's work and trusted as such: nothing of it lands outside the folder it is meant for, no
device, no set-user-id bit. Entries that cannot be taken over are left out and named; the rest arrives."""

from __future__ import annotations

import errno
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct

from dense.errors import DenseError

_OURS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE})
"""Errors that are this machine's and not an entry's."""


class Member(Struct, frozen=True):
    """One file or folder on its way in."""

    source: Path
    """Where it is on this machine."""
    name: str
    """Its path below the folder that it goes to."""
    mode: int | None = None
    """Its mode, where it is another one."""
    owner: str = ""
    """`user[:group]`, names or numbers as the sandbox knows them; root where empty."""


def members_of(folder: Path, prefix: str = "") -> Iterator[Member]:
    """A folder's content, each folder before what is in it; links stay links."""
    for path in sorted(folder.iterdir()):
        name = f"{prefix}{path.name}"
        yield Member(path, name)
        if path.is_dir() and not path.is_symlink():
            yield from members_of(path, f"{name}/")


def pack(members: Iterable[Member], archive: IO[bytes]) -> None:
    """Writes members into an archive."""
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member in members:
            info = tar.gettarinfo(str(member.source), member.name)
            if info is None:  # pyright: ignore[reportUnnecessaryComparison]  # A socket, says the code.
                continue
            info.mode = info.mode if member.mode is None else member.mode
            _own(info, member.owner)
            if info.isreg():
                with member.source.open("rb") as file:
                    tar.addfile(info, file)
            else:
                tar.addfile(info)


def _own(info: tarfile.TarInfo, owner: str) -> None:
    user, _, group = owner.partition(":")
    info.uid = int(user) if user.isdigit() else 0
    info.uname = "" if user.isdigit() else user or "root"
    group = group or user
    info.gid = int(group) if group.isdigit() else 0
    info.gname = "" if group.isdigit() else group or "root"


def receive(archive: IO[bytes], target: Path, *, is_file: bool) -> list[str]:
    """Unpacks what came out of a sandbox; the names of the entries that were left out."""
    try:
        if not is_file:
            return unpack(archive, target)
        unpack_file(archive, target)
    except (tarfile.TarError, OSError, ValueError) as error:
        raise DenseError(str(error)) from None
    return []


def unpack(archive: IO[bytes], folder: Path) -> list[str]:
    """Unpacks an archive into a folder; the names of the entries that were left out."""
    folder.mkdir(parents=True, exist_ok=True)
    refused: list[str] = []
    with tarfile.open(fileobj=archive, mode="r|") as tar:
        for member in tar:
            if not _unpacked(tar, member, folder):
                refused.append(member.name)
    return refused


def _unpacked(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> bool:
    # Links lead down or not at all. Then no path can lead out of the folder, whatever it goes through, also where the
    # filter of an older Python can be outwitted.
    names = [member.name, member.linkname] if member.issym() or member.islnk() else [member.name]
    if any(name.startswith("/") or ".." in PurePosixPath(name).parts for name in names):
        return False
    target = folder / member.name
    try:
        if not member.isdir() and (target.is_symlink() or target.is_file()):
            target.unlink()  # Never written through: it may be a link, or an older download's.
        if member.isreg() or member.isdir():
            tar.extract(member, folder, filter="data")
        elif member.issym():
            tarfile.data_filter(member, str(folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(member.linkname)
        elif member.islnk() and _is_plain(folder / member.linkname):
            # To what has arrived, because a stream does not turn back.
            target.parent.mkdir(parents=True, exist_ok=True)
            target.hardlink_to(folder / member.linkname)
        else:
            return False
    except OSError as error:
        if error.errno in _OURS:
            raise
        return False
    except (tarfile.FilterError, tarfile.ExtractError):
        return False
    return True


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def unpack_file(archive: IO[bytes], target: Path) -> None:
    """Unpacks the only file of an archive; the target is there whole or not at all."""
    with tarfile.open(fileobj=archive, mode="r|") as tar:
        member = tar.next()
        if member is None or not member.isreg():
            raise DenseError("it is no file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".dense-", dir=target.parent) as folder:
            tar.extract(member.replace(name="file", mode=0o644), folder, filter="data")
            (Path(folder) / "file").replace(target)
