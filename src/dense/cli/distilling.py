"""What `dense distill` does: estimates the cost, distills, writes a record for each trajectory, sums up."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import cast

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

from dense.analyst.instant import InstantAnalyst
from dense.analyst.model import ModelAnalyst
from dense.analyst.questions import Analyst
from dense.analyst.rules import RulesAnalyst
from dense.analyst.scripted import Recording, ScriptedAnalyst
from dense.analyst.views import FULL, SMALL
from dense.cli.distill import ASK_ABOVE
from dense.cli.outline import outline
from dense.cli.text import printable, shortened, size
from dense.distillation import Budgets, Profile
from dense.distillation.estimate import Estimate, Nobody
from dense.distillation.record import Done, Run, read_reconciled, run_record
from dense.errors import CallFailed, DenseError, MissingInput, ModelError
from dense.methods import AnyMethod, Trail, method
from dense.methods import run as run_method
from dense.methods.asking import OUTPUT, MethodModel, disown_unusable, room_in
from dense.methods.estimate import estimate
from dense.methods.faults import told
from dense.methods.files import prompt_hashes, write, write_failure
from dense.methods.rules import MethodRules
from dense.model import (
    DEFAULT_CONTEXT_WINDOW,
    CallLedger,
    ChatModel,
    OpenModel,
    TalliedModel,
    context_window,
    open_model,
    prices_of,
    resolve,
)
from dense.outcome import Outcome
from dense.readers import Unread, files_of, read_file
from dense.readers.files import EventFolder, TraceFile
from dense.readers.outcomes import read_outcomes
from dense.readers.walk import is_harbor_trial
from dense.trajectory import Trajectory, Usage

ANSWERS = "answers.jsonl"
"""What recorded answers are called, in the folder of their trajectory: questions are named within a trajectory."""


TREES = 5
"""Of so many trajectories at most the trees are shown at the end."""
SMALL_CONTEXT, SMALL_OUTPUT = 8_000, 450
"""The window of a small local model, and how long its answers may be."""


@dataclass(frozen=True)
class Settings:
    """What the options come to."""

    out: Path
    model: str | None
    base_url: str | None
    answers: Path | None
    record: bool
    profile: Profile
    budgets: Budgets
    redacted: bool
    small: bool
    concurrency: int
    jobs: int
    cache: Path | None
    max_usd: float | None
    method: str = "dense"
    context: int | None = None

    @property
    def window(self) -> int:
        """How many tokens a question and its answer may take: as told, else as the provider's models have it."""
        if self.context is not None:
            return self.context
        if self.small:
            return SMALL_CONTEXT
        if self.model is None:
            return DEFAULT_CONTEXT_WINDOW
        return context_window(resolve(self.model, base_url=self.base_url, environment=os.environ))

    @property
    def room(self) -> int:
        """How many bytes of a trajectory one question may show."""
        return room_in(self.window, SMALL_OUTPUT) if self.small else room_in(self.window)

    @property
    def max_output_tokens(self) -> int:
        """Where answers are cut."""
        return SMALL_OUTPUT if self.small else OUTPUT

    def script(self, name: str) -> Path:
        """The file of answers for a trajectory: the one that was named, or its own in a folder of recorded ones."""
        path = self.answers or Path()
        return path / name / ANSWERS if path.is_dir() else path

    def analyst(self, model: ChatModel) -> ModelAnalyst:
        """The analyst that puts questions to a model."""
        name = self.model or "model"
        if self.small:
            return ModelAnalyst(
                model,
                name=name,
                limits=SMALL,
                context_tokens=self.window,
                max_output_tokens=SMALL_OUTPUT,
                temperature=0,
            )
        return ModelAnalyst(model, name=name, limits=FULL, context_tokens=self.window)

    def answering(self, model: ChatModel | None, name: str) -> Analyst | InstantAnalyst:
        """Who answers a method's questions about the trajectory of this name: a model, a script, or the rules."""
        if model is not None:
            if self.small:
                return MethodModel(
                    self.analyst(model), model, room=self.room, max_output_tokens=SMALL_OUTPUT, temperature=0
                )
            return MethodModel(self.analyst(model), model, room=self.room)
        return ScriptedAnalyst(self.script(name)) if self.answers is not None else MethodRules(RulesAnalyst())

    def answered_by(self, model: OpenModel | None) -> str:
        """The same for the record."""
        if model is not None:
            return model.name
        return f"scripted:{self.answers}" if self.answers is not None else RulesAnalyst.name


