"""DENSE: what an AI agent did, turned into feedback that makes its next attempt succeed."""

from typing import TYPE_CHECKING, Any

from dense.errors import DenseError, NoTrajectory, SkippedRecords, UnknownFormat
from dense.outcome import Outcome
from dense.readers import read
from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory, Usage
from dense.version import __version__

if TYPE_CHECKING:
    from dense.deliver.budget import Budgets
    from dense.service import Distillation, distill, distill_sync

__all__ = [
    "Budgets",
    "DenseError",
    "Distillation",
    "NoTrajectory",
    "Notice",
    "Observation",
    "Outcome",
    "SkippedRecords",
    "Source",
    "Step",
    "Task",
    "ToolCall",
    "Trajectory",
    "UnknownFormat",
    "Usage",
    "__version__",
    "distill",
    "distill_sync",
    "read",
]

_LATER = frozenset({"Budgets", "Distillation", "distill", "distill_sync"})
"""Loaded when they are first asked for: who only reads traces need not wait for what talks to models."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'dense' has no attribute {name!r}")
    from dense import service
    from dense.deliver.budget import Budgets

    return Budgets if name == "Budgets" else getattr(service, name)
