"""An action and what came back, as the source has them: the `key-action` block.

A body (the message, an argument of a call, an observation) stands in it byte by byte or not at all. One that is left
out leaves its tag behind, with its size, so that the reader knows that there was something."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from dense.deliver import markup
from dense.deliver.markup import Block
from dense.tree import Leaf


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
        bodies.append(Body(markup.leaf("message", (), step.message)))
    for number, call in enumerate(step.calls):
        for name, value in call.arguments.items():
            if isinstance(value, str):
                block = markup.leaf("argument", markup.pairs({"name": name}), value)
            else:
                block = markup.leaf("argument", markup.pairs({"name": name, "type": "json"}), _json(value))
            bodies.append(Body(block, number, name))
    order: dict[str | None, str] = {}
    if len(step.calls) > 1:
        order = {call.id: str(number + 1) for number, call in enumerate(step.calls) if call.id}
    for number, observation in enumerate(step.observations):
        attributes: dict[str, str | None] = {"origin": observation.origin}
        if order:
            attributes["answers"] = order.get(observation.call_id)
        if observation.exit_code is not None:
            attributes["exit_code"] = str(observation.exit_code)
        if observation.is_error:
            attributes["error"] = "true"
        bodies.append(Body(markup.leaf("observation", markup.pairs(attributes), observation.text), number))
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
        name = str(number + 1) if is_several else None
        blocks.append(markup.group("tool-call", arguments[number], call=name, name=call.name))
    blocks += observations
    return markup.group(
        "key-action", blocks, id=leaf.id, action=f"a{leaf.action}", agent=step.agent, role=" ".join(roles)
    )


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


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, TypeError):  # half characters; values that never were JSON
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
