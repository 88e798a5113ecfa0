"""Whether this machine can make sandboxes: by making one. If it cannot, what prevents it and what to do."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from dense.errors import DenseError
from refit.harness.sandbox.namespaces import Sandbox, SandboxNotStarted, SandboxSettings, missing

_PACKAGES = {"tar": "tar", "bash": "bash"}
_LOCKS = {
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=15000"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
"""Switches of the kernel that forbid user namespaces, the value that does, and what root does about it."""
_OTHERWISE = "or use `environment: docker`"


class SandboxSupport(Struct, frozen=True):
    """What sandboxes are like on this machine."""

    is_rootless: bool
    """Whether they have one user only."""
    store: str
    """`disk` or `memory`: where what is written in them goes."""


async def preflight(needs: Sequence[str] = (), settings: SandboxSettings | None = None) -> SandboxSupport:
    """Tries a sandbox once and looks for commands in it. A `DenseError` says why there can be none."""
    settings = settings or SandboxSettings()
    if not sys.platform.startswith("linux"):
        raise DenseError(f"the sandbox needs Linux, and this is {sys.platform}; use `environment: docker`")
    if lacking := missing():
        packages = sorted({_PACKAGES.get(name, "util-linux") for name in lacking})
        raise DenseError(
            f"the sandbox needs {', '.join(lacking)}, not found on this machine: install {' and '.join(packages)}, "
            f"{_OTHERWISE}"
        )
    try:
        sandbox = await Sandbox.start(settings)
    except SandboxNotStarted as error:
        raise DenseError(f"{error}\n{await _advice(error, settings)}") from None
    try:
        await _try(sandbox, needs)
    finally:
        await sandbox.stop()
    return SandboxSupport(settings.rootless, sandbox.store)


def preflight_now(needs: Sequence[str] = (), settings: SandboxSettings | None = None) -> SandboxSupport:
    """`preflight` for callers that are not asynchronous, or whose caller is."""
    with ThreadPoolExecutor(1, "sandbox preflight") as thread:
        return thread.submit(asyncio.run, preflight(needs, settings)).result()


async def _try(sandbox: Sandbox, needs: Sequence[str]) -> None:
    done = await sandbox.run(["bash", "-c", "true"])
    if done.code:
        raise DenseError(
            f"commands cannot run in the sandbox: {done.err.strip() or done.code}; use `environment: docker`"
        )
    search = 'for name; do command -v -- "$name" >/dev/null || echo "$name"; done'
    lacking = (await sandbox.run(["bash", "-c", search, "bash", *needs])).out.split()
    if lacking:
        raise DenseError(
            f"{', '.join(lacking)} cannot be found in the sandbox, which shows this machine's /usr and no home folder: "
            f"install {', '.join(lacking)} with this machine's package manager, {_OTHERWISE}"
        )


async def _advice(error: SandboxNotStarted, settings: SandboxSettings) -> str:
    match error.stage:
        case "unshare" | "propagation":
            return await _advice_on_namespaces(settings)
        case "overlay":
            older = ": in a user namespace that takes Linux 5.11 or later. Run dense as root"
            return (
                f"The kernel does not lay a file system over another one here{older if settings.rootless else ''}. "
                f"Set TMPDIR to a folder on a local disk (ext4, xfs, btrfs, tmpfs), {_OTHERWISE}."
            )
        case "proc" | "limits":
            return (
                "Mounting or writing /proc is forbidden, as it is inside most containers. Run dense outside of the "
                f"container, start the container with --privileged, {_OTHERWISE}."
            )
        case "network":
            return f"The sandbox's loopback cannot be set up: install iproute2, {_OTHERWISE}."
        case _:
            return f"Run dense as root if this is another user's machine, {_OTHERWISE}."


async def _advice_on_namespaces(settings: SandboxSettings) -> str:
    closed = [what for path, (value, what) in _LOCKS.items() if _read(path) == value]
    if closed:
        return f"The kernel forbids user namespaces. As root: {'; '.join(closed)}, {_OTHERWISE}."
    if settings.rootless:
        return f"This user may not make namespaces, as inside most containers: run dense as root outside, {_OTHERWISE}."
    try:
        await (await Sandbox.start(msgspec.structs.replace(settings, is_rootless=True))).stop()
    except SandboxNotStarted:
        return f"This root may not make namespaces, as in most containers: start it with --privileged, {_OTHERWISE}."
    return "This root may not make namespaces, but a rootless sandbox works: set its option `rootless: true`."


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
