"""Something that a task names."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal[
    "file",  # a file or folder, by path
    "port",  # a service, by port or address
    "value",  # a literal that must appear: a name, a string, a number in quotes or code
    "threshold",  # a limit: at most 2 seconds, accuracy of at least 0.9
    "command",  # a command that must work, or that checks the result: `make test`
    "clause",  # a sentence that demands something and names nothing that can be tracked
]
Role = Literal[
    "deliverable",  # to be made or changed
    "given",  # already there: an input, a tool, an example
    "forbidden",  # not to be touched or used
    "mentioned",  # named, and the text does not say what for
]


class Requirement(Struct, frozen=True, gc=False):
    """One thing that the task names."""

    kind: Kind
    role: Role
    subject: str
    """The path, the port, the literal, the limit, the command; for a clause its first words."""
    clause: str
    """The sentence or list item that names it, at most 300 characters."""
