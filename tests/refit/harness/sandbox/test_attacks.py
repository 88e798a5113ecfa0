"""A recipient that is root in its sandbox looks for hidden tests, for other cells and for the host."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from refit.harness.sandbox import Sandbox, SandboxSettings
from refit.harness.sandbox.transfer import members_of

SECRET = "the-hidden-solution-7391"
SHELL = """
try() { "$@" && echo REACHED; }
reach() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
python() { python3 -c "import ctypes, os, socket; libc = ctypes.CDLL(None); $*"; }
"""
ATTACKS = {
    "by path": """
        cat "$HIDDEN" /tests/* /solution/*
        cat "$STATES"/*/space/layers/*/upper/tests/* "$STATES"/*/space/root/tests/*""",
    "by search": "find / \\( -path /proc -o -path /sys \\) -prune -o -name 'hidden-*' -exec cat {} +",
    "leftovers": "grep -rs hidden-solution /tmp /var/tmp /run /home /root /opt /mnt /srv /dev/shm",
    "roots of processes": """
        for root in /proc/*/root /proc/*/cwd; do cat "$root/$HIDDEN" "$root/tests/hidden-test"; done""",
    "open files": "ls -l /proc/[0-9]*/fd | try grep dense-sandbox; cat /proc/[0-9]*/fd/[3-9]*",
    "environments": "cat /proc/*/environ",
    "arguments": "cat /proc/*/cmdline | try grep -a 'dense-sandbo[x]'",
    "the first process": 'nsenter --target 1 --mount --user cat "$HIDDEN"; chroot /proc/1/root cat "$HIDDEN"',
    "processes of the host": "try kill -0 $HOST_PID",
    "ptrace": """try python 'exit(libc.ptrace(16, int(os.environ["HOST_PID"]), 0, 0))'""",
    "memory of the machine": "for file in /proc/kcore /dev/mem; do head -c 1 $file | try grep -q .; done",
    "a device node": "mknod /disk b $DISK; try dd if=/disk bs=512 count=1",
    "a new /dev": "mkdir /d; try mount -t devtmpfs none /d",
    "a new /proc": "mkdir /p; try mount -t proc none /p; try unshare --pid --fork mount -t proc none /p",
    "one namespace more": """
        mkdir /q; try unshare --user --map-root-user --mount --pid --fork mount -t proc none /q""",
    "settings of the kernel": """
        mount -o remount,bind,rw /proc/sys; umount /proc/sys; umount -l /proc/sys
        same=$(cat /proc/sys/kernel/core_pattern)
        try sh -c 'echo "$1" >/proc/sys/kernel/core_pattern' sh "$same" """,
    "under what is blanked": 'umount "$BLANK"; umount -l "$BLANK"; cat "$BLANK"/*',
    "the old root": "try ls /.old",
    "out of a chroot": """
        python 'os.chroot("/usr"); os.chdir("../.."); os.chroot("."); print(open(os.environ["HIDDEN"]).read())'""",
    # Opens a file by its number in the file system: with that right, any file of the disk.
    "file handles": """
        try python 'handle, mount = (ctypes.c_int * 34)(128), ctypes.c_int();' \\
            'assert libc.name_to_handle_at(-100, b"/", handle, ctypes.byref(mount), 0) == 0;' \\
            'exit(libc.open_by_handle_at(-100, handle, 0) < 0)' """,
    "other file systems": """
        mkdir /s; for type in sysfs debugfs tracefs cgroup2; do try mount -t $type none /s; done""",
    "ports of the host": "try reach $PORT",
    "abstract sockets": """try python 'socket.socket(socket.AF_UNIX).connect("\\0" + os.environ["ABSTRACT"])'""",
    "ways out of the network": "ip -o link | try grep -v ' lo:'; ip route | try grep .",
    "the clock of the host": 'try date --set "$(date)"',
}
OWN_LOOPBACK = """
python 'server = socket.create_server(("127.0.0.1", 80)); server.accept(); server.accept()' >/dev/null 2>&1 &
for _ in $(seq 100); do reach 80 && try reach 80 && break; sleep 0.1; done
"""


def test_no_attack_reaches_what_is_hidden(
    is_rootless: bool, states: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    hidden, shown = tmp_path / "hidden-tests", tmp_path / "shown"
    for folder, name in ((hidden, "hidden-test"), (shown / "private", "hidden-key")):
        folder.mkdir(parents=True)
        (folder / name).write_text(f"{SECRET}\n")
    settings = SandboxSettings(
        is_rootless=is_rootless, parent=states, shown=(shown,), hidden=(shown / "private", hidden)
    )
    disk = tmp_path.stat().st_dev

    async def main() -> None:
        other, sandbox = await asyncio.gather(Sandbox.start(settings), Sandbox.start(settings))
        try:
            await other.put(members_of(hidden), "/tests")
            assert SECRET in (await other.run(["cat", "/tests/hidden-test"])).out
            for name, script in ATTACKS.items():
                done = await sandbox.run(["bash", "-c", SHELL + script], env=env, timeout=60)
                assert SECRET not in done.out + done.err, name
                assert "REACHED" not in done.out, (name, done)
            assert "REACHED" in (await sandbox.run(["bash", "-c", SHELL + OWN_LOOPBACK])).out, "its own loopback works"
        finally:
            await asyncio.gather(other.stop(), sandbox.stop())

    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        env = {
            "HIDDEN": str(hidden / "hidden-test"),
            "STATES": str(states),
            "BLANK": str(shown / "private"),
            "HOST_PID": str(os.getpid()),
            "DISK": f"{os.major(disk)} {os.minor(disk)}",
            "PORT": str(server.getsockname()[1]),
            "ABSTRACT": f"dense-test-{os.getpid()}",
        }
        abstract.bind(f"\0{env['ABSTRACT']}")
        abstract.listen()
        asyncio.run(main())
