"""Files in and out: what arrives, and what a hostile archive cannot do."""

from __future__ import annotations

import io
import os
import re
import stat
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dense.errors import DenseError
from refit.harness.sandbox import Sandbox
from refit.harness.sandbox.transfer import Member, members_of, pack, receive, unpack

type InSandbox = Callable[[Callable[[Sandbox], Awaitable[None]]], None]


def stream(*entries: tuple[str, bytes, str]) -> io.BytesIO:
    """An archive of entries: name, type, and what it holds or leads to."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o6777
            if kind == tarfile.REGTYPE:
                info.size = len(content.encode())
                tar.addfile(info, io.BytesIO(content.encode()))
            else:
                info.linkname = content
                tar.addfile(info)
    buffer.seek(0)
    return buffer


HOSTILE = [
    ("../out", tarfile.REGTYPE, "x"),
    ("a/../../out", tarfile.REGTYPE, "x"),
    ("up", tarfile.SYMTYPE, ".."),
    ("deep/up", tarfile.SYMTYPE, "../../outside"),
    ("absolute", tarfile.SYMTYPE, "/etc/passwd"),
    ("hard", tarfile.LNKTYPE, "../outside/kept"),
    ("device", tarfile.CHRTYPE, ""),
    ("disk", tarfile.BLKTYPE, ""),
    ("pipe", tarfile.FIFOTYPE, ""),
]


def test_hostile_entries_are_left_out_and_the_rest_arrives(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    entries = [
        *HOSTILE,
        ("up/out", tarfile.REGTYPE, "x"),
        ("good", tarfile.REGTYPE, "g"),
        ("link", tarfile.SYMTYPE, "good"),
    ]
    refused = unpack(stream(*entries), tmp_path / "in")
    assert refused == [name for name, _, _ in HOSTILE]
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert found == ["in", "in/good", "in/link", "in/up", "in/up/out", "outside", "outside/kept"]
    assert stat.S_IMODE((tmp_path / "in" / "good").stat().st_mode) & 0o7022 == 0
    assert (outside / "kept").read_text() == "kept"


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    entries = [("b", tarfile.REGTYPE, "b"), ("a", tarfile.SYMTYPE, "b"), ("a", tarfile.REGTYPE, "a")]
    assert unpack(stream(*entries), tmp_path) == []
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "b")


names = st.lists(st.sampled_from(["a", "b", "..", "c"]), min_size=1, max_size=4).map("/".join)
entries = st.tuples(names, st.sampled_from([tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE]), names)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(entries, max_size=8))
def test_whatever_is_in_an_archive_nothing_lands_outside(
    tmp_path_factory: pytest.TempPathFactory, given_entries: list[tuple[str, bytes, str]]
) -> None:
    folder = tmp_path_factory.mktemp("law")
    (folder / "kept").write_text("kept")
    unpack(stream(*given_entries), folder / "in")
    assert sorted(path.name for path in folder.iterdir()) == ["in", "kept"]
    assert (folder / "kept").read_text() == "kept"
    inside = (folder / "in").resolve()
    for path in (folder / "in").rglob("*"):
        assert not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(inside)


@pytest.mark.parametrize("content", [b"", b"no archive at all" * 100])
def test_no_archive_is_an_error_for_people(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DenseError):
        receive(io.BytesIO(content), tmp_path / "x", is_file=True)


def test_owners_and_modes_are_those_of_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    buffer = io.BytesIO()
    pack(
        [
            Member(tmp_path / "f", "f"),
            Member(tmp_path / "f", "g", 0o700, "agent"),
            Member(tmp_path / "f", "h", None, "7:8"),
        ],
        buffer,
    )
    buffer.seek(0)
    with tarfile.open(fileobj=buffer) as tar:
        f, g, h = tar.getmembers()
    assert (f.uid, f.gid, f.uname) == (0, 0, "root")
    assert (g.mode, g.uname, g.gname) == (0o700, "agent", "agent")
    assert (h.uid, h.gid, h.uname, h.gname) == (7, 8, "", "")


def test_in_and_out_again(in_sandbox: InSandbox, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub" / "empty").mkdir(parents=True)
    (source / "run.sh").write_text("#!/bin/sh\necho ran")
    (source / "run.sh").chmod(0o755)
    (source / "sub" / "données ü.txt").write_text("ü\n")
    (source / "link").symlink_to("sub/données ü.txt")

    async def check(sandbox: Sandbox) -> None:
        await sandbox.put(members_of(source), "/new/place")
        assert (await sandbox.run(["/new/place/run.sh"])).out == "ran\n"
        assert (await sandbox.run(["stat", "-c", "%U %a", "/new/place/run.sh"])).out == "root 755\n"
        script = "mkfifo p; mknod d c 1 3; ln -s /etc/passwd abs; truncate -s 4T huge; chmod u+s run.sh; echo > more"
        await sandbox.run(["bash", "-c", script], cwd="/new/place")
        refused = await sandbox.get("/new/place", tmp_path / "back")
        assert sorted(refused)[0] == "./abs"
        back = {path.relative_to(tmp_path / "back").as_posix() for path in (tmp_path / "back").rglob("*")}
        assert back == {"run.sh", "sub", "sub/empty", "sub/données ü.txt", "link", "more", "huge"}
        assert (tmp_path / "back" / "huge").stat().st_blocks < 1000, "holes stay holes"
        await sandbox.get_file("/new/place/link", tmp_path / "deep" / "one")
        assert (tmp_path / "deep" / "one").read_text() == "ü\n"
        await sandbox.get_file("/new/place/huge", tmp_path / "deep" / "one")
        assert (tmp_path / "deep" / "one").stat().st_size == 4 << 40
        assert [path.name for path in (tmp_path / "deep").iterdir()] == ["one"]
        for path, reason in (
            ("/new/nothing", "No such file"),
            ("/new/place/sub", "no file"),
            ("/nowhere/x", "/nowhere"),
        ):
            with pytest.raises(DenseError, match=reason):
                await sandbox.get_file(path, tmp_path / "no")
        assert not (tmp_path / "no").exists()
        with pytest.raises(DenseError, match="/proc/1/x: nothing could be put there"):
            await sandbox.put(members_of(source), "/proc/1/x")

    in_sandbox(check)


def peak_memory() -> int:
    """The largest resident memory of this process so far, in KiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def test_large_files_are_not_held_in_memory(in_one: InSandbox, tmp_path: Path) -> None:
    """64 MB in and out, while this process hardly grows."""
    large = tmp_path / "large"
    with large.open("wb") as file:
        for _ in range(16):
            file.write(os.urandom(1 << 16) * 64)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew, whatever other tests needed
    before = peak_memory()

    async def check(sandbox: Sandbox) -> None:
        await sandbox.put([Member(large, "large")], "/data")
        await sandbox.get_file("/data/large", tmp_path / "back")

    in_one(check)
    assert (tmp_path / "back").stat().st_size == large.stat().st_size
    assert peak_memory() - before < 16_000
