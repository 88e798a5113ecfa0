"""An action and what came back, as the source has them: the `key-action` block.

A body (the message, an argument of a call, an observation) stands in it byte by byte or not at all. One that is left
out leaves its tag behind, with its size, so that the reader knows that there was something."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from dense.deliver import markup
from dense.deliver.markup import Block, Tags
from dense.trajectory import Origin
from dense.tree import Leaf

LONGEST_KNOWN = 40
"""Names of tools and arguments are kept for the next time up to this length."""


class Body(Struct, frozen=True, gc=False):
    """One body of an action."""

    whole: Block
    """The block with its text."""
    number: int = 0
    """Which observation it is, or of which call it is an argument, from 0."""
    argument: str | None = None
    """The argument's name."""

    @property
    def place(self) -> str:
        """What it is, for people: `observation 1`."""
        if self.argument is not None:
            return f"argument {self.argument[:40]!r} of call {self.number + 1}"
        return f"observation {self.number + 1}" if self.whole.name == "observation" else self.whole.name

    @property
    def size(self) -> int:
        """Its bytes."""
        return markup.body_size(self.whole)

    @property
    def stub(self) -> Block:
        """The tag that stands for it where it is left out."""
        return markup.emptied(self.whole, f"{self.size} bytes")

    @property
    def saving(self) -> int:
        """What leaving it out brings, in bytes."""
        return self.whole.plain - self.stub.plain


class Quote(Struct, frozen=True, gc=False):
    """An action whose bodies are measured, before it is known which of them there is room for."""

    leaf: Leaf
    bodies: tuple[Body, ...]


def quote(leaf: Leaf) -> Quote:
    """Takes the bodies of an action, in order."""
    step = leaf.step
    bodies: list[Body] = []
    if step.message:
        bodies.append(Body(markup.leaf(markup.bare("message"), step.message)))
    for number, call in enumerate(step.calls):
        for name, value in call.arguments.items():
            if isinstance(value, str):
                block = markup.leaf(_named("argument", name), value)
            else:
                block = markup.text("argument", _json(value), name=name, type="json")
            bodies.append(Body(block, number, name))
    order: dict[str | None, str] = {}
    if len(step.calls) > 1:
        order = {call.id: str(number + 1) for number, call in enumerate(step.calls) if call.id}
    for number, observation in enumerate(step.observations):
        answers = order.get(observation.call_id) if order else None
        tags = _observed(observation.origin, answers, observation.exit_code, observation.is_error)
        bodies.append(Body(markup.leaf(tags, observation.text), number))
    return Quote(leaf, tuple(bodies))


def key_action(quoted: Quote, roles: Sequence[str] = (), without: frozenset[int] = frozenset()) -> Block:
    """The block, without the bodies of these numbers."""
    leaf, step = quoted.leaf, quoted.leaf.step
    is_several = len(step.calls) > 1
    blocks: list[Block] = []
    observations: list[Block] = []
    arguments: list[list[Block]] = [[] for _ in step.calls]
    for number, body in enumerate(quoted.bodies):
        block = body.stub if number in without else body.whole
        if body.argument is not None:
            arguments[body.number].append(block)
        else:
            (blocks if block.name == "message" else observations).append(block)
    for number, call in enumerate(step.calls):
        if is_several:
            blocks.append(markup.group("tool-call", arguments[number], call=str(number + 1), name=call.name))
        else:
            blocks.append(markup.holding(_named("tool-call", call.name), arguments[number]))
    blocks += observations
    said = {"id": leaf.id, "action": f"a{leaf.action}", "agent": step.agent, "role": " ".join(roles)}
    return markup.holding(markup.tags("key-action", said), blocks)


def oversized(quoted: Quote, limit: int) -> frozenset[int]:
    """The bodies to leave out so that an action has at most so many bytes: the largest first, then the last."""
    total = key_action(quoted).plain
    without: set[int] = set()
    for number in sorted(range(len(quoted.bodies)), key=lambda number: (-quoted.bodies[number].saving, -number)):
        if total <= limit or quoted.bodies[number].saving <= 0:
            break
        total -= quoted.bodies[number].saving
        without.add(number)
    return frozenset(without)


def _named(tag: str, name: str) -> Tags:
    """Tags of a tool or of an argument: the same few, again and again."""
    return _known(tag, name) if len(name) <= LONGEST_KNOWN else markup.tags(tag, {"name": name})


@lru_cache(maxsize=256)
def _known(tag: str, name: str) -> Tags:
    return markup.tags(tag, {"name": name})


@lru_cache(maxsize=256)
def _observed(origin: Origin, answers: str | None, exit_code: int | None, is_error: bool | None) -> Tags:
    code = None if exit_code is None else str(exit_code)
    said = {"origin": origin, "answers": answers, "exit-code": code, "error": "true" if is_error else None}
    return markup.tags("observation", said)


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, TypeError):  # half characters; values that never were JSON
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
