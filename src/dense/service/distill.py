"""`dense.distill`: DENSE's own method on one trajectory, for Python programs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.analyst import Analyst
from dense.analysis.asking.questions import Answerer
from dense.analysis.detectors.assessment import TraceAssessment
from dense.errors import DenseError
from dense.feedback import Feedback
from dense.methods.catalogue import method
from dense.model import OpenModel
from dense.options import FeedbackOptions
from dense.service.analysts import AnalystChoice, analyst_choice, model_settings, opened_model
from dense.service.files import RECONCILED, TREE
from dense.service.instead import feedback_or_rules
from dense.service.record import RunRecord
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
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
) -> Distillation:
    """Distill a trajectory into feedback for the next attempt, as `dense distill` does.

    The model or the answers file that `options` name answer the questions; or an open `model`, which several calls may
    share (see `dense.model.open_model`), or any `analyst`; with none of them, the built-in rules. The same trajectory
    and the same answers give the same result, however the calls overlapped. If no answer of a model could be used, the
    rules answer: then `record.instead` is set, and the message's first line says so. Raises `UnansweredCalls` if calls
    failed for good, `ModelError` if the model cannot be used at all, other kinds of `DenseError` if the trajectory has
    nothing to learn from, or if the method makes no tree."""
    return await _distill(trajectory, AnalystChoice(model, analyst), options.resolved(is_session=False))


def distill_sync(
    trajectory: Trajectory,
    analyst: Analyst | Answerer | None = None,
    *,
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
) -> Distillation:
    """`distill` for callers that do not await it. In a running event loop, as in a notebook, it runs in a thread."""
    return _wait_for(trajectory, AnalystChoice(analyst=analyst), options.resolved(is_session=False))


def distill_session(trajectory: Trajectory, options: FeedbackOptions) -> Distillation:
    """`distill_sync` for a stored session of a project: the request that feedback is for has been chosen already."""
    return _wait_for(trajectory, AnalystChoice(), replace(options.resolved(is_session=True), turn=None))


async def _distill(trajectory: Trajectory, given: AnalystChoice, options: FeedbackOptions) -> Distillation:
    """`given` is who answers, if the caller says so; otherwise the options do."""
    chosen = method(options.chosen_method)
    if given.analyst is not None or given.model is not None:
        choice = replace(given, settings=model_settings(options))
        result = await feedback_or_rules(chosen, trajectory, choice, options=options)
    else:
        async with opened_model(options) as model:
            result = await feedback_or_rules(chosen, trajectory, analyst_choice(options, model), options=options)
    run = result.require()
    source, reconciled = run.files.get(TREE), run.files.get(RECONCILED)
    if not isinstance(source, SourceTree) or not isinstance(reconciled, ReconciledTree) or run.assessment is None:
        raise DenseError(f"the method {chosen.name} makes no reconciled tree: run it with `make_feedback`")
    return Distillation(source, reconciled, run.feedback, run.record, run.assessment)


def _wait_for(trajectory: Trajectory, given: AnalystChoice, options: FeedbackOptions) -> Distillation:
    done: list[Distillation] = []

    async def run() -> None:
        # Not as the task's result: on its way out `asyncio.run` formats all of that, for a message nobody reads.
        done.append(await _distill(trajectory, given, options))

    if given.analyst is None and options.model is None and options.answers is None:
        next(run().__await__(), None)  # the rules wait for nobody: their run ends with its first step
        return done[0]
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # there is none
        asyncio.run(run())
    else:
        with ThreadPoolExecutor(1) as executor:
            executor.submit(asyncio.run, run()).result()
    return done[0]
