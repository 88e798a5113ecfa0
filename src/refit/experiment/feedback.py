"""Makes the feedback that a cell starts with, out of the attempt before it, and leaves it in the cell's folder.

By the same service as `dense distill` (`dense.service`). The outcome of an attempt is read only for a method that is
privileged by its type."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dense.errors import MissingInput
from dense.lessons.lesson import evidence_without
from dense.message.memory import MemoryItem, compose_memory
from dense.methods import AnyMethod
from dense.model import CallTotals, GivenPrices, ModelCall, OpenModel
from dense.readers import read
from dense.readers.outcomes import read_outcomes
from dense.service.analysts import analyst_choice, opened_model
from dense.service.feedback import FailedRun, FeedbackRun, RoundContext, make_feedback, read_lessons
from dense.service.files import write_failure, write_run
from dense.service.record import RunRecord
from dense.trajectory import Source, Task, Trajectory, Usage
from refit.experiment.config import ExperimentConfig
from refit.experiment.store.events import FeedbackMade
from refit.experiment.store.state import FREE
from refit.experiment.tasks import TaskFolder
from refit.harness.harness import AttemptResult

FOLDER, ITEM, MESSAGE = "feedback", "item.json", "message.txt"
"""In a cell's folder: the newest feedback with its record; in it, what later rounds remember; what the agent gets."""
RULES, DEFAULT_BUDGET = "rules", "default"
"""In place of a profile where no model is asked; in place of a budget where the attempt's size sets it."""
FAILED = "feedback-failed-{}"
"""In a cell's folder, for each try at its feedback that failed: the record, `failed.json`."""


class SourceAttempt(Struct, frozen=True):
    """The attempt that feedback is made of."""

    trial: Path
    """Its folder."""
    trace: Path | None
    """Its trajectory's file; None if it left none."""
    delivered: str = ""
    """The message that its agent was given as a file; empty if there was none, or as its instruction."""


class Prepared(Struct, frozen=True):
    """Everything that a cell starts with."""

    message: str | None
    """What the recipient gets; None for the task alone."""
    items: tuple[MemoryItem, ...]
    """What this and later rounds remember, oldest first."""
    recorded: FeedbackMade
    """For the store."""


class FeedbackMaker:
    """Makes feedback with one analyst, for all methods of an experiment."""

    def __init__(self, config: ExperimentConfig, model: OpenModel | None, base: Path = Path()) -> None:
        """`base` is the folder of the experiment's file."""
        self._config, self._model = config, model
        self._methods = config.load_methods()
        self._shares = config.memory if config.rounds > 1 else 1
        self._options = {name: config.options_of(arm, base) for name, arm in config.arms.items()}
        self._choice = analyst_choice(config.analyst.options, model)
        self._lessons = {name: read_lessons(options) for name, options in self._options.items()}

    async def make(
        self, name: str, source: SourceAttempt, task: TaskFolder, cell_folder: Path, earlier: Sequence[MemoryItem]
    ) -> Prepared:
        """The feedback of a method on an attempt, and the message that carries it with earlier rounds' feedback.

        When this returns, `cell_folder` holds both. If the run fails, its record is there and its error is raised."""
        chosen = self._methods[name]
        outcome = next(read_outcomes(source.trial)) if chosen.sees == "outcome" else None
        trajectory = _trajectory(chosen, source, task)
        own = Task(task.instruction, task.name)  # whatever the trace says its task is
        context = RoundContext(source.delivered, self._shares, evidence_without(self._lessons[name], own))
        run = await make_feedback(
            chosen, trajectory, self._choice, outcome=outcome, options=self._options[name], context=context
        )
        if isinstance(run, FailedRun):
            write_failure(_free_folder(cell_folder), run.record)
            raise run.error
        items = self._remembered(earlier, run.item)
        message = compose_memory(items, Task(task.instruction)) if items else None
        _write(cell_folder, run, message)
        return Prepared(message, items, self._event(name, run, message))

    def _event(self, name: str, run: FeedbackRun, message: str | None) -> FeedbackMade:
        """For the store. Answers from the cache count as what they took back then: a result bears the cost of its
        feedback, whoever paid for it when."""
        record: RunRecord = run.record
        options = self._options[name]
        return FeedbackMade(
            usage=_used(record.totals) if record.totals.calls else FREE,
            seconds=record.seconds,
            bytes=len((message or "").encode()),
            message_sha256=sha256(message.encode()).hexdigest() if message is not None else "",
            state=run.state,
            fallbacks=record.fallbacks,
            profile="" if message is None else RULES if self._model is None else options.profile,
            budget="" if message is None else str(options.budget or DEFAULT_BUDGET),
        )

    def watch(self, paid: Callable[[ModelCall], None]) -> None:
        """Report every call that the analyst's provider was asked to `paid`, as soon as it has ended."""
        if self._model is not None:
            self._model.ledger.watch = paid

    def module_of(self, name: str) -> str:
        """The module of a method's class."""
        return type(self._methods[name]).__module__

    def kept(self, recorded: FeedbackMade, cell_folder: Path, earlier: Sequence[MemoryItem]) -> Prepared | None:
        """What an earlier run left in `cell_folder`; None if it is incomplete, or not what the store says."""
        if not recorded.message_sha256:
            return Prepared(None, tuple(earlier), recorded)
        try:
            message = (cell_folder / MESSAGE).read_bytes().decode()
            item = msgspec.json.decode((cell_folder / FOLDER / ITEM).read_bytes(), type=MemoryItem)
        except (OSError, ValueError):
            return None
        is_same = sha256(message.encode()).hexdigest() == recorded.message_sha256
        # An experiment that had fewer rounds fitted the report for fewer shares.
        is_enough = len(item.reports) >= self._shares
        return Prepared(message, self._remembered(earlier, item), recorded) if is_same and is_enough else None

    def _remembered(self, earlier: Sequence[MemoryItem], item: MemoryItem | None) -> tuple[MemoryItem, ...]:
        return (*earlier, item)[-self._config.memory :] if item is not None else tuple(earlier)


