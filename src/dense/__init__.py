"""DENSE: what an AI agent did, turned into feedback that makes its next attempt succeed."""

from dense.errors import DenseError, NoTrajectory, SkippedRecords, UnknownFormat
from dense.outcome import Outcome
from dense.readers import read
from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory, Usage

__version__ = "0.1.0"

__all__ = [
    "DenseError",
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
    "read",
]
