"""The actions of a trajectory as a reader gets them: numbered, with what the agent said.

A step that only says something is joined with the call that it announces, so that nobody cuts between the two; the
numbers stay those of the steps. A command that ran in the background names the action that shows its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from dense.analysis.actions.blocks import Block
from dense.trajectory import Step

ANNOUNCEMENT = re.compile(r"Using tool: \S+")
FAILED_HEADS = ("> exit", "> error")
"""How the head of an output begins that an exit code or the harness marks as a failure."""


class Readable(Protocol):
    """What is joined: an `Action`."""

    @property
    def step(self) -> Step: ...
    def read_blocks(self) -> Iterable[Block]: ...


class TranscriptAction(Struct, frozen=True, dict=True):
    """One action, with the message-only actions before it that announce it."""

    first: int
    """The number of the first action that it holds, from 1."""
    last: int
    """The number of its last action, by which it is known: all but the last only say something."""
    says: str
    """What the agent said, or thought where it said nothing."""
    read_blocks: Callable[[], Iterable[Block]]
    """Makes the blocks. A report quotes few actions, so an output is cleaned only when somebody asks for it."""
    agent: str = ""
    """Who acted, where several agents share a trace."""

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Calls, bodies and outputs in order; empty for an action that only says something."""
        return tuple(self.read_blocks())

    @property
    def has_failed(self) -> bool:
        """Whether an exit code or the harness marks a failure."""
        return any(block.kind == "output" and block.head.startswith(FAILED_HEADS) for block in self.blocks)

    @cached_property
    def is_message(self) -> bool:
        """Whether it only says something."""
        return next(iter(self.read_blocks()), None) is None


def joined(actions: Sequence[Readable]) -> list[TranscriptAction]:
    """All actions in order; together they hold every step exactly once."""
    parts: list[TranscriptAction] = []
    waiting: list[str] = []
    first = 1
    for number, action in enumerate(actions, 1):
        step = action.step
        if (says := _says(step)) and says not in waiting:
            waiting.append(says)
        is_announcement = not step.calls and not step.observations and not step.subagents
        following = actions[number].step if number < len(actions) else None
        if is_announcement and following is not None and following.agent == step.agent and following.calls:
            continue
        parts.append(TranscriptAction(first, number, "\n".join(waiting), action.read_blocks, step.agent or ""))
        waiting, first = [], number + 1
    return parts


def _says(step: Step) -> str:
    message = step.message.strip() or step.reasoning.strip()
    return "" if ANNOUNCEMENT.fullmatch(message) else message
