"""Carries out single steps of an experiment, each at most once, and writes down what came of it.

One of two modules where an exception becomes a record: what goes wrong with a cell is a cell's, and the others go
on. What makes all further work pointless (a refused key, a spending limit, nothing but failures) stops the run when
what is under way has ended."""

from __future__ import annotations

import re
from asyncio import sleep
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from dense.errors import (
    CallFailed,
    DenseError,
    MissingInput,
    ModelError,
    UnansweredCalls,
    UnusableAnswer,
    describe_exception,
)
from dense.message.memory import MemoryItem
from dense.model import ModelCall
from dense.trajectory import Usage
from refit.experiment.delivery import RoundDelivery
from refit.experiment.feedback import FeedbackMaker, Prepared, SourceAttempt, delivered_as_file
from refit.experiment.plan import ComparedPair, Plan, seed_of
from refit.experiment.priority_slots import PrioritySlots
from refit.experiment.store.events import (
    CallPaid,
    CellGivenUp,
    Event,
    EventStore,
    ExecutionEnded,
    ExecutionKilled,
    ExecutionStarted,
    FeedbackFailed,
)
from refit.experiment.store.state import CellState, ExperimentState, Spending, apply_event, fold_events
from refit.harness import AttemptOrder, AttemptResult, Harness
from refit.results import Cell, Result

RETRY_WAITS = (1.0, 5.0, 15.0, 60.0)
"""Seconds before an execution that was not scored is tried again, by how often it was."""

INVALID_SOURCE, NO_FEEDBACK = "its source is invalid", "its feedback could not be made"
"""How reasons begin for which a cell is given up before it is executed."""


class RunStopped(Exception):
    """The run ends: nothing new is begun."""


class RunProgress(Struct, frozen=True):
    """How far the experiment is: what a progress display shows."""

    total: int
    """Cells in all."""
    done: int
    """Scored cells."""
    invalid: int
    """Cells that were given up."""
    running: int
    """Executions under way."""
    distilling: int
    """Feedback under way."""
    spent: Spending
    """What everything took so far."""
    seconds_each: float | None
    """How long an execution takes on average, of those that ended."""


type OnChange = Callable[[], None]
"""Is called whenever something happened; asks the executor for the moment when it wants to know."""


