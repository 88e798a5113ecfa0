"""Something that a task names, and the collection of what it names: each once, with its strongest role."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from dense.text.clip import clip_end

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


# Collecting requirements

MAX_REQUIREMENTS = 60
MAX_CLAUSE_CHARS = 300
STRENGTH: dict[Role, int] = {"deliverable": 3, "forbidden": 2, "given": 1, "mentioned": 0}
PRIORITY: dict[Kind, int] = {"file": 5, "port": 4, "threshold": 3, "command": 3, "clause": 2, "value": 1}
type Entry = tuple[Kind, Role, str, str]


class RequirementCollector:
    """Takes what sentences name, then gives the requirements."""

    def __init__(self) -> None:
        self.entries: dict[tuple[Kind, str], Entry] = {}
        self.clauses = 0
        self.has_deliverable = False
        self.last_has_deliverable = False
        """Whether the last sentence named a file that is to be delivered."""

    def add(self, kind: Kind, role: Role, subject: str, text: str) -> None:
        """Add what a sentence names, unless it is known in a role at least as strong."""
        self.has_deliverable |= role == "deliverable"
        key = (kind, subject.removeprefix("./").rstrip("/") if kind == "file" else subject)
        known = self.entries.get(key)
        if known is None:
            if len(self.entries) < 10 * MAX_REQUIREMENTS:
                self.entries[key] = (kind, role, subject, text)
        elif STRENGTH[known[1]] < STRENGTH[role]:
            self.entries[key] = (kind, role, known[2], text)

    def result(self, is_report: bool, is_record: bool = False) -> tuple[Requirement, ...]:
        """The requirements in the order of the text. A bug report asks for no deliverables, the record of a session for
        no commands either."""
        entries = [entry for entry in self.entries.values() if not is_record or entry[0] != "command"]
        if len(entries) > MAX_REQUIREMENTS:
            # What is asked for stays, and files before the rest.
            ranked = sorted(entries, key=lambda entry: (-STRENGTH[entry[1]], -PRIORITY[entry[0]]))
            kept = set(ranked[:MAX_REQUIREMENTS])
            entries = [entry for entry in entries if entry in kept]
        return tuple(
            Requirement(kind, "mentioned" if is_report and role == "deliverable" else role, subject, _clause(text))
            for kind, role, subject, text in entries
        )


def _clause(text: str) -> str:
    return clip_end(" ".join(text[: 2 * MAX_CLAUSE_CHARS].split()), MAX_CLAUSE_CHARS)
