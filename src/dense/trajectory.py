"""The nouns of a run: task, step, trajectory, usage. Immutable, typed, without I/O.

A trajectory holds what the agent was asked and what it did and saw. Nothing that grades it has a place here: a reward
or a verifier's word is an `Outcome` (`dense.outcome`), which no trajectory leads to.

The structs are also the schema of the normalised JSON (`docs/schema.md`): a field's name here is its name there, fields
at their default are left out. They form no circles, so the garbage collector need not look at them. `SCHEMA` names the
version; a change that an older reader would misread raises it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct, structs

__all__ = [
    "SCHEMA",
    "Notice",
    "Observation",
    "Origin",
    "Source",
    "Step",
    "Task",
    "ToolCall",
    "Trajectory",
    "Turn",
    "Usage",
    "turns_of",
    "uncached",
]

SCHEMA = "dense.trajectory/1"

Origin = Literal["tool", "user", "system"]


class Source(Struct, frozen=True, omit_defaults=True, gc=False):
    """Where something was read."""

    path: str
    """The file, as it was named by whoever asked for it."""
    line: int | None = None
    """1-based line of a line-based file."""
    index: int | None = None
    """0-based index within the file's list of records."""
    part: str | None = None
    """What holds the index: a sample of a log, a member of an archive, a row of a results file."""

    def __str__(self) -> str:
        place = self.path
        if self.part is not None:
            place += f" [{self.part}]"
        if self.line is not None:
            return f"{place}:{self.line}"
        return place if self.index is None else f"{place}#{self.index}"


MAX_COUNT = 10**12
"""No number of tokens and no price of a call is larger."""


class Usage(Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens in disjoint buckets. None is unknown, which is not zero; what no count can be is unknown, too."""

    input: int | None = None
    """Input tokens that no cache served."""
    cache_read: int | None = None
    """Input tokens read from a cache."""
    cache_write: int | None = None
    """Input tokens written to a cache."""
    output: int | None = None
    """Output tokens, reasoning included."""
    cost_usd: float | None = None
    """What the program itself recorded as the price."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            count = getattr(self, name)
            if count is not None and not 0 <= count <= MAX_COUNT:
                structs.force_setattr(self, name, None)

    def __add__(self, other: Usage) -> Usage:
        def add[N: (int, float)](a: N | None, b: N | None) -> N | None:
            return b if a is None else a if b is None else a + b

        return Usage(
            add(self.input, other.input),
            add(self.cache_read, other.cache_read),
            add(self.cache_write, other.cache_write),
            add(self.output, other.output),
            add(self.cost_usd, other.cost_usd),
        )


def uncached(prompt: int | None, *cached: int | None) -> int | None:
    """The input that no cache served, where a program counts all of it; None if what it counts cannot be."""
    parts = [count for count in cached if count is not None]
    return None if prompt is None or min((prompt, *parts)) < 0 else max(0, prompt - sum(parts))


class Task(Struct, frozen=True, omit_defaults=True, gc=False):
    """The instruction that the agent was given, without the scaffold around it and without anything that grades it."""

    instruction: str
    """The text itself."""
    name: str | None = None
    """A short name where the source has one: a Harbor task, an instance ID."""
    origin: Literal["trace", "file", "option"] = "trace"
    """From the trace itself, from a file beside it, or from the user."""
    last_request: str | None = None
    """What was asked last and is still open, if there were several requests in a session: the user's own words."""
    earlier: tuple[Turn, ...] = ()
    """What was asked in the session before that, each request once, as context."""


class ToolCall(Struct, frozen=True, omit_defaults=True, gc=False):
    """One call of a tool."""

    name: str
    """The tool's name, as the agent wrote it."""
    arguments: dict[str, Any] = {}
    """The arguments. A tool that takes plain text has it under `input`; text that should have been JSON and is not,
    too."""
    id: str | None = None
    """The ID by which observations refer to the call."""
    continues: str | None = None
    """The ID of an earlier call whose command went on in the background, if this one waits for it, reads its output or
    types into it: what comes back belongs to that command."""


class Observation(Struct, frozen=True, omit_defaults=True, gc=False):
    """What came back after an action: a tool's result, or what a user or the harness said next."""

    text: str
    """The text, as recorded, with LF at the ends of lines. Images are replaced by a short marker."""
    call_id: str | None = None
    """The call that it answers; None when it answers the whole action."""
    origin: Origin = "tool"
    """Who speaks."""
    is_error: bool | None = None
    """Whether the harness itself marked it as an error; None where it does not say."""
    exit_code: int | None = None
    """The exit code, where it was recorded as such."""
    timestamp: str | None = None
    """When a user or the harness said it, as recorded; None for a tool's result."""
    is_request: bool = False
    """Whether a person asks for something here: a turn of the session begins."""


class Step(Struct, frozen=True, omit_defaults=True, gc=False):
    """One action of the agent, with any number of tool calls, and what it observed right after."""

    source: Source
    """Where the action begins."""
    message: str = ""
    """What the agent said."""
    reasoning: str = ""
    """What it thought, where that was recorded."""
    calls: tuple[ToolCall, ...] = ()
    """Its tool calls, in order."""
    observations: tuple[Observation, ...] = ()
    """What came back, in order."""
    agent: str | None = None
    """Who acted, where several agents share one trace."""
    model: str | None = None
    """The model, where it differs from the trajectory's."""
    timestamp: str | None = None
    """When, as recorded."""
    usage: Usage | None = None
    """What this action cost, where recorded."""
    subagents: tuple[Trajectory, ...] = ()
    """What agents that this action started did."""


class Turn(Struct, frozen=True, omit_defaults=True, gc=False):
    """One request of a person in a session."""

    text: str
    """What was asked."""
    step: int = 0
    """How many steps were before it: the steps from this index on answer it, up to the next turn's. -1 if those were
    left out of the trajectory."""
    timestamp: str | None = None
    """When, as recorded."""


class Notice(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that a reader wants to be known about how it read."""

    kind: Literal["skipped", "repaired", "note"]
    """`skipped`: a record is missing from the trajectory. `repaired`: it is there, but bytes were replaced. `note`: the
    rest."""
    text: str
    """What."""
    source: Source
    """Where."""


class Trajectory(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=SCHEMA):
    """A task and the ordered steps of one attempt at it."""

    format: str
    """The format that it was read from."""
    id: str
    """Unique within its file; the program's own session ID where there is one."""
    source: Source
    """The file, and the place in it."""
    agent: str | None = None
    """The program that acted: claude-code, terminus-2, …"""
    agent_version: str | None = None
    """Its version."""
    model: str | None = None
    """The language model."""
    task: Task | None = None
    """None if the trace does not contain it."""
    steps: tuple[Step, ...] = ()
    """At least one, when read from a file."""
    usage: Usage | None = None
    """What the whole attempt cost, by the program's own total where it has one, else the sum over steps."""
    notices: tuple[Notice, ...] = ()
    """What the reader skipped, repaired or missed."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What a person asked, one request after the other; the first is the task."""
        return turns_of(self.task, self.steps)


def turns_of(task: Task | None, steps: Sequence[Step]) -> tuple[Turn, ...]:
    """What a person asked in these steps, one request after the other; the first is the task, or what it was before a
    later request became the task."""
    first = Turn(task.instruction if task is not None else "")
    if task is not None and task.earlier and task.earlier[0].step == 0:
        first = task.earlier[0]
    later = [
        Turn(seen.text, number, seen.timestamp)
        for number, step in enumerate(steps, 1)
        for seen in step.observations
        if seen.is_request and seen.text.strip()
    ]
    return (first, *later)
