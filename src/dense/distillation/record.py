"""What a distillation leaves on disk: five files in a folder, each with a versioned schema (`docs/distilling.md`).

`run.json` is written last: where it is, the others are whole.
"""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from dense.distillation.panel import Asked
from dense.distillation.pipeline import Budgets, Distillation, Profile
from dense.feedback import Feedback
from dense.model import CallTotals, ModelCall
from dense.redact import Redactions
from dense.trajectory import Source, Trajectory
from dense.tree import ReconciledTree, SourceTree
from dense.version import __version__

RUN_SCHEMA = "dense.run/1"


class Run(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=RUN_SCHEMA):
    """How a distillation was made: `run.json`."""

    trajectory: str
    """The trajectory's ID."""
    source: Source
    """Where it was read."""
    format: str
    """In which format."""
    analyst: str
    """Who answered: a model by provider and name, or what stood in for it."""
    profile: Profile
    """Which calls were made."""
    budgets: Budgets
    """How long the feedback may be."""
    asked: tuple[Asked, ...]
    """Every question: how often it was asked, what was wrong with replies, whether it fell back."""
    fallbacks: int
    """How many questions had no usable reply."""
    calls: tuple[ModelCall, ...]
    """Every call to a model, with its tokens and its price."""
    totals: CallTotals
    """What they come to."""
    prices: str
    """Where prices come from."""
    prompts: dict[str, str]
    """A hash of each prompt template."""
    redactions: dict[str, int]
    """What was taken out, by kind."""
    dropped: tuple[str, ...]
    """What of the report had to go to keep the budget."""
    seconds: float
    """How long it took."""
    versions: dict[str, str]
    """Of this program, of Python, of what answers are made with."""
    method: str = "dense"
    """Which method made the feedback."""
    failure: str = ""
    """Why there is no feedback, where there is none."""


class Done(Protocol):
    """What the record needs of a finished run, whichever method it was."""

    @property
    def feedback(self) -> Feedback: ...
    @property
    def asked(self) -> tuple[Asked, ...]: ...
    @property
    def redactions(self) -> Redactions: ...
    @property
    def seconds(self) -> float: ...


def versions() -> dict[str, str]:
    """What a run depends on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Looking a version up reads and parses a file: once is enough."""
    packages = ("msgspec", "pydantic", "jinja2", "tree-sitter", "tree-sitter-bash", "genai-prices", "aiohttp")
    return {"python": platform.python_version(), "dense": __version__, **{name: version(name) for name in packages}}


def run_record(
    trajectory: Trajectory,
    done: Done,
    *,
    analyst: str,
    profile: Profile,
    budgets: Budgets,
    calls: tuple[ModelCall, ...] = (),
    totals: CallTotals | None = None,
    prices: str = "",
    prompts: dict[str, str] | None = None,
    method: str = "dense",
    failure: str = "",
) -> Run:
    """Everything that is known of a distillation that has ended."""
    return Run(
        trajectory.id,
        trajectory.source,
        trajectory.format,
        analyst,
        profile,
        budgets,
        done.asked,
        sum(asked.fell_back for asked in done.asked),
        tuple(sorted(calls, key=lambda call: (call.label, call.at))),
        totals or CallTotals(),
        prices,
        prompts or {},
        dict(done.redactions.counts),
        done.feedback.dropped,
        round(done.seconds, 3),
        versions(),
        method,
        failure,
    )


def write(folder: Path, done: Distillation, run: Run) -> None:
    """The five files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").unlink(missing_ok=True)
    (folder / "feedback.txt").write_text(done.feedback.report, encoding="utf-8", newline="")
    (folder / "message.txt").write_text(done.feedback.message, encoding="utf-8", newline="")
    for name, value in (("tree.json", done.source), ("reconciled.json", done.reconciled), ("run.json", run)):
        (folder / name).write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def read_tree(path: Path) -> SourceTree:
    """`tree.json`, read back."""
    return msgspec.json.decode(path.read_bytes(), type=SourceTree)


def read_reconciled(path: Path) -> ReconciledTree:
    """`reconciled.json`, read back: rendering it gives the same feedback."""
    return msgspec.json.decode(path.read_bytes(), type=ReconciledTree)