class CellExecutor:
    """What a run works with: the plan, what was done before, and the means to do the rest."""

    def __init__(
        self,
        plan: Plan,
        store: EventStore,
        harness: Harness,
        maker: FeedbackMaker,
        *,
        watch: OnChange | None = None,
        waits: Sequence[float] = RETRY_WAITS,
    ) -> None:
        self.plan = plan
        self._store, self._harness, self._maker = store, harness, maker
        self._watch, self._waits = watch, waits
        self.state: ExperimentState = fold_events(store)
        self._spent = self.state.spent
        self._slots = PrioritySlots(plan.config.concurrency)
        self._stop: DenseError | None = None
        self._in_a_row = 0
        self._running = self._distilling = 0
        self._deliveries: dict[tuple[tuple[str, str, int], int], RoundDelivery] = {}
        maker.watch(self._paid)

    # What a run asks for

    async def attempt(self, cell: Cell, message: str | None) -> Result:
        """The cell's result: as it is known, or after as many executions as it takes to get a score, to the limit."""
        while not (known := self.state.of(cell)).is_done:
            if known.unscored > self.plan.config.retries:
                often = "1 execution" if known.unscored == 1 else f"{known.unscored} executions"
                self._note(CellGivenUp(f"not scored in {often}; the last: {_why(known)}"), cell)
                break
            await sleep(0 if not known.unscored else self._waits[min(known.unscored, len(self._waits)) - 1])
            await self._execute(cell, message, as_file=message is not None and await self._is_file(cell))
        return self.result(cell)

    def result(self, cell: Cell) -> Result:
        """What came of a cell; one that is still to come counts as not scored."""
        return self.state.of(cell).result(cell) or Result(cell=cell)

    async def feedback(self, cell: Cell, source: Result, earlier: Sequence[MemoryItem]) -> Prepared | None:
        """What the cell starts with; None where it is given up, because its source has no score or feedback fails."""
        prepared = await self._prepared(cell, source, earlier)
        self._delivery(cell).announce(cell.method, None if prepared is None else prepared.message)
        return prepared

    async def _prepared(self, cell: Cell, source: Result, earlier: Sequence[MemoryItem]) -> Prepared | None:
        known = self.state.of(cell)
        folder = self.plan.folder_of(cell)
        if known.feedback is not None and (kept := self._maker.kept(known.feedback, folder, earlier)) is not None:
            return kept
        is_last = cell.round == self.plan.config.rounds
        if known.invalid is not None or (known.is_done and is_last):
            return None
        if not source.attempt.is_scored:
            return self._give_up(cell, f"{INVALID_SOURCE} ({source.cell.method}, round {source.cell.round})")
        problem = "tried before"
        while self.state.of(cell).failures <= self.plan.config.retries:
            self._check_stopped()
            outcome = await self._make(cell, source, folder, earlier)
            if isinstance(outcome, Prepared):
                return outcome
            problem = str(outcome)
            if isinstance(outcome, MissingInput):
                break  # what the attempt does not have, it will not have next time
        tries = self.state.of(cell).failures
        often = "1 try" if tries == 1 else f"{tries} tries"
        return self._give_up(cell, f"{NO_FEEDBACK} in {often}; the last: {problem}")

    def raise_if_stopped(self) -> None:
        """What ended the run early, where something did."""
        if self._stop is not None:
            raise self._stop

    def progress(self) -> RunProgress:
        """How far the experiment is."""
        states = {cell: self.state.of(cell) for cell in self.plan.cells}
        results = [known.result(cell) for cell, known in states.items() if known.is_done]
        attempts = [result.attempt for result in results if result is not None]
        seconds = [attempt.seconds for attempt in attempts if attempt.seconds is not None]
        return RunProgress(
            total=len(states),
            done=sum(attempt.is_scored for attempt in attempts),
            invalid=sum(not attempt.is_scored for attempt in attempts),
            running=self._running,
            distilling=self._distilling,
            spent=self._spent,
            seconds_each=sum(seconds) / len(seconds) if seconds else None,
        )

    # How it is done

    def _delivery(self, cell: Cell) -> RoundDelivery:
        return self._deliveries.setdefault((cell.pair, cell.round), RoundDelivery(self.plan.config.arms))

    async def _is_file(self, cell: Cell) -> bool:
        """Whether the cell's message is delivered as a file. What was delivered in this round before counts too: an
        earlier session may have had other methods."""
        shared = self.state.of(ComparedPair(*cell.pair).cell(0)).attempted
        if shared is not None and shared.is_argument is False:
            return False
        is_file = await self._delivery(cell).is_file()
        self._check_stopped()
        before = (self.state.of(other).attempted for other in self.plan.round_of(cell))
        return is_file or any(attempted is not None and attempted.delivered == "file" for attempted in before)

    async def _execute(self, cell: Cell, message: str | None, *, as_file: bool) -> None:
        """One execution, scored or not."""
        async with self._slots.taken(-cell.round):
            self._check_stopped()
            known = self.state.of(cell)
            folders = self._folders(cell)
            is_open = known.executions > known.ended
            unnoted = {*folders, known.executions} if is_open else set(folders)
            for number in sorted(unnoted, reverse=True):
                left = self._harness.finished(self._order(cell, number, message, as_file=as_file))
                if left is not None:  # scored, and killed before it was noted, or what was noted is lost
                    self._ended(cell, number, left)
                    return
            if is_open:
                # What a killed run left of it stays, without what must not stay.
                last = self._order(cell, known.executions, message, as_file=as_file)
                self._note(ExecutionKilled(known.executions, self._harness.clear_killed(last)), cell)
            number = max([known.executions, *folders]) + 1
            self._note(ExecutionStarted(number), cell)
            self._running += 1
            try:
                attempted = await self._attempted(self._order(cell, number, message, as_file=as_file))
            except DenseError as error:  # every other attempt would end the same way
                self._halt(error)
                raise RunStopped from None
            finally:
                self._running -= 1
            self._ended(cell, number, attempted)

    def _folders(self, cell: Cell) -> list[int]:
        """The executions of which a salvaged store may have lost the record: all that left a folder."""
        if not self.state.is_salvaged:
            return []
        names = (folder.name.removeprefix("try-") for folder in self.plan.folder_of(cell).glob("try-*"))
        return [int(name) for name in names if re.fullmatch(r"[0-9]{1,9}", name)]

    async def _attempted(self, order: AttemptOrder) -> AttemptResult:
        try:
            return await self._harness.attempt(order)
        except DenseError:
            raise
        except Exception as error:
            problem = describe_exception(error, type(self._harness).__module__)
            return AttemptResult(exception=type(error).__name__, problem=problem)

    def _ended(self, cell: Cell, number: int, attempted: AttemptResult) -> None:
        self._note(ExecutionEnded(number, attempted), cell)
        if attempted.is_scored:
            self._in_a_row = 0
        else:
            self._count_failure(f"{cell}: {_why(self.state.of(cell))}")

    def _count_failure(self, what: str) -> None:
        """So many in a row are no accident."""
        self._in_a_row += 1
        if self._in_a_row >= self.plan.config.stop_after:
            self._halt(
                DenseError(
                    f"{self._in_a_row} executions in a row were not scored; the last, {what}. "
                    "Fix that and run again: nothing that was scored is lost"
                )
            )

    async def _make(
        self, cell: Cell, source: Result, folder: Path, earlier: Sequence[MemoryItem]
    ) -> Prepared | DenseError:
        """One try at the feedback, or why it failed."""
        task = self.plan.tasks[cell.task]
        self._distilling += 1
        try:
            prepared = await self._maker.make(cell.method, self._source(source), task, folder, earlier)
        except ModelError as error:
            if not isinstance(error, CallFailed):
                self._halt(error)
                raise RunStopped from None
            problem: DenseError = error
        except DenseError as error:
            problem = error
        except Exception as error:  # a method is somebody's own code
            problem = DenseError(describe_exception(error, self._maker.module_of(cell.method)))
        else:
            self._note(prepared.recorded, cell)
            self._in_a_row = 0
            return prepared
        finally:
            self._distilling -= 1
            self._tell()
        self._note(FeedbackFailed(str(problem)), cell)
        if isinstance(problem, UnansweredCalls | CallFailed | UnusableAnswer):
            self._count_failure(f"feedback for {cell}: {problem}")
        return problem

    def _source(self, source: Result) -> SourceAttempt:
        known = self.state.of(source.cell)
        folder = self.plan.folder_of(source.cell)
        execution = folder / f"try-{known.scored}"
        attempted = known.attempted or AttemptResult()
        trace = execution / attempted.trace if attempted.trace else None
        return SourceAttempt(execution / attempted.trial, trace, delivered_as_file(attempted, folder))

    def _order(self, cell: Cell, number: int, message: str | None, *, as_file: bool) -> AttemptOrder:
        return AttemptOrder(
            name=f"{cell.key}--try-{number}",
            recipient=self.plan.recipients[cell.recipient],
            task=self.plan.tasks[cell.task].folder,
            folder=self.plan.folder_of(cell) / f"try-{number}",
            message=message,
            seed=seed_of(cell),
            digest=self.plan.tasks[cell.task].digest,
            as_file=as_file,
        )

    def _give_up(self, cell: Cell, reason: str) -> None:
        """The cell, and with it what its chain would have come to: each following round has an invalid source."""
        self._note(CellGivenUp(reason), cell)

    def _paid(self, call: ModelCall) -> None:
        """Of no cell: equal questions of several are asked once."""
        usage = replace(call.usage, cost_usd=call.usd)
        # A call that failed before it was answered is not billed unless it says so.
        if call.error is None or call.unknown_tries or usage != Usage():
            self._note(CallPaid(usage, is_partial=call.unknown_tries > 0))

    def _note(self, event: Event, cell: Cell | None = None) -> None:
        """On disk first, then in what is known."""
        self._store.append(event, cell)
        if cell is not None:
            self.state.cells[cell] = apply_event(self.state.of(cell), event)
        self._spent = self._spent.including(event)
        self._tell()

    def _halt(self, error: DenseError) -> None:
        self._stop = self._stop or error
        for delivery in self._deliveries.values():
            delivery.stop()

    def _check_stopped(self) -> None:
        if self._stop is not None:
            raise RunStopped

    def _tell(self) -> None:
        if self._watch is not None:
            self._watch()


def _why(known: CellState) -> str:
    attempted = known.attempted
    if attempted is None:
        return "unknown"
    kind, words = attempted.exception or "", attempted.problem
    return words if words.startswith(kind) and words else ": ".join(filter(None, (kind, words))) or "no reward"
