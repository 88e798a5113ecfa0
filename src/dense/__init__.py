"""DENSE turns the trajectory of an AI agent into structured feedback for its next attempt.

The public interface is what these modules name in `__all__`: `dense`, `dense.convert`, `dense.errors`, `dense.facets`,
`dense.methods`, `dense.model`, `dense.readers`, `refit.report`, `dense.service`, `dense.trajectory` and `dense.tree`.
Everything else is private and may change in any release."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dense.errors import DenseError, NoTrajectory, SkippedRecords, UnknownFormat
from dense.feedback import Feedback
from dense.options import FeedbackOptions
from dense.outcome import Outcome
from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory, Turn, Usage
from dense.version import __version__

if TYPE_CHECKING:
    from dense.analysis.asking.scripted import RecordingAnswerer, ScriptedAnswerer
    from dense.message.budget import Budgets
    from dense.model import open_model
    from dense.readers import read
    from dense.service import Distillation, RunRecord, distill, distill_sync

__all__ = [
    "Budgets",
    "DenseError",
    "Distillation",
    "Feedback",
    "FeedbackOptions",
    "NoTrajectory",
    "Notice",
    "Observation",
    "Outcome",
    "RecordingAnswerer",
    "RunRecord",
    "ScriptedAnswerer",
    "SkippedRecords",
    "Source",
    "Step",
    "Task",
    "ToolCall",
    "Trajectory",
    "Turn",
    "UnknownFormat",
    "Usage",
    "__version__",
    "distill",
    "distill_sync",
    "open_model",
    "read",
]

_LAZY = {
    "Budgets": "dense.message.budget",
    "Distillation": "dense.service",
    "RecordingAnswerer": "dense.analysis.asking.scripted",
    "RunRecord": "dense.service",
    "ScriptedAnswerer": "dense.analysis.asking.scripted",
    "distill": "dense.service",
    "distill_sync": "dense.service",
    "open_model": "dense.model",
    "read": "dense.readers",
}
"""Names that are loaded when first used: a command waits only for what it needs."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dense' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
