"""Runs a program to its end, or ends it: with a timer of our own, because programs retry silently for many minutes."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

from dense.model.programs.program import ProcessEnding, Start, Workplace

LOOK_SECONDS = 0.1
"""How often a running program's time and output are looked at."""
GRACE_SECONDS = 2.0
"""How long a program may take to end once it was asked to."""
MAX_ERROR_BYTES = 64_000


class TooSlow(Exception):
    """No end within the time."""


class TooLong(Exception):
    """More output than any answer has."""


async def run_process(
    start: Start, workplace: Workplace, environment: Mapping[str, str], prompt: bytes, seconds: float, most: int
) -> ProcessEnding:
    """How a program ended that was given a prompt. Raises `TooSlow`, `TooLong`, or `OSError` if it cannot be started.

    Its processes are a group of their own, and none of them outlives the call. The prompt and the output are files
    without a name, so that neither a full pipe nor a grandchild that keeps one open can hold us up."""
    with (
        tempfile.TemporaryFile(dir=workplace.folder) as given,
        tempfile.TemporaryFile(dir=workplace.folder) as output,
        tempfile.TemporaryFile(dir=workplace.folder) as errors,
    ):
        given.write(prompt)
        given.seek(0)
        process = await asyncio.create_subprocess_exec(
            *start.command,
            stdin=given,
            stdout=output,
            stderr=errors,
            cwd=workplace.empty,
            env=dict(environment),
            start_new_session=True,
        )
        ending = asyncio.ensure_future(process.wait())
        try:
            await _watch(ending, output, errors, time.monotonic() + seconds, most)
        finally:
            await _end_group(process.pid, ending)
        return ProcessEnding(ending.result(), _content(output, most), _content(errors, MAX_ERROR_BYTES))


async def _watch(ending: asyncio.Future[int], output: BinaryIO, errors: BinaryIO, deadline: float, most: int) -> None:
    while not (await asyncio.wait([ending], timeout=LOOK_SECONDS))[0]:
        if time.monotonic() > deadline:
            raise TooSlow
        if max(os.fstat(file.fileno()).st_size for file in (output, errors)) > most:
            raise TooLong
    if os.fstat(output.fileno()).st_size > most:
        raise TooLong


async def _end_group(group: int, ending: asyncio.Future[int]) -> None:
    """End what is left of a program's processes: politely while the program itself runs, then at once."""
    if not ending.done():
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGTERM)
        await asyncio.wait([ending], timeout=GRACE_SECONDS)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    await asyncio.wait([ending])


def _content(file: BinaryIO, most: int) -> bytes:
    """The end of a file."""
    file.seek(max(0, os.fstat(file.fileno()).st_size - most))
    return file.read(most)
