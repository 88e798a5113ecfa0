"""Writing trajectories in other formats: ATIF, chat messages, our own normalised JSON.

In: a trajectory. Out: one JSON document, as bytes, and what the format cannot hold. Never imports anything of dense but
nouns: a trajectory of any reader, or one made by hand, can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from dense.convert.atif import atif_document
from dense.convert.messages import chat_document
from dense.trajectory import Trajectory

__all__ = ["Form", "atif_document", "chat_document", "convert", "losses"]

type Form = Literal["atif", "dense", "messages"]

FORMS: dict[Form, Callable[[Trajectory], Any]] = {
    "atif": atif_document,
    "dense": lambda trajectory: trajectory,
    "messages": chat_document,
}


def convert(trajectory: Trajectory, form: Form) -> bytes:
    """The trajectory as one JSON document on one line, without a line break at its end."""
    return msgspec.json.encode(FORMS[form](trajectory))


def losses(trajectory: Trajectory, form: Form) -> list[str]:
    """What the format cannot hold of this trajectory, for people."""
    if form != "messages":
        return []
    subagents = sum(len(step.subagents) for step in trajectory.steps)
    return [f"{subagents} sub-agents are left out: chat messages cannot hold them"] if subagents else []
