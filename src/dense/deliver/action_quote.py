"""An action and what came back, as the source has them: the `key-action` block.

A body (the message, an argument of a call, an observation) is in it byte by byte or not at all. One that is left
out leaves its tag behind, with its size, so that the reader knows that there was something."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from dense.deliver import markup
from dense.deliver.markup import MarkupBlock
from dense.tree import Leaf


class QuotedBody(Struct, frozen=True, gc=False):
    """One body of an action."""

    whole: MarkupBlock
    """The block with its text."""
    stub: MarkupBlock
    """The tag in its place if it is left out."""
    place: str
    """What it is, for people: `observation 1`."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return markup.body_size(self.whole)

    @property
    def saving(self) -> int:
        """The bytes that leaving it out saves."""
        return self.whole.plain - self.stub.plain


def key_action(leaf: Leaf, roles: Sequence[str] = ()) -> MarkupBlock:
    """An action with all its bodies; roles say why it was picked."""
    step, calls = leaf.step, leaf.step.calls
    is_several = len(calls) > 1
    order = {call.id: str(number) for number, call in enumerate(calls, 1) if call.id} if is_several else {}
    blocks: list[MarkupBlock] = [markup.text("message", step.message)] if step.message else []
    for number, call in enumerate(calls, 1):
        arguments = [_argument(name, value) for name, value in call.arguments.items()]
        blocks.append(markup.group("tool-call", arguments, call=str(number) if is_several else None, name=call.name))
    for observation in step.observations:
        blocks.append(
            markup.text(
                "observation",
                observation.text,
                origin=observation.origin,
                answers=order.get(observation.call_id or ""),
                exit_code=None if observation.exit_code is None else str(observation.exit_code),
                error="true" if observation.is_error else None,
            )
        )
    return markup.group(
        "key-action", blocks, id=leaf.id, action=f"a{leaf.action}", agent=step.agent, role=" ".join(roles)
    )


def bodies(leaf: Leaf, block: MarkupBlock) -> list[QuotedBody]:
    """The bodies of an action in its block, in order."""
    found: list[QuotedBody] = []
    calls = observations = 0
    for part in block.parts:
        if part.name == "tool-call":
            calls += 1
            for name, argument in zip(leaf.step.calls[calls - 1].arguments, part.parts, strict=True):
                found.append(_body(argument, f"argument {name[:40]!r} of call {calls}"))
        elif part.name == "observation":
            observations += 1
            found.append(_body(part, f"observation {observations}"))
        else:
            found.append(_body(part, part.name))
    return found


def without(block: MarkupBlock, left_out: Iterable[QuotedBody]) -> MarkupBlock:
    """An action's block with stubs in place of these bodies."""
    return _replaced(block, {id(body.whole): body.stub for body in left_out})


def oversized(block: MarkupBlock, found: Sequence[QuotedBody], limit: int) -> list[QuotedBody]:
    """The bodies to leave out so that an action has at most so many bytes, its roles apart: the largest first, then the
    last."""
    roles = block.attributes.get("role")
    total = markup.unindented(block) - (len(f' role="{roles}"') if roles else 0)
    numbers: list[int] = []
    for number in sorted(range(len(found)), key=lambda number: (-found[number].saving, -number)):
        if total <= limit or found[number].saving <= 0:
            break
        total -= found[number].saving
        numbers.append(number)
    return [found[number] for number in sorted(numbers)]


def _argument(name: str, value: Any) -> MarkupBlock:
    if isinstance(value, str):
        return markup.text("argument", value, name=name)
    return markup.text("argument", _json(value), name=name, type="json")


def _body(block: MarkupBlock, place: str) -> QuotedBody:
    return QuotedBody(block, markup.omitted(block, f"{markup.body_size(block)} bytes"), place)


def _replaced(block: MarkupBlock, others: Mapping[int, MarkupBlock]) -> MarkupBlock:
    if isinstance(block.content, str):
        return others.get(id(block), block)
    return markup.with_children(block, [_replaced(part, others) for part in block.content])


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, TypeError):  # half characters; values that never were JSON
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
