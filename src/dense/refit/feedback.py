"""Makes the feedback that a cell starts with, out of the attempt before it, and leaves it in the cell's folder.

The same door as `dense distill` (`dense.methods.run`). What grades an attempt is read here only for a method that is
privileged by its type."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dense.analyst.model import ModelAnalyst
from dense.analyst.rules import RulesAnalyst
from dense.deliver.memory import Item, remembered
from dense.distillation.record import Done, Run, run_record
from dense.errors import DenseError, MissingInput, ModelError, Unanswered
from dense.methods import AnyMethod, Made, Trail, method, run
from dense.methods.asking import MethodModel, disown_unusable, room_in
from dense.methods.faults import told
from dense.methods.files import prompt_hashes, write, write_failure
from dense.methods.rules import MethodRules
from dense.model import (
    DEFAULT_CONTEXT_WINDOW,
    CallTotals,
    GivenPrices,
    ModelCall,
    OpenModel,
    TalliedModel,
    context_window,
    open_model,
    resolve,
)
from dense.outcome import Outcome
from dense.readers import read
from dense.readers.outcomes import read_outcomes
from dense.refit.config import ExperimentConfig
from dense.refit.store.events import FeedbackMade
from dense.refit.store.state import FREE
from dense.refit.tasks import TaskFolder
from dense.trajectory import Source, Task, Trajectory, Usage

FOLDER, ITEM, MESSAGE = "feedback", "item.json", "message.txt"
"""In a cell's folder: the newest feedback with its record; in it, what later rounds remember; what the agent gets."""
FAILED = "feedback-failed-{}"
"""In a cell's folder, for each try at its feedback that failed: the record, `run.json`."""


class SourceAttempt(Struct, frozen=True):
    """The attempt that feedback is made of."""

    trial: Path
    """Its folder."""
    trace: Path | None
    """Its trajectory's file; None where it left none."""


class Prepared(Struct, frozen=True):
    """Everything that a cell starts with."""

    message: str | None
    """What the recipient gets; None for the task alone."""
    items: tuple[Item, ...]
    """What this and later rounds remember, oldest first."""
    made: FeedbackMade
    """For the store."""


class Maker:
    """Makes feedback with one analyst, for all methods alike."""

    def __init__(self, config: ExperimentConfig, model: OpenModel | None) -> None:
        self._config, self._model = config, model
        self._methods = {name: method(name) for name in config.methods}
        self._window = _window(config)
        self._shares = config.memory if config.rounds > 1 else 1

    async def make(
        self, name: str, source: SourceAttempt, task: TaskFolder, place: Path, earlier: Sequence[Item]
    ) -> Prepared:
        """The feedback of a method on an attempt, and the message that carries it with what is remembered from earlier
        rounds. When this returns, `place` holds both."""
        chosen = self._methods[name]
        trajectory = _trajectory(chosen, source, task)
        tally = TalliedModel(self._model, self._model.ledger.prices) if self._model is not None else None
        trail = Trail()
        try:
            made = await self._made(chosen, trajectory, source, tally, trail)
        except Exception as error:
            failure = str(error) if isinstance(error, DenseError) else told(error, self.module_of(name))
            _write_failure(place, self._record(name, trajectory, trail, tally, failure))
            if self._model is not None and tally is not None:
                await disown_unusable(self._model, tally, trail.asked, error)
            raise
        items = self._remembered(earlier, made.item)
        message = remembered(items, Task(task.instruction), self._config.budget.complete) if items else None
        totals = tally.ledger.totals if tally is not None else CallTotals()
        self._write(place, made, message, self._record(name, trajectory, made, tally))
        return Prepared(message, items, _event(made, message, totals))

    async def _made(
        self, chosen: AnyMethod, trajectory: Trajectory, source: SourceAttempt, tally: TalliedModel | None, trail: Trail
    ) -> Made:
        """What the method makes, if every question was answered, well or not."""
        try:
            made = await run(
                chosen,
                trajectory,
                MethodRules(RulesAnalyst()) if tally is None else self._asking(tally),
                model=tally,
                outcome=_outcome(source.trial) if chosen.sees == "outcome" else None,
                profile=self._config.analyst.profile,
                budgets=self._config.budgets,
                room=room_in(self._window),
                redacted=self._config.redact,
                memory=self._shares,
                trail=trail,
            )
        except DenseError as error:
            if not isinstance(error, ModelError) and tally is not None and tally.ledger.totals.failed:
                raise self._unanswered(tally) from None
            raise
        if tally is not None and tally.ledger.totals.failed and any(asked.fell_back for asked in made.asked):
            raise self._unanswered(tally)
        return made

    def watch(self, paid: Callable[[ModelCall], None]) -> None:
        """From here on `paid` is told of every call that the analyst's provider was asked, as soon as it has ended."""
        if self._model is not None:
            self._model.ledger.watch = paid

    def module_of(self, name: str) -> str:
        """The module that a method's class stands in."""
        return type(self._methods[name]).__module__

    def _unanswered(self, tally: TalliedModel) -> Unanswered:
        """A question without a usable answer is the method's to deal with; one that nobody answered is not."""
        last = next((call.error for call in reversed(tally.ledger.calls) if call.error), "no answer")
        dead = tally.ledger.totals.failed
        return Unanswered(f"{dead} calls to {self._config.analyst.model} stayed dead; the last: {last}")

    def kept(self, made: FeedbackMade, place: Path, earlier: Sequence[Item]) -> Prepared | None:
        """What an earlier run left in `place`; None where it is not whole, or not what the store says."""
        if not made.message_sha256:
            return Prepared(None, tuple(earlier), made)
        try:
            message = (place / MESSAGE).read_bytes().decode()
            item = msgspec.json.decode((place / FOLDER / ITEM).read_bytes(), type=Item)
        except (OSError, ValueError):
            return None
        is_same = sha256(message.encode()).hexdigest() == made.message_sha256
        is_enough = len(item.reports) >= self._shares  # of an experiment that had fewer rounds, it may not be
        return Prepared(message, self._remembered(earlier, item), made) if is_same and is_enough else None

    def _remembered(self, earlier: Sequence[Item], item: Item | None) -> tuple[Item, ...]:
        return (*earlier, item)[-self._config.memory :] if item is not None else tuple(earlier)

    def _asking(self, model: TalliedModel) -> MethodModel:
        analyst = ModelAnalyst(model, name=self._config.analyst.model or "model", context_tokens=self._window)
        return MethodModel(analyst, model, room=room_in(self._window))

    def _record(
        self, name: str, trajectory: Trajectory, done: Done, tally: TalliedModel | None, failure: str = ""
    ) -> Run:
        """What was asked and what it took, whatever came of it."""
        return run_record(
            trajectory,
            done,
            analyst=self._model.name if self._model is not None else RulesAnalyst.name,
            profile=self._config.analyst.profile,
            budgets=self._config.budgets,
            calls=tuple(tally.ledger.calls) if tally is not None else (),
            totals=tally.ledger.totals if tally is not None else None,
            prices=self._model.ledger.prices.source if self._model is not None else "",
            prompts=prompt_hashes(),
            method=name,
            failure=failure,
        )

    def _write(self, place: Path, made: Made, message: str | None, record: Run) -> None:
        """The message, then all files of the feedback at once: what a killed run left half is not there."""
        folder, whole = place / FOLDER, place / f"{FOLDER}.new"
        for old in (whole, folder):
            shutil.rmtree(old, ignore_errors=True)
        write(whole, made, record)
        if made.item is not None:
            (whole / ITEM).write_bytes(msgspec.json.encode(made.item))
        if message is not None:
            (place / MESSAGE).write_text(message, encoding="utf-8", newline="")
        whole.replace(folder)


