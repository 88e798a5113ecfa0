"""What a rerun can reuse of a subtask: small facts with actions and names, without sentences.

Models, the paper's profile and the built-in rules fill the same structs. What an analyst says in words of its own is a
fact's `text`; the other fields are then empty. `analysis.wording.facets` writes the lines of messages and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

__all__ = [
    "FACETS",
    "Artifact",
    "DeadEnd",
    "Facets",
    "KeyValue",
    "Mechanism",
    "Order",
    "StateChange",
]


class Artifact(Struct, frozen=True, omit_defaults=True):
    """A file that a subtask left."""

    text: str = ""
    path: str = ""
    action: int | None = None
    """The action that wrote its final version, if the analyst names it."""
    shown: str = ""
    """What a later look at it showed."""
    is_guess: bool = False
    """Whether a later look showed only what the agent had typed and no output had shown before."""


class StateChange(Struct, frozen=True, omit_defaults=True):
    """Something else that a subtask left behind in its environment."""

    text: str = ""
    kind: Literal["", "installed", "running", "removed", "committed", "pushed"] = ""
    names: tuple[str, ...] = ()
    """Packages, commands, paths."""


class KeyValue(Struct, frozen=True, omit_defaults=True):
    """A value that a rerun can use."""

    text: str = ""
    name: str = ""
    """The name under which an output shows it."""
    value: str = ""
    check: int | None = None
    """The action that verified it, if the analyst names one."""
    is_claim: bool = False
    """Whether nothing verified it."""


class Mechanism(Struct, frozen=True, omit_defaults=True):
    """What made the difference between what failed and what worked."""

    text: str = ""
    kind: Literal["", "edit", "command"] = ""
    works: str = ""
    """The text that was put in, or the command in short."""
    fails: str = ""
    """What it took the place of."""
    path: str = ""
    """The file that was edited."""
    action: int | None = None
    """The action that worked."""


class Order(Struct, frozen=True, omit_defaults=True):
    """What must happen before what."""

    text: str = ""
    kind: Literal["", "install", "make"] = ""
    names: tuple[str, ...] = ()
    """What has to be there first."""
    then: str = ""
    """What worked only afterwards, in short."""
    action: int | None = None
    """The action that put it there."""


class DeadEnd(Struct, frozen=True, omit_defaults=True):
    """A failure that a rerun can avoid."""

    text: str = ""
    kind: Literal["", "failed", "tries", "nothing found", "no command", "no module", "no package"] = ""
    """`tries`: several, in the analyst's words."""
    tried: str = ""
    """The command in short, or the name of what is missing."""
    saw: str = ""
    """The line that shows it."""
    instead: str = ""
    """What worked instead."""
    first: int | None = None
    """The first action of it."""
    last: int | None = None
    """The last action of it."""
    outcome: str = ""
    """How it ended, if the analyst judges that."""


class Facets(Struct, frozen=True, omit_defaults=True):
    """What a rerun can reuse of a subtask, besides its summary."""

    artifacts: tuple[Artifact, ...] = ()
    """Files and other products, with their paths."""
    final_state: tuple[StateChange, ...] = ()
    """What the environment was left like."""
    key_values: tuple[KeyValue, ...] = ()
    """Values that a later action verified, and claims."""
    key_mechanisms: tuple[Mechanism, ...] = ()
    """What carries the result: step order, parameters, prerequisites."""
    critical_order: tuple[Order, ...] = ()
    """What must happen before what."""
    dead_ends: tuple[DeadEnd, ...] = ()
    """Failures that a rerun can avoid."""
    open_issues: tuple[str, ...] = ()
    """What is not done or not verified, in the words of an analyst that reports no issues yet."""
    left_out: Mapping[str, int] = {}
    """How many further facts of a facet were found, by its name."""


FACETS = tuple([name for name in Facets.__struct_fields__ if name != "left_out"])
"""The names of the facets, as the paper has them."""
