"""Starts, enters and stops a sandbox: processes of this machine in namespaces of their own, over a root of their own.

    setpriv → unshare → init.sh (its first process, which then only waits for us to end)
    nsenter (to `unshare`) → nsenter (to the first process) → sh → the command

Nothing passes from one sandbox to another, or between one and this machine, but what is put in and got out here: files
that are written, processes, shared memory, host name, environment variables; and with `has_network` off, ports. It is
no security boundary."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Self

import msgspec
from msgspec import Struct

from dense.errors import DenseError
from refit.harness.sandbox.command import CommandResult, run
from refit.harness.sandbox.state_folder import StateFolder, sweep
from refit.harness.sandbox.transfer import Member, pack, receive
from refit.harness.sandbox.visible_paths import mount_words

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The search path inside, and that of our own tools outside: a Python of ours must not be found first."""
TOOLS = ("setpriv", "unshare", "nsenter", "mount", "umount", "pivot_root", "tar", "bash")
"""What it takes; all but the last two are of util-linux."""
_INIT = Path(__file__).with_name("init.sh").read_text(encoding="utf-8")
"""A text, not a file: whoever the sandbox runs as need not be allowed to read where we are installed."""
_SECONDS_TO_START = 30
_SECONDS_TO_END = 2
_SECONDS_TO_MOVE = 600
_LOCK_PROGRAM = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
_AS_USER = """
cd -- "$1" 2>/dev/null || cd -- "$2" || exit 126
user=${3%%:*} group=${3#*:}; [ "$group" != "$3" ] || group=
unset OLDPWD
shift 3
if entry=$(getent passwd "$user"); then
    IFS=: read -r name _ user primary _ home _ <<END
$entry
END
    export HOME="${HOME:-$home}" USER="$name" LOGNAME="$name"
    exec setpriv --reuid="$user" --regid="${group:-$primary}" --init-groups -- "$@"
fi
case $user in *[!0-9]*) echo "sandbox: there is no user $user" >&2; exit 126 ;; esac
export HOME="${HOME:-/}"
exec setpriv --reuid="$user" --regid="${group:-0}" --clear-groups -- "$@"
"""
_AS_ROOT = 'cd -- "$1" 2>/dev/null || cd -- "$2" || exit 126; unset OLDPWD; shift 2; exec "$@"'
_PUT = 'mkdir -p -- "$1" && exec tar -xf - --no-overwrite-dir $2 -C "$1"'
_ROOT = frozenset({"", "root", "0", "root:root", "0:0"})


class SandboxSettings(Struct, frozen=True):
    """How a sandbox is made."""

    is_rootless: bool | None = None
    """Whether by a user namespace, for which one need not be root; None: unless we are root. It has one user only."""
    has_network: bool = False
    """Whether it shares this machine's network; otherwise it has its own loopback and nothing else."""
    hidden: tuple[Path, ...] = ()
    """What must not show besides what never does: home folders, our package, its Python, the working folder."""
    shown: tuple[Path, ...] = ()
    """Folders of this machine that show besides the system's, such as one in /opt; what is written stays inside."""
    parent: Path | None = None
    """Where its state is kept; None for the folder of temporary files."""

    @property
    def rootless(self) -> bool:
        """`is_rootless`, decided."""
        return os.geteuid() != 0 if self.is_rootless is None else self.is_rootless


class SandboxNotStarted(DenseError):
    """A sandbox did not start."""

    def __init__(self, stage: str, said: str) -> None:
        super().__init__(f"the sandbox did not start ({stage}): {said or 'no reason given'}")
        self.stage = stage
        """How far `init.sh` came; `unshare` where it never ran."""
        self.said = said
        """What the tools said."""


