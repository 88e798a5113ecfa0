"""What has been found in a task so far: each subject once, with the strongest role and the sentence that gave it."""

from __future__ import annotations

from dense.evidence.requirements.requirement import Kind, Requirement, Role

MOST = 60
LONGEST_CLAUSE = 300
STRENGTH: dict[Role, int] = {"deliverable": 3, "forbidden": 2, "given": 1, "mentioned": 0}
KINDS: dict[Kind, int] = {"file": 5, "port": 4, "threshold": 3, "command": 3, "clause": 2, "value": 1}
type Entry = tuple[Kind, Role, str, str]


class Found:
    """Collects, then gives the requirements."""

    def __init__(self, may_name_ports: bool) -> None:
        self.may_name_ports = may_name_ports
        """Whether it is worth while to look for ports."""
        self.entries: dict[tuple[Kind, str], Entry] = {}
        self.clauses = 0
        self.delivers = False
        """Whether anything at all is to be delivered."""
        self.last_delivers = False
        """Whether the last sentence named a file that is."""

    def add(self, kind: Kind, role: Role, subject: str, text: str) -> None:
        """Adds what a sentence names, unless it is known in a role at least as strong."""
        if role == "deliverable":
            self.delivers = True
        key = (kind, subject.removeprefix("./").rstrip("/") if kind == "file" else subject)
        known = self.entries.get(key)
        if known is None:
            if len(self.entries) < 10 * MOST:
                self.entries[key] = (kind, role, subject, text)
        elif STRENGTH[known[1]] < STRENGTH[role]:
            self.entries[key] = (kind, role, known[2], text)

    def result(self, is_report: bool) -> tuple[Requirement, ...]:
        """The requirements, in the order of the text. In somebody's report of a fault nothing is to be delivered."""
        every = list(self.entries.values())
        if is_report:
            every = [_weakened(entry) for entry in every]
        if len(every) > MOST:
            # What is asked for stays, and files before the rest.
            ranked = sorted(range(len(every)), key=lambda at: (-STRENGTH[every[at][1]], -KINDS[every[at][0]], at))
            every = [every[at] for at in sorted(ranked[:MOST])]
        clauses: dict[str, str] = {}
        result: list[Requirement] = []
        for kind, role, subject, text in every:
            if text not in clauses:
                clauses[text] = _clause(text)
            result.append(Requirement(kind, role, subject, clauses[text]))
        return tuple(result)


def _weakened(entry: Entry) -> Entry:
    kind, role, subject, text = entry
    return (kind, "mentioned" if role == "deliverable" else role, subject, text)


def _clause(text: str) -> str:
    text = " ".join(text[: 2 * LONGEST_CLAUSE].split())
    return text if len(text) <= LONGEST_CLAUSE else text[: LONGEST_CLAUSE - 1] + "…"
