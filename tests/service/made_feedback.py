"""The service in one line, for tests of methods: feedback, or the error of the run."""

from __future__ import annotations

import asyncio
from typing import Any

from dense.analyst import Analyst
from dense.analyst.questions import Answerer
from dense.methods import AnyMethod, method
from dense.outcome import Outcome
from dense.service import AnalystChoice, FeedbackOptions, FeedbackRun, make_feedback
from dense.trajectory import Trajectory


def made_feedback(
    chosen: AnyMethod | str,
    trajectory: Trajectory,
    analyst: Analyst | Answerer | None = None,
    *,
    outcome: Outcome | None = None,
    **options: Any,
) -> FeedbackRun:
    """What a method makes of a trajectory; without an analyst, the rules answer."""
    if isinstance(chosen, str):
        chosen = method(chosen)
    choice = AnalystChoice(analyst=analyst)
    run = make_feedback(chosen, trajectory, choice, outcome=outcome, options=FeedbackOptions(**options))
    return asyncio.run(run).require()
