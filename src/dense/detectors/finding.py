"""The noun of this package: one thing that is wrong or missing, as a code with fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Severity = Literal[
    "fatal",  # a result that was there is wrong or gone
    "serious",  # the task is not done while this is open
    "doubt",  # the trace does not show whether the task is done
]
Level = Literal["root", "part"]
type Field = str | int | tuple[str, ...]


class Finding(Struct, frozen=True):
    """One thing that is wrong or missing. It holds facts of the trace; `narrate.findings` makes the sentence."""

    code: str
    subject: str
    """What it is about: a command, a path, an answer; empty if the code says it all."""
    evidence: tuple[int, ...]
    """The actions that show it, by number, in order; at least one."""
    resolution: int | None = None
    """The action whose observation shows that it is fixed; None while it is open."""
    severity: Severity = "serious"
    fields: Mapping[str, Field] = {}
    """Further facts by name: lines of the trace, names of tests, numbers of actions."""

    @property
    def key(self) -> str:
        """The identity of a finding within its trace, whatever words describe it."""
        return f"{self.code}|{self.subject}|{','.join(map(str, self.evidence))}"

    @property
    def opened(self) -> int:
        """The last action that shows it: a resolution must come later."""
        return self.evidence[-1]

    @property
    def is_open(self) -> bool:
        return self.resolution is None

    @property
    def is_serious(self) -> bool:
        """Whether the task cannot be called done while it is open."""
        return self.severity != "doubt"

    def text(self, name: str) -> str:
        """A field with text; empty if there is none."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """A field with a number; 0 if there is none."""
        value = self.fields.get(name, 0)
        return value if isinstance(value, int) else 0

    def texts(self, name: str) -> tuple[str, ...]:
        """A field with several texts; empty if there is none."""
        value = self.fields.get(name, ())
        return value if isinstance(value, tuple) else ()


class FindingCode(Struct, frozen=True):
    """A code that findings have, with the policy for all of them."""

    name: str
    meaning: str
    severity: Severity
    """How much it weighs. A detector may lower that to `doubt` if the evidence allows another reading."""
    raised_at: Level = "part"
    """Which node of the tree raises it: the root, or the lowest part that holds its evidence."""
    covers_failures: bool = True
    """Whether the summary leaves out what failed, because findings of this code report it."""

    def found(
        self,
        subject: str,
        *evidence: int,
        resolution: int | None = None,
        severity: Severity | None = None,
        **fields: Field,
    ) -> Finding:
        """A finding of this code. Empty fields are left out."""
        kept = {name: value for name, value in fields.items() if value}
        return Finding(self.name, subject, evidence, resolution, severity or self.severity, kept)