class Sandbox:
    """A running sandbox. Its first process, and with it all others, ends when we do, however that happens."""

    def __init__(
        self, settings: SandboxSettings, state: StateFolder, holder: asyncio.subprocess.Process, ready: list[str]
    ) -> None:
        self.settings = settings
        self.store = ready[1]
        """`disk` or `memory`: where what is written goes."""
        self._state = state
        self._holder = holder
        self._pid = ready[0]
        self._open_outputs: list[asyncio.BaseTransport] = []

    @classmethod
    async def start(cls, settings: SandboxSettings) -> Self:
        """A fresh one. What a killed owner left is swept first."""
        await asyncio.to_thread(sweep, settings.parent)
        state = await asyncio.to_thread(StateFolder, settings.parent)
        try:
            holder = await _held(settings, state.folder)
            try:
                ready = await _ready(holder, state.folder)
                if not settings.rootless:
                    _map_users(ready[0])
                await _limit(holder, settings, ready[0])
            except BaseException:
                await _end(holder)
                raise
        except BaseException:
            await asyncio.to_thread(state.remove)
            raise
        return cls(settings, state, holder, ready)

    async def run(
        self,
        command: list[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        otherwise: str | None = None,
        user: str = "",
        timeout: float | None = None,
        is_build: bool = False,
    ) -> CommandResult:
        """Runs a command inside, in a folder of it (or in another, if that is gone) and as a user of it. Of variables
        it sees `PATH`, `HOME`, `LANG` and those that are given. `TimeoutError` when it takes longer. Building has this
        machine's network, as with Docker."""
        is_root = user in _ROOT
        variables = {"PATH": PATH, "LANG": "C.UTF-8", **({"HOME": "/root"} if is_root else {}), **(env or {})}
        # The loader would take these to heart in `nsenter` already, outside.
        late = [f"{name}={value}" for name, value in variables.items() if name.startswith(("LD_", "GLIBC_"))]
        early = {name: value for name, value in variables.items() if not name.startswith(("LD_", "GLIBC_"))}
        if not is_root and self.settings.rootless:
            raise DenseError(
                f"user {user}: a rootless sandbox has no user but root; run dense as root, or use Docker for this task"
            )
        words = [*self._enter(is_build=is_build), "/bin/sh", "-c", _AS_ROOT if is_root else _AS_USER, "sh"]
        words += [cwd, otherwise or cwd, *([] if is_root else [user]), *(["env", *late] if late else []), *command]
        done, open_outputs = await run(words, early, timeout)
        self._open_outputs += open_outputs
        return done

    async def put(self, members: Iterable[Member], folder: str) -> None:
        """Members into a folder of it, which is made where it is missing."""
        # One user cannot give files away.
        owners = "--no-same-owner" if self.settings.rootless else "--same-owner"
        command = ["/bin/sh", "-c", _PUT, "sh", folder, owners]
        with self._archive() as archive:
            try:
                await asyncio.to_thread(pack, members, archive)
            except (OSError, ValueError) as error:
                raise DenseError(f"{folder}: nothing could be put there: {error}") from None
            archive.seek(0)
            await self._move(command, f"{folder}: nothing could be put there", stdin=archive)

    async def put_file(self, file: Member, path: str) -> None:
        """A file to a path of it, or under its own name into the folder at that path, as `docker cp` does."""
        is_folder = path.endswith("/") or not (await self.run(["test", "-d", path])).code
        target = PurePosixPath(path, file.name) if is_folder else PurePosixPath(path)
        await self.put([msgspec.structs.replace(file, name=target.name)], str(target.parent))

    async def get(self, path: str, target: Path) -> list[str]:
        """What is in a folder of it, into a folder here; the names of entries that could not be taken over."""
        return await self._get(["-C", path, "."], path, target, is_file=False)

    async def get_file(self, path: str, target: Path) -> None:
        """A file of it, or what a link to one leads to, as a file here."""
        inside = PurePosixPath(path)
        await self._get(["--dereference", "-C", str(inside.parent), f"./{inside.name}"], path, target, is_file=True)

    async def stop(self) -> None:
        """Ends everything in it, and removes what it kept."""
        await asyncio.shield(self._stop())

    async def _stop(self) -> None:
        for transport in self._open_outputs:
            transport.close()
        self._open_outputs.clear()
        await _end(self._holder, int(self._pid))
        await asyncio.to_thread(self._state.remove)

    def _enter(self, *, is_build: bool = False) -> list[str]:
        if self._holder.returncode is not None:
            raise DenseError("the sandbox has ended; something on this machine has killed it")
        command = _into_user_namespace(self._holder, self.settings, self._pid)
        network = [] if self.settings.has_network or is_build else ["--net"]
        return [*command, "--mount", "--pid", "--uts", "--ipc", *network, "--"]

    async def _get(self, options: list[str], path: str, target: Path, *, is_file: bool) -> list[str]:
        with self._archive() as archive:
            await self._move(["tar", "--create", "--file=-", "--sparse", *options], path, stdout=archive)
            archive.seek(0)
            try:
                return await asyncio.to_thread(receive, archive, target, is_file=is_file)
            except DenseError as error:
                raise DenseError(f"{path}: {error}") from None

    def _archive(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self._state.folder)

    async def _move(
        self, command: list[str], what: str, *, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
    ) -> None:
        """Runs `tar` inside, from or to an archive."""
        env = {"PATH": PATH, "LANG": "C.UTF-8"}
        try:
            done, _ = await run([*self._enter(), *command], env, _SECONDS_TO_MOVE, stdin=stdin, stdout=stdout)
        except TimeoutError:
            raise DenseError(f"{what}: took longer than {_SECONDS_TO_MOVE} seconds") from None
        # Packing, 1 is a file that changed while it was read.
        if done.code not in ({0, 1} if stdout else {0}):
            raise DenseError(f"{what}: {(done.err.splitlines() or [f'tar ended with {done.code}'])[0]}")


def missing() -> list[str]:
    """The tools that this machine lacks."""
    return [name for name in TOOLS if shutil.which(name, path=PATH) is None]


def _tool(name: str) -> str:
    tool = shutil.which(name, path=PATH)
    if tool is None:
        raise SandboxNotStarted("tools", f"{name} is not on this machine")
    return tool


def _into_user_namespace(holder: asyncio.subprocess.Process, settings: SandboxSettings, pid: str) -> list[str]:
    """`nsenter` into a sandbox, by way of its holder's mounts, in which `nsenter` is read-only: for a moment it is a
    process inside, and through `/proc/PID/exe` root inside would otherwise write to this machine's program. Whoever is
    not root also enters one user namespace after the other."""
    nsenter = [_tool("nsenter"), "--preserve-credentials", "--target"]
    outer = ["--mount", "--user"] if settings.rootless else ["--mount"]
    return [*nsenter, str(holder.pid), *outer, "--", *nsenter, pid, "--user"]


def _map_users(pid: str) -> None:
    """Gives the sandbox's user namespace all users that we have: each is itself inside."""
    for name in ("uid_map", "gid_map"):
        ours = [line.split() for line in Path("/proc/self", name).read_text().splitlines()]
        Path("/proc", pid, name).write_text("".join(f"{first} {first} {count}\n" for first, _, count in ours))


async def _limit(holder: asyncio.subprocess.Process, settings: SandboxSettings, pid: str) -> None:
    """Forbids control group namespaces inside: with one, root could mount this machine's groups and change them."""
    forbid = "file=/proc/sys/user/max_cgroup_namespaces; [ ! -e $file ] || echo 0 >$file"
    command = [*_into_user_namespace(holder, settings, pid), "--", "/bin/sh", "-c", forbid]
    done, _ = await run(command, {"PATH": PATH})
    if done.code:
        raise SandboxNotStarted("limits", done.err.strip())


async def _held(settings: SandboxSettings, folder: Path) -> asyncio.subprocess.Process:
    """The process whose child is the sandbox's first. It dies with us, and its child with it; and the child also ends
    when its standard input does, which holds where we were dead before we could ask for the former."""
    command = [_tool("setpriv"), "--pdeathsig=KILL", _tool("unshare")]
    command += ["--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--propagation=private"]
    if settings.rootless:
        command += ["--user", "--map-root-user"]
    if not settings.has_network:
        command.append("--net")
    mode, network = "rootless" if settings.rootless else "root", "host" if settings.has_network else "none"
    command += ["/bin/sh", "-c", _LOCK_PROGRAM, _tool("nsenter"), _tool("unshare"), "--mount"]
    view = mount_words(hidden=(*settings.hidden, folder.parent), shown=settings.shown)
    with (folder / "init.log").open("wb") as log:
        return await asyncio.create_subprocess_exec(
            *[*command, "/bin/sh", "-c", _INIT, "sandbox", str(folder), mode, network, *view],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env={"PATH": PATH},
            cwd="/",
            start_new_session=True,
        )


async def _ready(holder: asyncio.subprocess.Process, folder: Path) -> list[str]:
    answer = echoed = b""
    if holder.stdin is not None and holder.stdout is not None:
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(_SECONDS_TO_START):
                holder.stdin.write(b"ready\n")
                answer, echoed = await holder.stdout.readline(), await holder.stdout.readline()
    if echoed == b"ready\n":
        return answer.decode().split()
    said = (folder / "init.log").read_text(errors="replace").strip().splitlines()
    stages = [entry.removeprefix("stage: ") for entry in said if entry.startswith("stage: ")]
    reasons = [entry for entry in said if not entry.startswith("stage: ")]
    raise SandboxNotStarted(stages[-1] if stages else "unshare", "; ".join(reasons))


async def _end(holder: asyncio.subprocess.Process, first: int | None = None) -> None:
    """Ends a sandbox. Its holder ends by itself once the first process, and with it every other, is gone: only then is
    nobody left who writes files. One that does not is killed."""
    if holder.stdin is not None:
        holder.stdin.close()
    for process in [holder.pid] if first is None else [first, holder.pid]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0 if first is None else _SECONDS_TO_END):
                await holder.wait()
        if holder.returncode is not None:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    await holder.wait()
