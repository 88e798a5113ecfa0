"""Finds what a path holds for a page: a trace, a distilled folder, or a cell of an experiment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.detectors.assessment import TraceAssessment
from dense.errors import DenseError
from dense.methods import AnyMethod
from dense.methods import method as named_method
from dense.options import FeedbackOptions, Redaction
from dense.readers import read
from dense.service.analysts import AnalystChoice, analyst_choice, opened_model
from dense.service.drafting import clean
from dense.service.files import MESSAGE, RECONCILED, REPORT, RUN, read_reconciled, read_record
from dense.service.instead import feedback_or_rules
from dense.service.outcomes import trial_outcome
from dense.service.record import RunRecord
from dense.service.turns import select_turn
from dense.trajectory import Task, Trajectory
from dense.tree import ReconciledTree, leaves

FEEDBACK_FOLDER, TRY_FOLDERS = "feedback", "try-*"
"""In the folder of an experiment's cell: the feedback that it was given, and what it did in each try."""


class LoadedRun(Struct, frozen=True):
    """One attempt with what was made of it."""

    trajectory: Trajectory
    """Without feedback of earlier rounds and, unless asked otherwise, without credentials."""
    record: RunRecord
    """How the feedback was made."""
    report: str
    """The report alone."""
    message: str
    """What the next attempt gets; empty for a method without feedback."""
    tree: ReconciledTree | None = None
    """None for a method that makes no tree."""
    given: str = ""
    """The message that this attempt itself was given, in an experiment."""
    notes: tuple[str, ...] = ()
    """What a reader of the page must know: a trace that is no longer there."""
    assessment: TraceAssessment | None = None
    """What the trajectory shows by itself, of a run whose analysis was just made."""


def load_runs(
    path: Path,
    *,
    methods: Sequence[str] = ("dense",),
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
    format: str | None = None,
    task: str | None = None,
    confirm: Callable[[Trajectory], None] = lambda _: None,
) -> list[LoadedRun]:
    """What is at a path: the one run of a distilled folder, or one for each method on the only trajectory of a trace.

    `confirm` sees the trajectory before anything is asked, and may raise. Raises `DenseError` if there is nothing, or
    more than one trajectory."""
    if (path / RUN).is_file():
        return [_distilled(path, redacted=options.redact)]
    given = _given_message(path) if path.is_dir() else ""
    trajectory = _only_trajectory(_attempt(path), format, task)
    options = options.resolved(is_session=False)
    trajectory = select_turn(trajectory, options.turn or "all")
    confirm(trajectory)
    return [replace(run, given=given) for run in load_trajectory(trajectory, methods=methods, options=options)]


def load_trajectory(
    trajectory: Trajectory,
    *,
    methods: Sequence[str] = ("dense",),
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
) -> list[LoadedRun]:
    """A run of each method on a trajectory, whose request has been chosen, by whom the options name."""
    return asyncio.run(_all_made(trajectory, methods, replace(options, turn=None)))


async def _all_made(trajectory: Trajectory, methods: Sequence[str], options: FeedbackOptions) -> list[LoadedRun]:
    async with opened_model(options) as model:
        choice = analyst_choice(options, model)
        return [await _made(trajectory, named_method(name), choice, options) for name in methods]


async def _made(
    trajectory: Trajectory, method: AnyMethod, choice: AnalystChoice, options: FeedbackOptions
) -> LoadedRun:
    outcome = trial_outcome(trajectory) if method.sees == "outcome" else None
    run = (await feedback_or_rules(method, trajectory, choice, outcome=outcome, options=options)).require()
    tree = cast("ReconciledTree | None", run.files.get(RECONCILED))
    return LoadedRun(
        trajectory=cast("Trajectory", run.trajectory),
        record=run.record,
        report=run.feedback.report,
        message=run.feedback.message,
        tree=tree,
        assessment=run.assessment,
    )


def _only_trajectory(path: Path, format: str | None, task: str | None) -> Trajectory:
    trajectories: list[Trajectory] = []
    for trajectory in read(path, format=format, task=task):
        trajectories.append(trajectory)
        if len(trajectories) > 1:
            raise DenseError(
                f"{path} holds several trajectories: name the file of one, or distill them all with"
                " `dense distill --out DIR` and view a folder of DIR"
            )
    if not trajectories:
        raise DenseError(f"{path} holds no trace")
    return trajectories[0]


def _distilled(folder: Path, *, redacted: Redaction) -> LoadedRun:
    """The run in a folder that `dense distill` wrote, with its trace if that is still there."""
    try:
        record = read_record(folder / RUN)
        tree = read_reconciled(folder / RECONCILED) if (folder / RECONCILED).is_file() else None
        report, message = ((folder / name).read_text(encoding="utf-8") for name in (REPORT, MESSAGE))
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise DenseError(f"{folder} is not a complete result of `dense distill` ({error}): distill it again") from None
    trajectory = _source_trajectory(folder, record)
    if trajectory is not None:
        cleaned, _ = clean(trajectory, redacted=redacted)
        return LoadedRun(trajectory=cleaned, record=record, report=report, message=message, tree=tree)
    steps = tuple(leaf.step for leaf in leaves(tree.root)) if tree is not None else ()
    kept = Trajectory(format=record.format, id=record.trajectory, source=record.source, task=_task(tree), steps=steps)
    note = f"The trace is no longer at {record.source.path}: steps show what the result itself holds."
    return LoadedRun(trajectory=kept, record=record, report=report, message=message, tree=tree, notes=(note,))


def _task(tree: ReconciledTree | None) -> Task | None:
    return tree.task if tree is not None else None


def _source_trajectory(folder: Path, record: RunRecord) -> Trajectory | None:
    """The trajectory that a record names, by its path as given or relative to the result's folder."""
    for base in (Path(), folder):
        path = base / record.source.path
        if not path.exists():
            continue
        try:
            return next((trajectory for trajectory in read(path) if trajectory.id == record.trajectory), None)
        except DenseError:
            return None
    return None


def _given_message(cell: Path) -> str:
    """The message that the attempt of an experiment's cell was given; empty if this is no such folder."""
    path = cell / MESSAGE
    if not (cell / FEEDBACK_FOLDER).is_dir() or not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def _attempt(path: Path) -> Path:
    """Where the trace of a cell's last try is; any other path itself."""
    tries = [folder for folder in path.glob(TRY_FOLDERS) if folder.is_dir()] if path.is_dir() else []
    return max(tries, key=lambda folder: (len(folder.name), folder.name), default=path)