def delivered_as_file(attempted: AttemptResult, cell_folder: Path) -> str:
    """The message in a cell's folder, if the record of its attempt says that the agent was given it as a file."""
    if attempted.delivered != "file":
        return ""
    return (cell_folder / MESSAGE).read_text(encoding="utf-8")


def _write(cell_folder: Path, run: FeedbackRun, message: str | None) -> None:
    """The message, then all files of the feedback at once: a killed run leaves nothing incomplete."""
    folder, whole = cell_folder / FOLDER, cell_folder / f"{FOLDER}.new"
    for old in (whole, folder):
        shutil.rmtree(old, ignore_errors=True)
    write_run(whole, run)
    if run.item is not None:
        (whole / ITEM).write_bytes(msgspec.json.encode(run.item))
    if message is not None:
        (cell_folder / MESSAGE).write_text(message, encoding="utf-8", newline="")
    whole.replace(folder)


def _free_folder(cell_folder: Path) -> Path:
    """The folder for the next failed try, beside those of earlier ones."""
    return next(folder for number in count(1) if not (folder := cell_folder / FAILED.format(number)).exists())


def _trajectory(chosen: AnyMethod, source: SourceAttempt, task: TaskFolder) -> Trajectory:
    """The attempt under the task's own instruction."""
    if chosen.sees == "task":
        given = Task(task.instruction, task.name, "option")
        return Trajectory(format="harbor", id=task.name, source=Source(str(source.trial)), task=given)
    if source.trace is None:
        raise MissingInput(f"{source.trial}: the attempt left no trace")
    return next(read(source.trace, task=task.instruction))


def _used(totals: CallTotals) -> Usage:
    return replace(totals.usage + totals.cached_usage, cost_usd=_sum(totals.usd, totals.cached_usd))


def _sum(first: float | None, second: float | None) -> float | None:
    return second if first is None else first if second is None else first + second


@asynccontextmanager
async def analyst_model(config: ExperimentConfig, folder: Path, spent: float = 0.0) -> AsyncGenerator[OpenModel | None]:
    """The analyst's model, with a cache in the experiment's folder: no answer is paid for twice. None for the rules.
    What was `spent` on calls before counts towards the limit."""
    given = config.analyst.prices
    prices = GivenPrices(given.input, given.output, given.cache_read, given.cache_write) if given else None
    options = replace(config.analyst.options, cache=folder / "answers.sqlite", max_usd=config.max_usd)
    async with opened_model(options, spent=spent, prices=prices) as model:
        yield model
