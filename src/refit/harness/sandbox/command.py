"""Runs one command to its end and keeps what it said.

A command is over when its own process is, not when the last of its children has closed the output: a server that was
started in the background would keep it open for good. What the child says later is read and dropped, so that it does
not die of a broken pipe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, override

from msgspec import Struct

from dense.errors import DenseError

MAX_OUTPUT_BYTES = 32 * 1024 * 1024
"""Bytes that are kept of each of a command's outputs: the first half and the last."""
_AFTER = 0.2
"""Seconds in which the output of a command that has ended is waited for."""


class CommandResult(Struct, frozen=True):
    """What came of a command."""

    code: int
    """Its exit code; 128 and the signal's number where one ended it."""
    out: str
    """Standard output."""
    err: str
    """Standard error."""


class CapturedOutput(asyncio.Protocol):
    """One output of a command. Keeps its beginning and its end within `MAX_OUTPUT_BYTES`."""

    def __init__(self) -> None:
        self.closed = asyncio.get_running_loop().create_future()
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._is_over = False

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        room = max(0, MAX_OUTPUT_BYTES // 2 - len(self._head))
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > MAX_OUTPUT_BYTES:
            self._cut()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def text(self) -> str:
        """What was kept; nothing is kept from here on."""
        self._is_over = True
        self._cut()
        note = f"\n[{self._dropped} bytes left out]\n".encode() if self._dropped else b""
        return (self._head + note + self._tail).decode(errors="replace")

    def _cut(self) -> None:
        extra = len(self._tail) - MAX_OUTPUT_BYTES // 2
        if extra > 0:
            del self._tail[:extra]
            self._dropped += extra


async def run(
    command: list[str],
    env: Mapping[str, str],
    timeout: float | None = None,
    *,
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
) -> tuple[CommandResult, list[asyncio.BaseTransport]]:
    """Runs a command; standard input is empty and standard output kept, unless a file takes its place. Also gives the
    outputs that its children still hold open, to be closed when those are to end.

    Raises `TimeoutError` when it takes longer; it, and everything of its session, has been killed then, as it has when
    this is cancelled."""
    process, outputs = await _started(command, env, stdin, stdout)
    captured = [protocol for _, protocol in outputs]
    try:
        async with asyncio.timeout(timeout):
            code = await process.wait()
    except BaseException:
        await asyncio.shield(end_session(process.pid, asyncio.ensure_future(process.wait())))
        for transport, _ in outputs:
            transport.close()
        raise
    await asyncio.wait([protocol.closed for protocol in captured], timeout=_AFTER)
    out, err = (protocol.text() for protocol in captured)
    left: list[asyncio.BaseTransport] = [transport for transport, protocol in outputs if not protocol.closed.done()]
    return CommandResult(code if code >= 0 else 128 - code, out, err), left


async def _started(
    command: list[str], env: Mapping[str, str], stdin: IO[bytes] | None, stdout: IO[bytes] | None
) -> tuple[asyncio.subprocess.Process, list[tuple[asyncio.ReadTransport, CapturedOutput]]]:
    """The outputs are pipes of our own, because asyncio takes a process for running until its pipes are closed."""
    loop = asyncio.get_running_loop()
    pipes = [os.pipe(), os.pipe()]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=env,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else stdin,
            stdout=pipes[0][1] if stdout is None else stdout,
            stderr=pipes[1][1],
            start_new_session=True,
        )
    except BaseException as error:
        for our_end, _ in pipes:
            os.close(our_end)
        if isinstance(error, OSError):
            longest = max(map(len, command))
            raise DenseError(f"the command cannot be started: {error.strerror} ({longest} characters)") from None
        raise
    finally:
        for _, their_end in pipes:
            os.close(their_end)
    our_ends = [os.fdopen(our_end, "rb", 0) for our_end, _ in pipes]
    return process, [await loop.connect_read_pipe(CapturedOutput, our_end) for our_end in our_ends]


async def end_session(leader: int, ended: asyncio.Future[Any]) -> None:
    """Kills every process of a session, and waits for its leader. Process groups are not enough: `timeout` and shells
    with jobs make their own. The leader is `nsenter`, outside; it collects its child inside, then ends by itself."""
    for _ in range(20):
        members = [pid for pid in _members(leader) if pid != leader]
        if not members:
            break
        _kill(members)
    await asyncio.wait([ended], timeout=1)
    if not ended.done():
        _kill([leader])
    await asyncio.wait([ended])


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _members(session: int) -> list[int]:
    members: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session_of_process = stat.read_text().rpartition(")")[2].split()[:4]
            if int(session_of_process) == session and state != "Z":
                members.append(int(stat.parent.name))
    return members