@dataclass
class Trajectories:
    """What is to be distilled, read anew each time it is gone through: a folder of traces need not fit into memory."""

    paths: list[Path]
    format: str | None
    task: str | None
    problems: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])

    def __iter__(self) -> Iterator[Trajectory]:
        self.problems, self.warnings = [], []
        for path in self.paths:
            try:
                for file in files_of(path):
                    yield from self._of(file, is_alone=not path.is_dir())
            except DenseError as error:
                self.problems.append(str(error))

    def _of(self, file: TraceFile | EventFolder, is_alone: bool) -> Iterator[Trajectory]:
        for item in read_file(file, format=self.format, task=self.task):
            if not isinstance(item, Unread):
                trajectory = item.collect()
                if trajectory.task is None:
                    self.warnings.append(f"{trajectory.source}: no task in the trace; give it with --task")
                yield trajectory
            elif item.is_trace or is_alone:
                self.problems.append(item.reason)


def run(trajectories: Trajectories, settings: Settings, *, only_estimate: bool, yes: bool) -> Report | None:
    """Estimates, asks if need be, distills. None where only the estimate was asked for."""
    if settings.model is None and only_estimate:
        who = "the built-in rules answer" if settings.answers is None else f"{settings.answers} answers"
        count = _number(sum(1 for _ in trajectories))
        Console(highlight=False, soft_wrap=True).print(f"estimate for {count}: 0 calls, 0 USD: {who}", markup=False)
        return None
    if settings.model is not None and (only_estimate or not yes):
        _estimate(trajectories, settings, only_estimate=only_estimate)
        if only_estimate:
            return None
    return asyncio.run(_run(trajectories, settings))


def _estimate(trajectories: Trajectories, settings: Settings, *, only_estimate: bool) -> None:
    """Tells the cost; asks whether to go on where it is above the threshold and somebody is there to answer."""
    out = Console(highlight=False, stderr=not only_estimate, soft_wrap=True)
    total, rows, failures, is_known = Estimate(0, Usage(0, None, None, 0), None), 0, list[str](), True
    prices = prices_of(resolve(settings.model or "", base_url=settings.base_url, environment=os.environ))
    at = datetime.now(UTC).isoformat()
    chosen = method(settings.method)
    for trajectory in trajectories:
        analyst = settings.analyst(Nobody())
        try:
            work = estimate(
                chosen, trajectory, analyst, prices, settings.profile, at, settings.room, settings.max_output_tokens
            )
            found = asyncio.run(work)
        except Exception as error:
            # What lacks its input fails before it costs anything. All else may be due to the made-up replies, or come
            # after calls that are paid for.
            failures.append(failure(error, chosen, trajectory))
            is_known = is_known and (isinstance(error, MissingInput) or not trajectory.steps)
            continue
        rows += 1
        usd = found.usd if total.usd is None else total.usd if found.usd is None else total.usd + found.usd
        total = Estimate(total.calls + found.calls, total.usage + found.usage, usd)
        if only_estimate:
            out.print(f"{shortened(str(trajectory.source), 70)}: {_told(found)}", markup=False)
    out.print(f"estimate for {_number(rows)}: {_told(total)}", markup=False)
    if failures and not only_estimate:  # the run itself will tell of each
        out.print(
            f"without {len(failures)} that could not be estimated; the first: {printable(failures[0])}", markup=False
        )
    if only_estimate:
        trajectories.problems += failures
    elif not is_known:
        _confirm("what this would cost is unknown: the method cannot be estimated")
    elif total.usd is not None and total.usd > ASK_ABOVE:
        _confirm(f"this would cost about {total.usd:.2f} USD")


def _number(count: int) -> str:
    return f"{count} {'trajectory' if count == 1 else 'trajectories'}"


