"""What a row depends on besides its trace: the content of `_spec.json`."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dense.options import OPTIONS, FeedbackOptions
from dense.service.record import prompt_hashes
from dense.version import __version__

BATCH_SCHEMA = "dense.batch/2"
RULES = "rules"


class BatchSpec(Struct, frozen=True, tag_field="schema", tag=BATCH_SCHEMA):
    """Everything that shapes a row. Rows of two specs are never mixed: the key of a row has the hash of its spec."""

    version: str = __version__
    """Of this program."""
    commit: str = ""
    """The commit of its code; empty if it is unknown."""
    options: FeedbackOptions = FeedbackOptions()
    """How feedback is made. What only limits the effort makes no other row."""
    format: str = ""
    """The format that all traces have; empty to recognise it."""
    column: str = ""
    """The column of Parquet inputs that holds the trace; empty to find it."""
    prompts: str = ""
    """A hash of all prompt templates; empty for the rules."""

    @property
    def stored(self) -> BatchSpec:
        """What `_spec.json` holds: equal for two specs that make equal rows."""
        return replace(self, options=self.options.without_limits().resolved(is_session=False))

    @property
    def hash(self) -> str:
        """Equal for two specs that make equal rows."""
        return hashlib.sha256(msgspec.json.encode(self.stored)).hexdigest()[:16]

    @property
    def described_version(self) -> str:
        """The version with the beginning of the commit."""
        return f"{self.version} (commit {self.commit[:12]})" if self.commit else self.version

    @property
    def analyst(self) -> str:
        """Who analyses; of a command its program alone, because its arguments may be secrets."""
        model = self.options.model or RULES
        if not model.startswith("exec:"):
            return model
        from dense.model import resolve  # not for the rules: it loads the model client

        return str(resolve(model, environment={}))

    def differences(self, other: BatchSpec) -> list[str]:
        """What is different in a spec that makes other rows, in words."""
        before, after = (_flat(msgspec.to_builtins(spec.stored)) for spec in (self, other))
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return [f"{name}: {before.get(name)!r} → {after.get(name)!r}" for name in names]


def _flat(spec: dict[str, Any]) -> dict[str, Any]:
    options = {name: field.default for name, field in OPTIONS.items()} | spec["options"]
    return {name: value for name, value in spec.items() if name != "options"} | options


def prompts_hash(model: str) -> str:
    """The hash of all prompt templates, if a model is asked."""
    return hashlib.sha256(msgspec.json.encode(prompt_hashes(), order="sorted")).hexdigest()[:16] if model else ""


class WorkLimits(Struct, frozen=True):
    """Limits of one run, which change no row that has no error."""

    max_bytes: int = 200_000_000
    """A larger trace gets a row with an error: it would not fit into a worker's memory."""
    seconds: float = 600.0
    """A process that works longer on one trace is ended, and the trace gets a row with an error. Not for models."""
    jobs: int = 4
    """Traces at once, if a model analyses."""
    spent: float = 0.0
    """What earlier runs of this process's batch spent, of the options' `max_usd`."""
