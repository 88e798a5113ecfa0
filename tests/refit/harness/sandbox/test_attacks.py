"""A recipient that is root in its sandbox looks for hidden tests, for other cells and for the host."""

from __future__ import annotations

import asyncio
import os
import socket
import time
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
        cat "$STATES"/*/*/layers/*/upper/tests/* "$STATES"/*/*/root/tests/*""",
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
    "beside what is blanked": """
        mkdir /b /l; mount --bind "$BLANK/.." /b; mount -t tmpfs none /l; mkdir /l/upper /l/work
        mount -t overlay none -o "lowerdir=$BLANK/..,upperdir=/l/upper,workdir=/l/work" /b; cat /b/private/*""",
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
    "control groups": "mkdir /c; try unshare --cgroup --mount mount -t cgroup2 none /c",
    "devices by a network more": """
        unshare --net --mount sh -c 'mount -t sysfs none /s; mount -o remount,rw /s; find /s /sys -type f -writable' |
            try grep .""",
    "ports of the host": "try reach $PORT",
    "abstract sockets": """try python 'socket.socket(socket.AF_UNIX).connect("\\0" + os.environ["ABSTRACT"])'""",
    "ways out of the network": "ip -o link | try grep -v ' lo:'; ip route | try grep .",
    "the clock of the host": 'try date --set "$(date)"',
}
PROGRAM = """
import os, time

shell = os.path.realpath("/bin/sh")
os.rename(shell, f"{shell}.kept")
with open(shell, "w") as file:
    file.write("#!/proc/self/exe --\\n")  # the program that enters the sandbox starts itself, again and again
os.chmod(shell, 0o755)
program = None
while program is None:
    for name in os.listdir("/proc"):
        try:
            file = os.open(f"/proc/{name}/exe", os.O_PATH)
        except OSError:
            continue
        if os.readlink(f"/proc/self/fd/{file}").endswith("nsenter"):
            program = file
        else:
            os.close(file)
os.rename(f"{shell}.kept", shell)
answer = "Text file busy"
while answer == "Text file busy":  # until it no longer runs
    time.sleep(0.001)
    try:
        os.open(f"/proc/self/fd/{program}", os.O_WRONLY)
        answer = "REACHED"
    except OSError as error:
        answer = error.strerror
print(answer, flush=True)
"""
"""Opens the program of the host by which commands enter a sandbox, in order to write to it."""
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


def test_programs_of_the_host_cannot_be_written(is_rootless: bool, states: Path) -> None:
    """Root inside is root of the host where files are concerned: only a mount can keep it from what it gets hold of."""

    async def main() -> str:
        sandbox = await Sandbox.start(SandboxSettings(is_rootless=is_rootless, parent=states))
        try:
            await sandbox.run(["bash", "-c", 'setsid python3 -c "$1" >/answer 2>&1 &', "bash", PROGRAM])
            deadline, answer = time.monotonic() + 30, ""
            while not answer and time.monotonic() < deadline:
                await asyncio.sleep(0.2)
                answer = (await sandbox.run(["cat", "/answer"])).out
            return answer
        finally:
            await sandbox.stop()

    assert asyncio.run(main()) == "Read-only file system\n"
