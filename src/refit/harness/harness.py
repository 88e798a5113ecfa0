"""The seam: a harness makes one attempt at a task, from nothing, and says what came of it.

Every attempt starts from a fresh environment and a fresh model context. The message is the only thing that passes from
earlier attempts to this one, and how it was put before the agent is part of what is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from dense.trajectory import Usage
from refit.results import AttemptResult

Delivery = Literal["", "instruction", "file"]
Received = Literal["", "same", "different", "not recorded", "opened", "not opened"]


class Recipient(Struct, frozen=True):
    """The agent that makes the attempts."""

    name: str
    """By which the experiment calls it."""
    agent: str
    """Harbor's name of it, or `module:Class`."""
    model: str | None = None
    """Its language model, as the agent takes it."""
    options: dict[str, object] = {}
    """The agent's keyword arguments. `{seed}` and `{server}` in a text mean the attempt's seed and the address
    of the recipient's server."""
    env: dict[str, str] = {}
    """Environment variables of the agent; `${NAME}` is read from ours when it runs, and is never stored."""
    server: tuple[str, ...] = ()
    """A command that serves its model on this machine for as long as the experiment runs; `{port}` is the port."""


class AttemptOrder(Struct, frozen=True):
    """One attempt that is to be made."""

    name: str
    """Unique within the experiment, and the name of a folder."""
    recipient: Recipient
    """Who tries."""
    task: Path
    """The task's folder, as it is; never written to."""
    folder: Path
    """Where everything of this attempt goes. It does not exist yet, or holds what a killed run left of this one."""
    message: str | None = None
    """What the agent gets instead of the bare instruction, the instruction included; None for the instruction alone."""
    seed: int = 0
    """The same for the same cell: for agents and models that take one."""
    digest: str = ""
    """The task's digest as planned, which the attempt must find before and after it; empty: not compared."""
    as_file: bool = False
    """Whether the agent gets the message as a file in its environment, with a pointer to it as its instruction."""


class Harness(Protocol):
    """Makes attempts."""

    @property
    def name(self) -> str:
        """What it is, with its version, for the record."""
        ...

    async def attempt(self, order: AttemptOrder, /) -> AttemptResult:
        """One attempt, from nothing. The result reports what goes wrong in the attempt; what makes every further
        attempt pointless (no such agent, no such environment on this machine) is a `DenseError`."""
        ...

    def finished(self, order: AttemptOrder, /) -> AttemptResult | None:
        """What an attempt that was made before came to, where its folder holds a complete record: a run that was killed
        after an attempt was scored and before that was noted takes it up again. None where there is none."""
        ...

    def clear_killed(self, order: AttemptOrder, /) -> Usage | None:
        """Ends what a killed attempt left running, takes out of its folder what must not stay there (credentials), and
        says what it took as far as its trace has it."""
        ...
