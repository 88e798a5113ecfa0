"""Recipients' own model servers: started before the first attempt, ended after the last, or when we are killed."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import override

from dense.errors import DenseError
from refit.harness import supervisor
from refit.harness.harness import Recipient

HOST = "127.0.0.1"
START_SECONDS = 60.0
"""Seconds until a server must accept connections: a model may have to be loaded."""
MAX_STARTS = 3
"""How many ports are tried: between our finding one free and the server's taking it, somebody else may."""
MAX_LOG_LINES = 2000
"""Characters of a server's log that are shown where it does not start, or ends."""


@asynccontextmanager
async def run_servers(
    recipients: Iterable[Recipient], folder: Path, *, patience: float = START_SECONDS
) -> AsyncGenerator[RunningServers]:
    """Runs the servers that recipients name; the address of each, by recipient. Their logs go to `folder`."""
    servers = [_Server(recipient, folder) for recipient in recipients if recipient.server]
    try:
        try:
            async with asyncio.TaskGroup() as group:
                starting = {server.recipient.name: group.create_task(server.up(patience)) for server in servers}
        except* DenseError as errors:
            raise errors.exceptions[0] from None
        yield RunningServers({name: start.result() for name, start in starting.items()}, servers)
    finally:
        await asyncio.gather(*(server.down() for server in servers))


class RunningServers(Mapping[str, str]):
    """The addresses of servers that run, by recipient."""

    def __init__(self, addresses: Mapping[str, str], servers: Sequence[_Server]) -> None:
        self._addresses, self._servers = addresses, servers

    def check(self) -> None:
        """Raise a `DenseError` if one of them has ended: nothing starts it again."""
        for server in self._servers:
            server.check()

    @override
    def __getitem__(self, name: str) -> str:
        return self._addresses[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._addresses)

    @override
    def __len__(self) -> int:
        return len(self._addresses)


class _Server:
    """One server with its log."""

    def __init__(self, recipient: Recipient, folder: Path) -> None:
        self.recipient = recipient
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", recipient.name)
        self.log, self.record = folder / f"server-{name}.log", folder / f"server-{name}.pid"
        self.process: Process | None = None
        self.start = 0
        """Where its part of the log begins."""
        if not any("{port}" in word for word in recipient.server):
            raise DenseError(f"recipient {recipient.name!r}: server: nothing in the command takes the `{{port}}`")

    async def up(self, patience: float) -> str:
        """Starts it and waits until it accepts connections; its address."""
        for last in range(MAX_STARTS - 1, -1, -1):
            port = _free_port()
            await self._start(port)
            if await self._answers(port, patience):
                return f"http://{HOST}:{port}"
            await self.down()
            log = self._log_tail()
            if last == 0 or "already in use" not in log.lower():
                raise DenseError(f"{self._complaint(patience)}\n{log}")
        raise AssertionError("the last try returns or raises")

    def check(self) -> None:
        """Whether it still runs, if it was started."""
        code = None if self.process is None else self.process.returncode
        if code is not None:
            raise DenseError(
                f"recipient {self.recipient.name!r}: its server has ended, with exit code {code}: "
                f"{' '.join(self.recipient.server)}\n{self._log_tail()}\nFix that and run again: nothing is lost"
            )

    async def down(self) -> None:
        """Ends it with all that it started."""
        process, self.process = self.process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 3 * supervisor.GRACE)
        except TimeoutError:
            process.kill()
            await process.wait()
        supervisor.end_recorded(self.record)  # it is there only if the supervisor was killed

    async def _start(self, port: int) -> None:
        """Starts it, after what a killed run left of it is ended."""
        supervisor.end_recorded(self.record)
        command = [word.replace("{port}", str(port)) for word in self.recipient.server]
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with self.log.open("ab") as log:
                self.start = log.tell()
                self.process = await asyncio.create_subprocess_exec(
                    *[sys.executable, supervisor.__file__, str(self.record), *command],
                    stdin=PIPE,
                    stdout=log,
                    stderr=STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise DenseError(f"{self.log}: cannot be written ({error.strerror or error})") from None

    async def _answers(self, port: int, patience: float) -> bool:
        """Whether it accepts connections in time, and before it ends."""
        end = asyncio.get_running_loop().time() + patience
        while self.process is not None and self.process.returncode is None:
            try:
                _, writer = await asyncio.open_connection(HOST, port)
            except OSError:
                if asyncio.get_running_loop().time() > end:
                    return False
                await asyncio.sleep(0.05)
            else:
                writer.close()
                await writer.wait_closed()
                return True
        return False

    def _log_tail(self) -> str:
        """The end of what it wrote since it was started."""
        try:
            log = self.log.read_bytes()[self.start :].decode(errors="replace").strip()
        except OSError as error:
            return f"({self.log} cannot be read: {error.strerror or error})"
        return log[-MAX_LOG_LINES:] or "(it wrote nothing)"

    def _complaint(self, patience: float) -> str:
        return (
            f"recipient {self.recipient.name!r}: its server did not accept connections within {patience:g} s, or ended "
            f"before: {' '.join(self.recipient.server)}"
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]
