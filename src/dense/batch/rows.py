"""A row of the table: everything that a batch says of one trace."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from dense.batch.libraries import pyarrow


class IssueCell(Struct, frozen=True):
    """An issue, in a row."""

    code: str
    """The kind of finding; empty for an analyst without codes."""
    text: str
    is_open: bool
    is_fatal: bool
    quote: str = ""
    """The line of the trace that shows it best."""


class WayCell(Struct, frozen=True):
    """A way out of a failure, in a row."""

    kind: str
    """`install`, `use` (another program), `with` (an option or a variable), `first` (another tool before it),
    `argument` (the same tool, one argument changed), `form` (a message that was refused, then one with one call)."""
    text: str
    """The command that installs, the program, the option or variable, the tool, the argument's name."""
    action: int
    """The action that shows whether it works."""
    has_worked: bool


class FailureCell(Struct, frozen=True):
    """An action that failed, and what worked later, in a row."""

    action: int
    """Its number: 1 for `a1`."""
    family: str
    """The code of its error family (`dense.knowledge.errors`)."""
    subject: str
    """What the error is about: a module, a program, a path."""
    program: str
    """The program or tool that failed, with its subcommand."""
    command: str
    """The command, shortened."""
    line: str
    """The line that says what went wrong."""
    signature: str = ""
    """What errors of this kind have in common, for lessons."""
    recovery: int | None = None
    """The first later action that did what failed here."""
    ways: list[WayCell] = []
    """Ways out that were tried, up to the first that worked."""


class BatchRow(Struct, frozen=True):
    """One trace."""

    key: str
    """The hash of content and spec: no two traces have it, and a second run finds it again."""
    content: str
    """The hash of the trace's bytes."""
    spec: str
    """The hash of the `BatchSpec`."""
    item: str
    """The hash of the input that it was read from."""
    source: str
    """The URI of the input."""
    part: str = ""
    """Which part of it: a row, a sample."""
    trajectory: str = ""
    """The trajectory's own ID."""
    format: str = ""
    agent: str = ""
    agent_version: str = ""
    model: str = ""
    """The agent's language model."""
    task: str = ""
    """The task's name, else the beginning of its instruction."""
    task_hash: str = ""
    """The hash of the instruction: equal for attempts at one task."""
    project: str = ""
    """The repository or folder that the work was in, if the trace names it (`dense.lessons.project`)."""
    started: datetime | None = None
    """When the first step was, in UTC."""
    bytes: int = 0
    """The size of the trace."""
    steps: int = 0
    calls: int = 0
    """Tool calls of the agent."""
    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    """What the agent's program recorded as its price."""
    state: str = ""
    """`complete`, `incomplete`, `broken`, `unknown`; empty if there is no feedback."""
    issues: list[IssueCell] = []
    requirements_met: int = 0
    requirements_not_met: int = 0
    requirements_unchecked: int = 0
    failures: list[FailureCell] = []
    message: str = ""
    """What the next attempt gets."""
    message_bytes: int = 0
    analyst: str = ""
    version: str = ""
    analyst_tokens: int = 0
    """Tokens of the analyst's calls."""
    analyst_usd: float | None = None
    """Their price, as they were paid for first; None if it is unknown, 0 for the rules."""
    notices: int = 0
    """Records that were skipped or repaired."""
    error: str = ""
    """Why there is no feedback; empty if there is some."""
    written: datetime | None = None
    """When its part was written, in UTC: of two rows of one place, the later one counts. Set by the store."""


def schema() -> Any:
    """The columns of a part."""
    arrow = pyarrow()
    text, count, flag, number = arrow.string(), arrow.int64(), arrow.bool_(), arrow.float64()
    issue = [("code", text), ("text", text), ("is_open", flag), ("is_fatal", flag), ("quote", text)]
    failure = [("action", count)]
    failure += [(name, text) for name in ("family", "subject", "program", "command", "line", "signature")]
    way = [("kind", text), ("text", text), ("action", count), ("has_worked", flag)]
    failure += [("recovery", count), ("ways", arrow.list_(arrow.struct(way)))]
    types: dict[str, Any] = {
        "started": arrow.timestamp("us", tz="UTC"),
        "written": arrow.timestamp("us", tz="UTC"),
        "cost_usd": number,
        "analyst_usd": number,
        "issues": arrow.list_(arrow.struct(issue)),
        "failures": arrow.list_(arrow.struct(failure)),
    }
    counts = "bytes steps calls input_tokens cache_read_tokens cache_write_tokens output_tokens message_bytes"
    counts += " requirements_met requirements_not_met requirements_unchecked analyst_tokens notices"
    types |= dict.fromkeys(counts.split(), count)
    return arrow.schema([(name, types.get(name, text)) for name in BatchRow.__struct_fields__])