def _write_failure(place: Path, record: Run) -> None:
    """Beside those of earlier tries: what each was asked and took."""
    free = next(folder for number in count(1) if not (folder := place / FAILED.format(number)).exists())
    write_failure(free, record, "run.json")


def _event(made: Made, message: str | None, totals: CallTotals) -> FeedbackMade:
    """For the store. Answers from the cache count as what they took back then: a result bears the cost of its feedback,
    whoever paid for it when."""
    return FeedbackMade(
        _used(totals) if totals.calls else FREE,
        round(made.seconds, 3),
        len((message or "").encode()),
        sha256(message.encode()).hexdigest() if message is not None else "",
        made.state,
        sum(asked.fell_back for asked in made.asked),
    )


def _trajectory(chosen: AnyMethod, source: SourceAttempt, task: TaskFolder) -> Trajectory:
    """The attempt as methods see it, under the task's own instruction: what it was told before is cut out of it."""
    if chosen.sees == "task":
        given = Task(task.instruction, task.name, "option")
        return Trajectory("harbor", task.name, Source(str(source.trial)), task=given)
    if source.trace is None:
        raise MissingInput(f"{source.trial}: the attempt left no trace")
    return next(read(source.trace, task=task.instruction))


def _outcome(trial: Path) -> Outcome:
    """How the attempt was graded. Only for a privileged method."""
    return next(read_outcomes(trial))


def _window(config: ExperimentConfig) -> int:
    """How many tokens the analyst's model takes at once."""
    analyst = config.analyst
    if analyst.context is not None:
        return analyst.context
    if analyst.model is None:
        return DEFAULT_CONTEXT_WINDOW
    return context_window(resolve(analyst.model, base_url=analyst.base_url, environment=os.environ))


def _used(totals: CallTotals) -> Usage:
    return replace(totals.usage + totals.cached_usage, cost_usd=_sum(totals.usd, totals.cached_usd))


def _sum(first: float | None, second: float | None) -> float | None:
    return second if first is None else first if second is None else first + second


@asynccontextmanager
async def analyst_model(config: ExperimentConfig, folder: Path, spent: float = 0.0) -> AsyncGenerator[OpenModel | None]:
    """The analyst's model, with a cache in the experiment's folder: no answer is paid for twice. None for the rules.
    What was `spent` on calls before counts towards the limit."""
    analyst = config.analyst
    if analyst.model is None:
        yield None
        return
    given = analyst.prices
    async with open_model(
        analyst.model,
        base_url=analyst.base_url,
        cache=folder / "answers.sqlite",
        concurrency=analyst.concurrency,
        max_usd=config.max_usd,
        spent=spent,
        prices=GivenPrices(given.input, given.output, given.cache_read, given.cache_write) if given else None,
    ) as model:
        yield model
