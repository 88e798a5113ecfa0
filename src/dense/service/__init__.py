"""The feedback service: one method on one trajectory, with its record and its files.

`make_feedback` is the only way to feedback. `dense.distill`, the command line and REFIT call it, so they behave alike:
the same cleaning, the same budgets, the same record, the same rule when calls to a model fail.

Comes in: a method (`dense.methods`), a trajectory, who answers (`AnalystChoice`). Goes out: `FeedbackRun`, or
`FailedRun` with the record of what happened. Prints nothing, and must never import
`cli`."""

from __future__ import annotations

from dense.service.analysts import AnalystChoice, ModelSettings
from dense.service.distill import Distillation, distill, distill_sync
from dense.service.feedback import FailedRun, FeedbackOptions, FeedbackRun, make_feedback
from dense.service.files import read_reconciled, read_record, read_tree, write_failure, write_run
from dense.service.record import RunRecord
from dense.service.turns import TurnChoice, select_turn

__all__ = [
    "AnalystChoice",
    "Distillation",
    "FailedRun",
    "FeedbackOptions",
    "FeedbackRun",
    "ModelSettings",
    "RunRecord",
    "TurnChoice",
    "distill",
    "distill_sync",
    "make_feedback",
    "read_reconciled",
    "read_record",
    "read_tree",
    "select_turn",
    "write_failure",
    "write_run",
]
