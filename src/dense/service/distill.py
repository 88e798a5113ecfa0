"""`dense.distill`: DENSE's own method on one trajectory, for Python programs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from msgspec import Struct

from dense.analyst import Analyst, Profile
from dense.analyst.questions import Answerer
from dense.deliver.budget import BudgetChoice
from dense.deliver.message import Environment
from dense.detectors.assessment import TraceAssessment
from dense.feedback import Feedback
from dense.methods.catalogue import method
from dense.model import OpenModel
from dense.redact import Redaction
from dense.service.analysts import AnalystChoice, ModelSettings
from dense.service.feedback import FeedbackOptions, make_feedback
from dense.service.files import RECONCILED, TREE
from dense.service.record import RunRecord
from dense.service.turns import TurnChoice
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, SourceTree


class Distillation(Struct, frozen=True):
    """What DENSE makes of one trajectory."""

    source: SourceTree
    """The nested subtasks with labels and summaries."""
    reconciled: ReconciledTree
    """The same with shortcuts, verdicts and issues."""
    feedback: Feedback
    """What the next attempt gets."""
    record: RunRecord
    """Who answered, what was asked, what it cost."""
    assessment: TraceAssessment
    """What the trajectory shows by itself, whoever analysed it. Not part of the public interface."""


async def distill(
    trajectory: Trajectory,
    analyst: Analyst | Answerer | None = None,
    *,
    model: OpenModel | None = None,
    settings: ModelSettings = ModelSettings(),  # noqa: B008 - immutable
    profile: Profile = "fast",
    budget: BudgetChoice = None,
    environment: Environment = "fresh",
    redacted: Redaction = True,
    turn: TurnChoice = "all",
) -> Distillation:
    """Distill a trajectory into feedback for the next attempt, as `dense distill` does.

    A `model` (see `dense.model.open_model`) or any `analyst` answers the questions; with neither, the built-in rules
    do. `settings` say how a model is asked; `turn` chooses among the requests of a session. The same trajectory and the
    same answers give the same result, however the calls overlapped. Raises `UnansweredCalls` if calls failed for good,
    `ModelError` if the model cannot be used at all, other kinds of `DenseError` if the trajectory has nothing to learn
    from."""
    choice = AnalystChoice(model, analyst, settings=settings)
    options = FeedbackOptions(profile=profile, budget=budget, redacted=redacted, environment=environment, turn=turn)
    run = (await make_feedback(method("dense"), trajectory, choice, options=options)).require()
    source, reconciled = cast("SourceTree", run.files[TREE]), cast("ReconciledTree", run.files[RECONCILED])
    return Distillation(source, reconciled, run.feedback, run.record, cast("TraceAssessment", run.assessment))


def distill_sync(
    trajectory: Trajectory,
    analyst: Analyst | Answerer | None = None,
    *,
    profile: Profile = "fast",
    budget: BudgetChoice = None,
    environment: Environment = "fresh",
    redacted: Redaction = True,
    turn: TurnChoice = "all",
) -> Distillation:
    """`distill` for callers that do not await it. In a running event loop, as in a notebook, it runs in a thread."""
    done: list[Distillation] = []

    async def run() -> None:
        # Not as the task's result: on its way out `asyncio.run` formats all of that, for a message nobody reads.
        done.append(
            await distill(
                trajectory,
                analyst,
                profile=profile,
                budget=budget,
                environment=environment,
                redacted=redacted,
                turn=turn,
            )
        )

    if analyst is None:  # the rules wait for nobody, so their run ends with its first step and needs no event loop
        next(run().__await__(), None)
        return done[0]
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # there is none
        asyncio.run(run())
    else:
        with ThreadPoolExecutor(1) as executor:
            executor.submit(asyncio.run, run()).result()
    return done[0]
