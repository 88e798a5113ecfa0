"""Trees as they are stored: the trace is not stored again. A step keeps where it is and how its texts begin; the texts
of actions that the report names are longer. `trace` in the record is the hash of what was left out."""

from __future__ import annotations

import hashlib
import marshal
import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from dense.text.clip import clip_end, clip_middle
from dense.trajectory import Observation, Step, ToolCall, Trajectory
from dense.tree import Leaf, Node, ReconciledTree, SourceTree, Subtask

QUOTED_CHARS = 1_500
"""What is kept of a text of an action that the report names."""
KEPT_CHARS = 120
"""What is kept of a text of any other action."""
OUTLINE_CHARS = 40
"""What is kept of a text in the source tree, beside which the reconciled tree lies."""
ACTION = re.compile(r"\ba(\d{1,6})\b")


def trace_hash(trajectory: Trajectory) -> str:
    """A hash of what a trajectory's task and steps say, as methods saw them, wherever they were read."""
    digest = hashlib.sha256(_bytes(trajectory.task))
    for step in trajectory.steps:
        digest.update(_bytes((step.message, step.reasoning, step.calls, step.observations)))
    return digest.hexdigest()


def _bytes(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError):  # a trajectory that no reader made
        pass
    try:
        return repr(value).encode("utf-8", errors="replace")
    except ValueError:  # a number of more digits than Python writes
        return marshal.dumps(msgspec.to_builtins(value))


def shortened_tree[T: (SourceTree, ReconciledTree)](tree: T, report: str) -> T:
    """The tree with the beginnings of its steps' texts. Only the reconciled tree keeps what the report quotes."""
    named = {int(match[1]) for match in ACTION.finditer(report)} if isinstance(tree, ReconciledTree) else set[int]()

    others = KEPT_CHARS if isinstance(tree, ReconciledTree) else OUTLINE_CHARS

    def step(leaf: Leaf) -> Step:
        return _shortened(leaf.step, QUOTED_CHARS if leaf.action in named else others)

    return replace(tree, root=_with_steps(tree.root, step))


def restored_tree[T: (SourceTree, ReconciledTree)](tree: T, trajectory: Trajectory) -> T:
    """The tree with the whole steps of the trajectory that it was made of."""
    return replace(tree, root=_with_steps(tree.root, lambda leaf: trajectory.steps[leaf.action - 1]))


def _with_steps(root: Subtask, step: Callable[[Leaf], Step]) -> Subtask:
    return replace(root, children=tuple([_with_step(child, step) for child in root.children]))


def _with_step(node: Node, step: Callable[[Leaf], Step]) -> Node:
    if isinstance(node, Leaf):
        return replace(node, step=step(node))
    if isinstance(node, Subtask):
        return _with_steps(node, step)
    return replace(node, children=tuple([_with_step(child, step) for child in node.children]))


def _shortened(step: Step, limit: int) -> Step:
    return Step(
        source=step.source,
        message=clip_end(step.message, limit),
        reasoning="",
        calls=tuple([_shortened_call(call, limit) for call in step.calls]),
        observations=tuple([_shortened_observation(observation, limit) for observation in step.observations]),
        agent=step.agent,
        model=step.model,
        timestamp=step.timestamp,
    )


def _shortened_call(call: ToolCall, limit: int) -> ToolCall:
    return replace(call, arguments={key: _shortened_value(value, limit) for key, value in call.arguments.items()})


def _shortened_value(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return clip_end(value, limit)
    if value is None or isinstance(value, bool | int | float):
        return value
    text = msgspec.json.encode(value)
    return value if len(text) <= limit else clip_end(text.decode(errors="replace"), limit)


def _shortened_observation(observation: Observation, limit: int) -> Observation:
    clip = clip_end if limit <= OUTLINE_CHARS else clip_middle
    return replace(observation, text=clip(observation.text, limit))
