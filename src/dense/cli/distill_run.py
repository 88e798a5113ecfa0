"""Runs `dense distill`: reads the traces, calls the service for each, writes a folder for each."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from dense.cli.distill import OutputOptions
from dense.cli.distill_text import DistillSummary, FinishedTrace, instead_line, progress_bar
from dense.cli.read_options import ReadOptions
from dense.errors import CallFailed, DenseError, ModelError
from dense.feedback import Feedback
from dense.lessons.lesson import LessonEvidence
from dense.methods import AnyMethod, method
from dense.model import OpenModel
from dense.options import FeedbackOptions
from dense.readers import UnreadFile, files_of, read_file
from dense.readers.files import EventFolder, TraceFile
from dense.redact import clean_line
from dense.service.analysts import ANSWERS, AnalystChoice, analyst_choice, opened_model
from dense.service.drafting import first_error
from dense.service.feedback import FailedRun, FeedbackRun, RoundContext, describe_failure, read_lessons
from dense.service.files import RECONCILED, write_failure, write_run
from dense.service.instead import feedback_or_rules
from dense.service.outcomes import trial_outcome
from dense.service.result_folders import IndexRow, ResultFolders, folder_name, index_key
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, open_issues

STANDARD_INPUT, PIPED = Path("-"), "standard input"


class DistillRequest(Struct, frozen=True):
    """What the command was asked for."""

    output: OutputOptions
    options: FeedbackOptions
    lessons: tuple[LessonEvidence, ...] = ()
    """The evidence of the options' lessons."""

    @classmethod
    def of(cls, output: OutputOptions, options: FeedbackOptions) -> DistillRequest:
        """The request, with the cache of answers in the folder of the results. Raises what reading the lessons does."""
        if output.out is not None and options.cache is None:
            options = replace(options, cache=output.out / "answers.sqlite")
        return cls(output, options.resolved(is_session=False), read_lessons(options))

    @property
    def out(self) -> Path | None:
        """The folder of the results; None keeps the feedback in memory, to be printed."""
        return self.output.out

    def choice(self, model: OpenModel | None, name: str) -> AnalystChoice:
        """Who answers the questions about the trajectory of this name, and where answers are recorded."""
        recording = self.out / name / ANSWERS if self.output.record and self.out else None
        return replace(analyst_choice(self.options, model, name), answers=recording)


@dataclass
class TraceInputs:
    """The trajectories to distill, read again on each iteration: a folder of traces need not fit into memory."""

    paths: list[Path]
    source: ReadOptions = ReadOptions()  # noqa: RUF009 - immutable
    problems: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    _input: TemporaryDirectory[str] | None = None

    def __post_init__(self) -> None:
        self.source.find_own_reader()
        self.task = self.source.instruction

    def __iter__(self) -> Iterator[Trajectory]:
        self.problems, self.warnings = [], []
        for path in self.paths:
            is_piped = path == STANDARD_INPUT
            try:
                for file in [self._stored_input()] if is_piped else files_of(path):
                    yield from self._trajectories(file, is_alone=not path.is_dir())
            except DenseError as error:
                self.problems.append(str(error))

    def _stored_input(self) -> TraceFile:
        """The standard input as a file: it is read once, and formats are detected from the beginning."""
        name = PIPED.replace(" ", "-")
        if self._input is None:
            self._input = TemporaryDirectory(prefix="dense-")  # lives as long as this
            with (Path(self._input.name) / name).open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        return TraceFile(Path(self._input.name) / name, PIPED)

    def is_piped(self, trajectory: Trajectory) -> bool:
        """Whether a trajectory came through the standard input."""
        return self._input is not None and trajectory.source.path == PIPED

    def _trajectories(self, file: TraceFile | EventFolder, is_alone: bool) -> Iterator[Trajectory]:
        for item in read_file(file, format=self.source.format, task=self.task):
            if not isinstance(item, UnreadFile):
                trajectory = item.collect()
                if trajectory.task is None:
                    self.warnings.append(f"{trajectory.source}: no task in the trace; give it with --task")
                yield trajectory
            elif item.is_trace or is_alone:
                self.problems.append(item.reason)


async def run(traces: TraceInputs, request: DistillRequest) -> DistillSummary:
    """Distill all trajectories, several at once, under one limit of calls. An error of the whole model ends the run.

    An output folder has one writer at a time, and its index names what this run made."""
    if request.out is None:
        return await _run(traces, request, folder_name)
    with ResultFolders(request.out) as folders:
        summary = await _run(traces, request, folders.name)
        folders.update_index(summary.rows)
    return summary


