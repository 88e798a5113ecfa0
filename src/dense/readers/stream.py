"""A trajectory while it is being read: the head at once, the steps as they come, the totals at the end.

Readers build `StepBuilder`s and yield `Stream`s. `collect` makes a `Trajectory` of a stream; `encode` writes its
normalised JSON piece by piece, so that a file larger than memory passes through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from dense.knowledge.harnesses import CORRECTIONS
from dense.readers.background import BackgroundCommands
from dense.readers.notices import Notices
from dense.readers.task import is_inserted, request_of, told_apart
from dense.readers.wrapped import WRAPPED, unwrapped_result, with_plain_line_ends
from dense.trajectory import Notice, Observation, Origin, Source, Step, Task, ToolCall, Trajectory, Usage

_SURROGATE = re.compile("[\ud800-\udfff]")
"""A half character: what no encoding has."""


class StepBuilder(msgspec.Struct):
    """A step that is not complete yet: texts and results arrive one after the other."""

    source: Source
    message: list[str] = []
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    observations: list[Observation] = []
    agent: str | None = None
    model: str | None = None
    timestamp: str | None = None
    usage: Usage | None = None
    subagents: list[Trajectory] = []

    def observe(
        self,
        text: str,
        call_id: str | None = None,
        *,
        origin: Origin = "tool",
        is_error: bool | None = None,
        exit_code: int | None = None,
        timestamp: str | None = None,
    ) -> None:
        """Add what came back. A tool's result is taken out of what its harness wrapped around it."""
        if origin == "tool" and text.endswith(WRAPPED):
            text, exit_code = unwrapped_result(text, exit_code)
        if origin == "tool" and "\r\n" in text:
            text = with_plain_line_ends(text)
        is_request = origin == "user" and call_id is None and bool(request_of(text))
        if origin == "user" and call_id is None:
            words, inserted = told_apart(text)
            if is_inserted(text):
                origin = "system"
            elif inserted:  # what the program put among the words of a person speaks for itself
                text = words
                self.observations.append(Observation(text=inserted, origin="system", timestamp=timestamp))
        elif origin == "tool" and call_id is None and text[:100].lstrip().startswith(CORRECTIONS):
            origin = "system"
        self.observations.append(
            Observation(
                text=text,
                call_id=call_id,
                origin=origin,
                is_error=is_error,
                exit_code=exit_code,
                timestamp=timestamp,
                is_request=is_request,
            )
        )

    def build(self) -> Step:
        message, reasoning, subagents = self.message, self.reasoning, self.subagents
        return Step(
            source=self.source,
            message=message[0] if len(message) == 1 else _joined(message),
            reasoning=_joined(reasoning) if reasoning else "",
            calls=tuple(self.calls),
            observations=tuple(self.observations),
            agent=self.agent,
            model=self.model,
            timestamp=self.timestamp,
            usage=self.usage,
            subagents=tuple(subagents) if subagents else (),
        )


def _joined(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else "\n\n".join(filter(None, texts))


@dataclass
class Stream:
    """One trajectory, lazily. Everything but `steps`, `usage` and `notices` is set before the stream is handed out.

    `steps` can be gone through once. While it is, the reader may still write to `usage` (the program's own total, which
    wins over the sum over steps), to `cost_usd` (a total of the price alone) and to `notices`. `final_notices` are what
    the trajectory took along. `is_normalised` says that nothing is left to work out."""

    format: str
    id: str
    source: Source
    notices: Notices
    steps: Iterator[Step] = field(default_factory=lambda: iter(()))
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    task: Task | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    is_normalised: bool = False
    final_notices: tuple[Notice, ...] = ()

    def collect(self) -> Trajectory:
        """The whole trajectory, in memory."""
        steps = tuple(self.counted())
        head = self.head()
        self.final_notices = self.notices.take()
        return msgspec.structs.replace(head, steps=steps, usage=self.usage, notices=self.final_notices)

    def head(self) -> Trajectory:
        """The trajectory without what is known only at the end."""
        return Trajectory(
            format=self.format,
            id=_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", self.id),  # of a file name that is no UTF-8
            source=self.source,
            agent=self.agent,
            agent_version=self.agent_version,
            model=self.model,
            task=self.task,
        )

    def counted(self) -> Iterator[Step]:
        """The steps; when they end, `usage` is known as well as it can be."""
        if self.is_normalised:
            yield from self.guarded()
            return
        total: Usage | None = None
        commands = BackgroundCommands()
        for step in self.guarded():
            if step.usage is not None:
                total = step.usage if total is None else total + step.usage
            yield commands.linked(step)
        self.usage = self.usage or total
        if self.cost_usd is not None:
            self.usage = msgspec.structs.replace(self.usage or Usage(), cost_usd=self.cost_usd)

    def guarded(self) -> Iterator[Step]:
        """The steps. JSON can be nested so that it was just decoded and yet is too deep to be gone through: it ends
        there."""
        try:
            for step in self.steps:  # noqa: UP028 - that would close the steps when somebody stops half way
                yield step
        except RecursionError:
            self.notices.skip("a value is nested too deeply; the trajectory ends before it", self.source)
        except OSError as error:
            self.notices.skip(f"cannot be read any further ({error.strerror or error})", self.source)

    def encode(self, watch: Callable[[Step], None] = lambda _: None) -> Iterator[bytes]:
        """The normalised JSON of the trajectory, in pieces: the same bytes as `msgspec.json.encode(self.collect())`.

        `watch` sees each step as it passes.
        """
        yield msgspec.json.encode(self.head()).removesuffix(b"}") + b',"steps":['
        for number, step in enumerate(self.counted()):
            watch(step)
            yield b"," * (number > 0) + msgspec.json.encode(step)
        tail = b"]"
        if self.usage is not None:
            tail += b',"usage":' + msgspec.json.encode(self.usage)
        self.final_notices = self.notices.take()
        if self.final_notices:
            tail += b',"notices":' + msgspec.json.encode(self.final_notices)
        yield tail + b"}"


def held_back(streams: Iterator[Stream], notices: Notices) -> Iterator[Stream]:
    """Each stream once the next one is ready, so that notices after it, up to the next, are attached to it.

    For streams that do not share an iterator, and that have notices of their own; `notices` are those of the file.
    """
    waiting: Stream | None = None
    for stream in streams:
        if waiting is not None:
            waiting.notices.items += notices.take()
            yield waiting
        waiting = stream
    if waiting is not None:
        waiting.notices.items += notices.take()
        yield waiting
