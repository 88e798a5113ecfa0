"""What a row depends on besides its trace: the content of `_spec.json`."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from dense.analyst import Profile
from dense.deliver.budget import BudgetChoice
from dense.deliver.message import Environment
from dense.redact import Redaction
from dense.service.feedback import FeedbackOptions
from dense.service.record import prompt_hashes
from dense.service.turns import TurnChoice
from dense.version import __version__

BATCH_SCHEMA = "dense.batch/1"
RULES = "rules"


class BatchSpec(Struct, frozen=True, tag_field="schema", tag=BATCH_SCHEMA):
    """Everything that shapes a row. Rows of two specs are never mixed: the key of a row has the hash of its spec."""

    version: str = __version__
    """Of this program."""
    commit: str = ""
    """The commit of its code; empty if it is unknown."""
    model: str = ""
    """The language model that analyses, by its name; empty for the built-in rules."""
    base_url: str = ""
    """Another address for its provider."""
    profile: Profile = "fast"
    budget: BudgetChoice = None
    environment: Environment = "fresh"
    redacted: Redaction = True
    turn: TurnChoice = "all"
    format: str = ""
    """The format that all traces have; empty to recognise it."""
    column: str = ""
    """The column of Parquet inputs that holds the trace; empty to find it."""
    prompts: str = ""
    """A hash of all prompt templates; empty for the rules."""

    @property
    def hash(self) -> str:
        """Equal for two specs that make equal rows."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:16]

    @property
    def described_version(self) -> str:
        """The version with the beginning of the commit."""
        return f"{self.version} (commit {self.commit[:12]})" if self.commit else self.version

    @property
    def analyst(self) -> str:
        """Who analyses."""
        return self.model or RULES

    @property
    def options(self) -> FeedbackOptions:
        """How feedback is made."""
        return FeedbackOptions(
            profile=self.profile,
            budget=self.budget,
            redacted=self.redacted,
            environment=self.environment,
            turn=self.turn,
        )


def prompts_hash(model: str) -> str:
    """The hash of all prompt templates, if a model is asked."""
    return hashlib.sha256(msgspec.json.encode(prompt_hashes(), order="sorted")).hexdigest()[:16] if model else ""


class WorkLimits(Struct, frozen=True):
    """Limits of one run, which change no row that has no error."""

    max_bytes: int = 200_000_000
    """A larger trace gets a row with an error: it would not fit into a worker's memory."""
    seconds: float = 600.0
    """A process that works longer on one trace is ended, and the trace gets a row with an error. Not for models."""
    max_usd: float | None = None
    """What all calls to a model of one process may cost, those of earlier runs included."""
    spent: float = 0.0
    """What earlier runs spent."""
    concurrency: int = 16
    """Calls to a model at once."""
    jobs: int = 4
    """Traces at once, if a model analyses."""
    cache: str = ""
    """The file of answers that were paid for; empty for none."""