async def _run(traces: TraceInputs, request: DistillRequest, name_of: Callable[..., str]) -> DistillSummary:
    summary = DistillSummary(out=request.out)
    trajectories: Iterable[Trajectory] = traces
    if request.out is None and len(trajectories := list(islice(traces, 2))) > 1:
        summary.failures.append("several trajectories: only one can be printed; write them to a folder with --out")
        return summary
    with progress_bar(summary) as advance:
        try:
            # The model's own block ends by the error too: answers that are on their way are waited for and kept.
            async with opened_model(request.options) as model:
                summary.ledger = model.ledger if model is not None else None
                chosen, waiting = method(request.options.chosen_method), asyncio.Semaphore(request.output.jobs)

                async def distill_next(trajectory: Trajectory) -> None:
                    is_piped = traces.is_piped(trajectory)
                    name = name_of(trajectory, is_piped=is_piped)
                    try:
                        summary.done.append(await _distill(chosen, trajectory, request, model, name, is_piped=is_piped))
                    except Exception as error:
                        line = failure_line(error, chosen, trajectory)
                        summary.failures.append(line)
                        summary.failed.append(_row(trajectory, name, "failed", line, is_piped=is_piped))
                    finally:
                        waiting.release()
                    advance(1, None)

                async with asyncio.TaskGroup() as group:
                    for count, trajectory in enumerate(trajectories, 1):
                        await waiting.acquire()
                        advance(0, count)
                        group.create_task(distill_next(trajectory))
        except* ModelError as stop:
            summary.failures.append(str(first_error(stop)))
    summary.failures += traces.problems
    summary.warnings += [*traces.warnings, *map(instead_line, filter(None, (trace.instead for trace in summary.done)))]
    summary.done.sort()
    return summary


async def _distill(
    chosen: AnyMethod,
    trajectory: Trajectory,
    request: DistillRequest,
    model: OpenModel | None,
    name: str,
    *,
    is_piped: bool,
) -> FinishedTrace:
    """One trajectory, from reading to its files. A run that failed leaves its record and raises its error."""
    choice = request.choice(model, name)
    # Only here is an outcome ever read, and only for a method that is privileged by its type.
    outcome = trial_outcome(trajectory) if chosen.sees == "outcome" else None
    context = RoundContext(lessons=request.lessons)
    run = await feedback_or_rules(chosen, trajectory, choice, options=request.options, outcome=outcome, context=context)
    folder = request.out / name if request.out else None
    if isinstance(run, FailedRun):
        if folder:
            write_failure(folder, run.record)
        raise run.error
    if folder:
        write_run(folder, run)
    feedback = run.feedback if folder is None else Feedback("", "")
    row = _row(trajectory, name if folder else "", run.state or run.method, _first_issue(run), is_piped=is_piped)
    return FinishedTrace(
        folder=name,
        state=run.state or run.method,
        fallbacks=run.record.fallbacks,
        source=row.input,
        feedback=feedback,
        row=row,
        instead=run.record.instead,
    )


def _row(trajectory: Trajectory, name: str, state: str, issue: str, *, is_piped: bool) -> IndexRow:
    path, part, identity = index_key(trajectory)
    return IndexRow(
        input=clean_line(str(trajectory.source)),
        folder=name,
        state=clean_line(state),
        first_issue=clean_line(issue),
        trajectory=identity,
        format=clean_line(trajectory.format),
        agent=clean_line(trajectory.agent or ""),
        path="" if is_piped else path,
        part=part,
    )


def _first_issue(run: FeedbackRun) -> str:
    """The first open issue of a result, as its report would word it."""
    tree = run.files.get(RECONCILED)
    issues = open_issues(tree) if isinstance(tree, ReconciledTree) else []
    return issues[0].text if issues else ""


def failure_line(error: Exception, chosen: AnyMethod, trajectory: Trajectory) -> str:
    """One line on a trajectory without feedback. An error that ends the whole run is raised again."""
    if isinstance(error, ModelError) and not isinstance(error, CallFailed):
        raise error
    words, source = describe_failure(error, chosen), clean_line(str(trajectory.source))
    if words.startswith(clean_line(trajectory.source.path)):
        return words
    return f"{source}: {words}" if words.startswith(chosen.name) else f"{source}: {chosen.name}: {words}"
