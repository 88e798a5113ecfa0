"""Real sandboxes, as root and rootless: what passes in, out and between them, and what does not.

Measured on two cores, others running: a start 0.15–0.33 s, a command 7–15 ms, a stop 0.02–0.3 s."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness.sandbox import Sandbox, SandboxSettings
from refit.harness.sandbox.namespaces import SandboxNotStarted

type InSandbox = Callable[[Callable[[Sandbox], Awaitable[None]]], None]


async def said(sandbox: Sandbox, script: str, **options: object) -> str:
    done = await sandbox.run(["bash", "-c", script], **options)  # pyright: ignore[reportArgumentType]
    assert done.code == 0, done
    return done.out


def test_the_host_is_hidden(in_sandbox: InSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret-of-the-host")
    homes = [Path.home(), Path("/home")]
    repository = Path(__file__).parents[4]

    async def check(sandbox: Sandbox) -> None:
        for folder in [*homes, Path(sys.prefix), Path(sys.base_prefix), repository, Path.cwd()]:
            found = await said(sandbox, f"ls -A {folder} 2>/dev/null | wc -l")
            assert found.strip() == "0", folder
        names = (await said(sandbox, "env | cut -d= -f1 | sort")).split()
        assert names == ["HOME", "LANG", "PATH", "PWD", "SHLVL", "_"]
        assert "sk-secret" not in await said(sandbox, "cat /proc/*/environ | tr '\\0' '\\n'")
        assert await said(sandbox, "ls -A /tmp /var/tmp /dev/shm /root /home") == (
            "/dev/shm:\n\n/home:\n\n/root:\n\n/tmp:\n\n/var/tmp:\n"
        )
        assert (await said(sandbox, "hostname; cat /etc/hostname")).split() == ["sandbox", "sandbox"]
        assert set((await said(sandbox, "ls /")).split()) <= set(
            "bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys tmp usr var".split()
        )
        assert await said(sandbox, "ls -A /opt /srv /mnt") == "/mnt:\n\n/opt:\n\n/srv:\n"
        assert await said(sandbox, "grep -cv '^[^:]*:[*]:' /etc/shadow 2>/dev/null || true") in {"0\n", ""}
        assert (await sandbox.run(["bash", "-c", "echo 1 > /proc/sys/vm/drop_caches"])).code != 0

    in_sandbox(check)


def test_only_its_own_processes_show_and_none_is_left_unburied(in_sandbox: InSandbox) -> None:
    async def check(sandbox: Sandbox) -> None:
        processes = await said(sandbox, "ps -eo pid,args --no-headers")
        assert len(processes.splitlines()) == 2, processes
        assert processes.split()[:2] == ["1", "cat"]
        await said(sandbox, "for i in 1 2 3; do (true &) ; done; (setsid sleep 0.05 &)")
        await asyncio.sleep(0.15)
        assert "Z" not in await said(sandbox, "ps -eo stat --no-headers")
        await said(sandbox, "kill -9 1; true")
        assert await said(sandbox, "echo alive") == "alive\n"

    in_sandbox(check)


def test_the_system_works(in_sandbox: InSandbox) -> None:
    async def check(sandbox: Sandbox) -> None:
        assert await said(sandbox, "python3 -c 'print(6 * 7)'") == "42\n"
        assert (await said(sandbox, "mkdir /app && cd /app && git init -q . && ls -A")).split() == [".git"]
        assert await said(sandbox, "echo x | tee /dev/stderr > /dev/stdout") == "x\n"
        await said(sandbox, "tmux new-session -d -s t && tmux send-keys -t t 'echo $((40+2))' Enter")
        for _ in range(50):
            await asyncio.sleep(0.1)
            screen = await said(sandbox, "tmux capture-pane -pt t")
            if "42" in screen.split():
                return
        pytest.fail("nothing came of what was typed")

    in_sandbox(check)


def test_nothing_passes_from_one_to_another(states: Path, is_rootless: bool) -> None:
    async def main() -> None:
        settings = SandboxSettings(is_rootless=is_rootless, parent=states)
        first, second = await asyncio.gather(Sandbox.start(settings), Sandbox.start(settings))
        leave = (
            "touch /tmp/mark /var/tmp/mark /dev/shm/mark ~/mark /mark; mkdir -p /app; touch /app/mark;"
            "(setsid python3 -m http.server --bind 127.0.0.1 8765 >/dev/null 2>&1 &); ipcmk -M 64 >/dev/null;"
            "hostname changed; (exec -a marked-process sleep 60 >/dev/null 2>&1 &)"
            "; touch /usr/mark /etc/mark 2>/dev/null; sleep 0.3; echo done"
        )
        look = (
            "find / -xdev -name mark 2>/dev/null; ls /dev/shm/mark /usr/mark /etc/mark 2>/dev/null;"
            "ps -eo args | grep [m]arked;"
            "hostname; ipcs -m | grep -c 0x; (exec 3<>/dev/tcp/127.0.0.1/8765) 2>/dev/null && echo reached; true"
        )
        try:
            assert "done" in await said(first, leave)
            assert await said(second, look) == "sandbox\n0\n"
        finally:
            await first.stop()
        third = await Sandbox.start(settings)
        try:
            assert await said(third, look) == "sandbox\n0\n"
        finally:
            await asyncio.gather(second.stop(), third.stop())
        for path in ("/usr/mark", "/etc/mark", "/mark", "/app/mark", "/tmp/mark", "/dev/shm/mark"):
            assert not Path(path).exists()
        assert socket.gethostname() != "changed"

    asyncio.run(main())


@pytest.mark.parametrize("has_network", [False, True])
def test_network(states: Path, is_rootless: bool, has_network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        async def main() -> None:
            sandbox = await Sandbox.start(
                SandboxSettings(is_rootless=is_rootless, has_network=has_network, parent=states)
            )
            reach = ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"]
            try:
                assert ((await sandbox.run(reach)).code == 0) is has_network
                assert (await sandbox.run(reach, is_build=True)).code == 0, "a build has the network, as with Docker"
                assert (await said(sandbox, "cat /proc/net/dev")).count(":") >= 1
            finally:
                await sandbox.stop()

        asyncio.run(main())


def test_a_time_out_kills_what_the_command_started(in_sandbox: InSandbox) -> None:
    async def check(sandbox: Sandbox) -> None:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await sandbox.run(["bash", "-c", "timeout 50 sleep 51 & sleep 52 & sleep 53"], timeout=0.3)
        assert time.monotonic() - began < 40
        assert "sleep" not in await said(sandbox, "ps -eo args")

    in_sandbox(check)


def test_a_cancelled_command_is_killed(in_one: InSandbox) -> None:
    async def check(sandbox: Sandbox) -> None:
        running = asyncio.create_task(sandbox.run(["sleep", "50"]))
        await asyncio.sleep(0.2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert "sleep" not in await said(sandbox, "ps -eo args")

    in_one(check)


def test_a_background_process_neither_holds_up_nor_dies(in_sandbox: InSandbox) -> None:
    async def check(sandbox: Sandbox) -> None:
        began = time.monotonic()
        script = "(while sleep 0.05; do echo noise; done) & echo started; echo bad >&2; exit 3"
        done = await sandbox.run(["bash", "-c", script])
        assert (done.code, done.out.split()[0], done.err) == (3, "started", "bad\n")
        assert time.monotonic() - began < 40
        await asyncio.sleep(0.3)
        assert "while" in await said(sandbox, "ps -eo args")

    in_sandbox(check)


def test_codes_folders_variables(in_one: InSandbox) -> None:
    async def check(sandbox: Sandbox) -> None:
        assert (await sandbox.run(["bash", "-c", "kill -TERM $$"])).code == 128 + 15
        assert (await sandbox.run(["no-such-command"])).code == 127
        gone = await sandbox.run(["pwd"], cwd="/gone")
        assert gone.code == 126
        assert "/gone" in gone.err
        assert (await sandbox.run(["pwd"], cwd="/gone", otherwise="/usr")).out == "/usr\n"
        env = {"A": "a b\n'c", "LD_PRELOAD": "", "PATH": "/usr/bin:/bin"}
        assert await said(sandbox, 'echo "$A|${LD_PRELOAD-unset}|$PATH"', env=env) == "a b\n'c||/usr/bin:/bin\n"
        with pytest.raises(DenseError, match="cannot be started: Argument list too long"):
            await sandbox.run(["echo", "x" * 200_000])
        long = await sandbox.run(["bash", "-c", "head -c 50000000 /dev/zero | tr '\\0' x; echo end"])
        assert len(long.out) < 34_000_000
        assert "bytes left out]" in long.out
        assert long.out.endswith("xend\n")

    in_one(check)


def test_users(in_sandbox: InSandbox, is_rootless: bool) -> None:
    async def check(sandbox: Sandbox) -> None:
        if is_rootless:
            with pytest.raises(DenseError, match=r"nobody.*rootless.*run dense as root"):
                await sandbox.run(["id"], user="nobody")
            return
        await said(sandbox, "useradd -m -s /bin/bash tester && passwd -S tester")
        assert (await said(sandbox, "id -un; echo $HOME $USER; id -Gn", user="tester")).split() == [
            *("tester", "/home/tester", "tester", "tester"),
        ]
        assert (await said(sandbox, "id -u; id -g", user="4321")).split() == ["4321", "0"]
        assert (await said(sandbox, "id -u; id -g", user="4321:99")).split() == ["4321", "99"]
        nobody = await sandbox.run(["id"], user="not-there")
        assert (nobody.code, nobody.err) == (126, "sandbox: there is no user not-there\n")

    in_sandbox(check)


def test_a_shown_folder_takes_no_writes_and_a_hidden_one_shows_nothing(
    states: Path, is_rootless: bool, tmp_path: Path
) -> None:
    shown = tmp_path / "shown"
    (shown / "private").mkdir(parents=True)
    (shown / "tool").write_text("real")
    (shown / "private" / "answer").write_text("42")

    async def main() -> None:
        settings = SandboxSettings(is_rootless=is_rootless, parent=states, shown=(shown,), hidden=(shown / "private",))
        sandbox = await Sandbox.start(settings)
        try:
            assert (
                await said(sandbox, f"cd {shown}; cat tool; ls private; echo changed > tool; cat tool")
                == "realchanged\n"
            )
        finally:
            await sandbox.stop()

    asyncio.run(main())
    assert (shown / "tool").read_text() == "real"


def test_memory_where_the_disk_cannot(able: None, tmp_path: Path) -> None:
    """On an overlay no overlay's changes can be kept: as in a container, whose /tmp is one."""
    if os.geteuid() != 0:
        pytest.skip("it takes root to make an overlay for the test")
    script = (
        "import asyncio, sys; from pathlib import Path; from refit.harness.sandbox import Sandbox, SandboxSettings\n"
        "async def main():\n"
        "    sandbox = await Sandbox.start(SandboxSettings(parent=Path(sys.argv[1])))\n"
        "    done = await sandbox.run(['bash', '-c', 'touch /usr/mark /app; ls /usr/mark /app'])\n"
        "    await sandbox.stop()\n"
        "    print(sandbox.store, done.out.split(), list(Path(sys.argv[1]).iterdir()))\n"
        "asyncio.run(main())\n"
    )
    for name in ("lower", "upper", "work", "top"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    mounted = f'mount -t overlay overlay -o "{options}" "{tmp_path}/top" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mounted, "sh", sys.executable, "-c", script, str(tmp_path / "top")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "memory ['/app', '/usr/mark'] []\n"


def test_file_systems_within_the_system_show(able: None, tmp_path: Path) -> None:
    """Such as a /usr/local on a disk of its own; what is written over them stays inside as well."""
    if os.geteuid() != 0:
        pytest.skip("it takes root to mount one for the test")
    script = (
        "import asyncio, sys; from pathlib import Path; from refit.harness.sandbox import Sandbox, SandboxSettings\n"
        "async def main():\n"
        "    sandbox = await Sandbox.start(SandboxSettings(parent=Path(sys.argv[1])))\n"
        "    done = await sandbox.run(['bash', '-c', 'cd /usr/local/share; ls; cat /etc/resolv.conf; echo > file'])\n"
        "    await sandbox.stop()\n"
        "    print(done.out, Path('/usr/local/share/file').read_text())\n"
        "asyncio.run(main())\n"
    )
    (tmp_path / "resolv.conf").write_text("nameserver 192.0.2.1\n")
    mounted = (
        'mount -t tmpfs tmpfs /usr/local/share; mount --bind "$1" /etc/resolv.conf; echo old >/usr/local/share/file'
    )
    within = ["unshare", "--mount", "sh", "-c", f'{mounted}; shift; exec "$@"', "sh", str(tmp_path / "resolv.conf")]
    command = [*within, sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "file\nnameserver 192.0.2.1\n old\n\n"


def test_what_it_says_when_it_cannot_start(able: None, states: Path, tmp_path: Path) -> None:
    missing = tmp_path / "not-there"
    with pytest.raises(DenseError, match="not-there cannot be shown"):
        asyncio.run(Sandbox.start(SandboxSettings(parent=states, shown=(missing,))))
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(DenseError, match="no folder can be made here"):
        asyncio.run(Sandbox.start(SandboxSettings(parent=file)))
    assert issubclass(SandboxNotStarted, DenseError)


def test_a_stopped_one_says_so(able: None, states: Path) -> None:
    async def main() -> None:
        sandbox = await Sandbox.start(SandboxSettings(parent=states))
        await sandbox.stop()
        await sandbox.stop()
        with pytest.raises(DenseError, match="has ended"):
            await sandbox.run(["true"])

    asyncio.run(main())