def _confirm(cost: str) -> None:
    """Goes on only where somebody is there and says so."""
    if not sys.stdin.isatty():
        raise DenseError(f"{cost}; say --yes to go on, or --max-usd to bound it")
    typer.confirm(f"{cost}; go on?", abort=True, err=True)


def failure(error: Exception, chosen: AnyMethod, trajectory: Trajectory) -> str:
    """One line on a trajectory of which nothing came. What ends the whole run is raised again."""
    if isinstance(error, ModelError) and not isinstance(error, CallFailed):
        raise error
    words = words_of(error, chosen)
    source = str(trajectory.source)
    if words.startswith(source):
        return words
    return f"{source}: {words}" if words.startswith(chosen.name) else f"{source}: {chosen.name}: {words}"


def words_of(error: Exception, chosen: AnyMethod) -> str:
    """What went wrong: in the error's own words where they are for people."""
    return str(error) if isinstance(error, DenseError) else told(error, type(chosen).__module__)


def _told(found: Estimate) -> str:
    usd = "price unknown" if found.usd is None else f"{found.usd:.4f} USD"
    return f"{found.calls} calls, about {found.usage.input:,} tokens in, {found.usage.output:,} out, {usd}"


@dataclass
class Report:
    """What is said at the end."""

    out: Path
    done: list[tuple[str, str, int, str]] = field(default_factory=list[tuple[str, str, int, str]])
    """Folder, state in a word, how many judgements fell back, where the trace stands."""
    failures: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    ledger: CallLedger | None = None

    def show(self) -> None:
        out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)
        for folder, state, fallbacks, source in self.done:
            made_up = f", {fallbacks} judgements fell back" if fallbacks else ""
            out.print(f"{self.out / folder}: {printable(state)}{made_up}", markup=False)
            self._tree(out, folder, source)
        if self.ledger is not None:
            totals = self.ledger.totals
            usd = "price unknown" if totals.usd is None else f"{totals.usd:.4f} USD"
            spent = f"{totals.usage.input or 0:,} tokens in, {totals.usage.output or 0:,} out, {usd}"
            out.print(
                f"{totals.calls} calls ({totals.cached} from the cache, {totals.failed} failed), {spent}", markup=False
            )
        for warning in self.warnings:
            err.print(f"warning: {printable(warning)}", markup=False)
        for failure in self.failures:
            err.print(f"error: {printable(failure)}", markup=False)

    def _tree(self, out: Console, folder: str, source: str) -> None:
        """The tree of a trajectory, where there are only a few, and where its feedback stands."""
        path = self.out / folder
        if len(self.done) > TREES or not (path / "reconciled.json").exists():
            return
        out.print(outline(read_reconciled(path / "reconciled.json"), source), soft_wrap=False)
        feedback = path / "feedback.txt"
        out.print(f"feedback for the next attempt ({size(feedback.stat().st_size)}): {feedback}\n", markup=False)


async def _run(trajectories: Trajectories, settings: Settings) -> Report:
    """All trajectories, several at once, under one limit of calls. What a model says of the whole run ends it."""
    report = Report(settings.out)
    with _progress(report) as progress:
        bar = progress.add_task("distilling", total=None)
        try:
            # The model's own block ends by the error too: answers that are on their way are waited for and kept.
            async with _model(settings) as model:
                report.ledger = model.ledger if model is not None else None
                await _run_all(trajectories, settings, model, report, (progress, bar))
        except* ModelError as stop:
            report.failures.append(str(_first(stop)))
    report.failures += trajectories.problems
    report.warnings += trajectories.warnings
    report.done.sort()
    return report


async def _run_all(
    trajectories: Trajectories,
    settings: Settings,
    model: OpenModel | None,
    report: Report,
    shown: tuple[Progress, TaskID],
) -> None:
    progress, bar = shown
    chosen = method(settings.method)
    names, waiting = Names(), asyncio.Semaphore(settings.jobs)

    async def one(trajectory: Trajectory) -> None:
        folder = names.of(trajectory)
        try:
            state, fallbacks = await _distill(chosen, trajectory, settings, model, settings.out / folder)
            report.done.append((folder, state, fallbacks, str(trajectory.source)))
        except Exception as error:
            report.failures.append(failure(error, chosen, trajectory))
        finally:
            waiting.release()
        progress.update(bar, advance=1)

    async with asyncio.TaskGroup() as group:
        for count, trajectory in enumerate(trajectories, 1):
            await waiting.acquire()
            progress.update(bar, total=count)
            group.create_task(one(trajectory))


