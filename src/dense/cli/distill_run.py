"""Runs `dense distill`: reads the traces, calls the service for each, writes a folder for each."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from dense.analyst.scripted import ScriptedAnswerer
from dense.cli.distill_text import DistillSummary, FinishedTrace, progress_bar
from dense.errors import CallFailed, DenseError, ModelError
from dense.feedback import Feedback
from dense.methods import AnyMethod, method
from dense.model import OpenModel, open_model
from dense.readers import UnreadFile, files_of, read_file
from dense.readers.files import EventFolder, TraceFile
from dense.redact import clean_line
from dense.service.analysts import AnalystChoice, ModelSettings, model_settings
from dense.service.drafting import first_error
from dense.service.feedback import FailedRun, FeedbackOptions, FeedbackRun, describe_failure, make_feedback
from dense.service.files import RECONCILED, write_failure, write_run
from dense.service.outcomes import trial_outcome
from dense.service.result_folders import IndexRow, ResultFolders, folder_name, index_key
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, open_issues

STANDARD_INPUT, PIPED = Path("-"), "standard input"
ANSWERS = "answers.jsonl"
"""Recorded answers, in the folder of their trajectory: the keys of questions are unique within a trajectory."""


@dataclass(frozen=True)
class DistillSettings:
    """The options of the command."""

    out: Path | None = None
    """None keeps the feedback in memory, to be printed."""
    method: str = "dense"
    options: FeedbackOptions = FeedbackOptions()  # noqa: RUF009 - immutable
    model: str | None = None
    base_url: str | None = None
    context_tokens: int | None = None
    look_tokens: int | None = None
    is_small: bool = False
    answers: Path | None = None
    record: bool = False
    cache: Path | None = None
    max_usd: float | None = None
    concurrency: int = 16
    jobs: int = 4

    @property
    def model_settings(self) -> ModelSettings:
        """How the model is asked."""
        return model_settings(
            self.model,
            base_url=self.base_url,
            context_tokens=self.context_tokens,
            look_tokens=self.look_tokens,
            is_small=self.is_small,
        )

    def choice(self, model: OpenModel | None, name: str) -> AnalystChoice:
        """Who answers the questions about the trajectory of this name: a model, a script, or the rules."""
        recording = self.out / name / ANSWERS if self.record and self.out else None
        if model is not None or self.answers is None:
            return AnalystChoice(model, settings=self.model_settings, answers=recording)
        script = self.answers / name / ANSWERS if self.answers.is_dir() else self.answers
        return AnalystChoice(
            None, ScriptedAnswerer(script), f"scripted:{self.answers}", self.model_settings, answers=recording
        )


@dataclass
class TraceInputs:
    """The trajectories to distill, read again on each iteration: a folder of traces need not fit into memory."""

    paths: list[Path]
    format: str | None = None
    task: str | None = None
    problems: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    _input: TemporaryDirectory[str] | None = None

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
        for item in read_file(file, format=self.format, task=self.task):
            if not isinstance(item, UnreadFile):
                trajectory = item.collect()
                if trajectory.task is None:
                    self.warnings.append(f"{trajectory.source}: no task in the trace; give it with --task")
                yield trajectory
            elif item.is_trace or is_alone:
                self.problems.append(item.reason)


async def run(traces: TraceInputs, settings: DistillSettings) -> DistillSummary:
    """Distill all trajectories, several at once, under one limit of calls. An error of the whole model ends the run.

    An output folder has one writer at a time, and its index names what this run made."""
    if settings.out is None:
        return await _run(traces, settings, folder_name)
    with ResultFolders(settings.out) as folders:
        summary = await _run(traces, settings, folders.name)
        folders.update_index(summary.rows)
    return summary


async def _run(traces: TraceInputs, settings: DistillSettings, name_of: Callable[..., str]) -> DistillSummary:
    summary = DistillSummary(out=settings.out)
    trajectories: Iterable[Trajectory] = traces
    if settings.out is None and len(trajectories := list(islice(traces, 2))) > 1:
        summary.failures.append("several trajectories: only one can be printed; write them to a folder with --out")
        return summary
    with progress_bar(summary) as advance:
        try:
            # The model's own block ends by the error too: answers that are on their way are waited for and kept.
            async with _model(settings) as model:
                summary.ledger = model.ledger if model is not None else None
                chosen, waiting = method(settings.method), asyncio.Semaphore(settings.jobs)

                async def distill_next(trajectory: Trajectory) -> None:
                    is_piped = traces.is_piped(trajectory)
                    name = name_of(trajectory, is_piped=is_piped)
                    try:
                        summary.done.append(
                            await _distill(chosen, trajectory, settings, model, name, is_piped=is_piped)
                        )
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
    summary.warnings += traces.warnings
    summary.done.sort()
    return summary


async def _distill(
    chosen: AnyMethod,
    trajectory: Trajectory,
    settings: DistillSettings,
    model: OpenModel | None,
    name: str,
    *,
    is_piped: bool,
) -> FinishedTrace:
    """One trajectory, from reading to its files. A run that failed leaves its record and raises its error."""
    choice = settings.choice(model, name)
    # Only here is an outcome ever read, and only for a method that is privileged by its type.
    outcome = trial_outcome(trajectory) if chosen.sees == "outcome" else None
    run = await make_feedback(chosen, trajectory, choice, outcome=outcome, options=settings.options)
    folder = settings.out / name if settings.out else None
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


@asynccontextmanager
async def _model(settings: DistillSettings) -> AsyncGenerator[OpenModel | None]:
    if settings.model is None:
        yield None
        return
    if settings.out is not None:
        settings.out.mkdir(parents=True, exist_ok=True)
    async with open_model(
        settings.model,
        base_url=settings.base_url,
        cache=settings.cache,
        concurrency=settings.concurrency,
        max_usd=settings.max_usd,
    ) as model:
        yield model