def _first(errors: BaseExceptionGroup[ModelError]) -> BaseException:
    """What ended the run: the first of the errors of tasks that ran together."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


async def _distill(
    chosen: AnyMethod, trajectory: Trajectory, settings: Settings, model: OpenModel | None, folder: Path
) -> tuple[str, int]:
    """One trajectory, from reading to its files: the attempt's state in a word, and how many questions fell back."""
    tally = TalliedModel(model, model.ledger.prices) if model is not None else None
    analyst = settings.answering(tally, folder.name)
    if settings.record and not isinstance(analyst, InstantAnalyst):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ANSWERS).unlink(missing_ok=True)
        analyst = Recording(analyst, folder / ANSWERS)
    trail = Trail()

    def record(done: Done, failure: str = "") -> Run:
        return run_record(
            trajectory,
            done,
            analyst=settings.answered_by(model),
            profile=settings.profile,
            budgets=settings.budgets,
            calls=tuple(tally.ledger.calls) if tally is not None else (),
            totals=tally.ledger.totals if tally is not None else None,
            prices=model.ledger.prices.source if model is not None else "",
            prompts=prompt_hashes(),
            method=chosen.name,
            failure=failure,
        )

    try:
        made = await run_method(
            chosen,
            trajectory,
            analyst,
            model=tally,
            # Only here is a grade ever read, and only for a method that is privileged by its type.
            outcome=outcome_of(trajectory) if chosen.sees == "outcome" else None,
            profile=settings.profile,
            budgets=settings.budgets,
            room=settings.room,
            redacted=settings.redacted,
            trail=trail,
        )
    except Exception as error:
        if model is not None and tally is not None and tally.ledger.calls:
            write_failure(folder, record(trail, words_of(error, chosen)))
            await disown_unusable(model, tally, trail.asked, error)
        raise
    run = record(made)
    write(folder, made, run)
    return made.state or made.method, run.fallbacks


def outcome_of(trajectory: Trajectory) -> Outcome:
    """How the attempt was graded: what the Harbor trial that it lies in says."""
    path = Path(trajectory.source.path)
    # A path may be relative to a folder within the trial, or be a link into it.
    folders = chain(path.absolute().parents, path.resolve().parents)
    trial = next((folder for folder in folders if is_harbor_trial(folder)), None)
    if trial is None:
        raise MissingInput("no outcome: only the traces of Harbor trials have one beside them")
    outcome = next(read_outcomes(trial))
    if outcome.reward is None and not outcome.verifier_output:
        raise MissingInput(f"no outcome: the verifier of {trial} did not run")
    return outcome


class Names:
    """A folder's name for each trajectory: its ID where that makes one, each only once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def of(self, trajectory: Trajectory) -> str:
        name = re.sub(r"[^\w.-]+", "-", trajectory.id, flags=re.ASCII).strip("-.")[:80] or "trajectory"
        self._taken[name] = count = self._taken.get(name, 0) + 1
        return name if count == 1 else f"{name}-{count}"


@asynccontextmanager
async def _model(settings: Settings) -> AsyncGenerator[OpenModel | None]:
    if settings.model is None:
        yield None
        return
    settings.out.mkdir(parents=True, exist_ok=True)
    async with open_model(
        settings.model,
        base_url=settings.base_url,
        cache=settings.cache,
        concurrency=settings.concurrency,
        max_usd=settings.max_usd,
    ) as model:
        yield model


class Spent(ProgressColumn):
    """What the run has taken so far, as it goes."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def render(self, task: Bar) -> Text:
        del task
        ledger = self._report.ledger
        if ledger is None:
            return Text("")
        totals = ledger.totals
        tokens = (totals.usage.input or 0) + (totals.usage.output or 0)
        usd = f", {totals.usd:.2f} USD" if totals.usd is not None else ""
        return Text(f"{totals.calls} calls, {tokens:,} tokens{usd}")


def _progress(report: Report) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Spent(report),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
