"""What the events of a store add up to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dense.trajectory import Usage
from refit.experiment.store import events
from refit.experiment.store.events import FeedbackMade, StoredEvent
from refit.results import RUN0, AttemptResult, Cell, Result

FREE = Usage(0, 0, 0, 0, 0.0)
"""Feedback that took no call."""


class CellState(Struct, frozen=True):
    """What is known of a cell."""

    executions: int = 0
    """Executions that were started: the next one's folder is named by it."""
    ended: int = 0
    """Executions that ended, scored or not, or are known to have been killed with their run."""
    killed: int = 0
    """Executions that were killed with their run, as far as a later session has noted it."""
    unscored: int = 0
    """Executions that ended without a score since it was last reopened: a killed one is nobody's fault."""
    failures: int = 0
    """How often making its feedback failed since it was last reopened."""
    feedback: FeedbackMade | None = None
    """Its feedback, where it is made."""
    attempted: AttemptResult | None = None
    """What the last execution that ended came to."""
    scored: int = 0
    """Which execution was scored; 0 for none."""
    invalid: str | None = None
    """Why it was given up, where it was."""
    imported: Result | None = None
    """The result from elsewhere, where it is one."""

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return bool(self.scored) or self.invalid is not None or self.imported is not None

    def result(self, cell: Cell) -> Result | None:
        """The cell's result; None where it is still to come."""
        if self.imported is not None:
            return self.imported
        if not self.scored and self.invalid is None:
            return None
        attempt, feedback = self.attempted or AttemptResult(), self.feedback
        folder = f"cells/{cell.key}"
        number = self.scored or self.executions
        if not self.scored:
            attempt = replace(attempt, problem=self.invalid or attempt.problem)
        result = Result(
            cell=cell,
            attempt=attempt.with_paths(lambda path: f"{folder}/try-{number}/{path}"),
            tries=max(self.executions, 1),
        )
        if cell.method == RUN0:
            return replace(result, feedback=FREE)
        if feedback is None:
            return result
        return replace(
            result,
            feedback=feedback.usage,
            feedback_bytes=feedback.bytes,
            profile=feedback.profile,
            budget=feedback.budget,
            feedback_folder=f"{folder}/feedback" if feedback.message_sha256 else "",
            message=f"{folder}/message.txt" if feedback.message_sha256 else "",
        )


def format_usd(usd: float) -> str:
    """An amount for people: little is not nothing."""
    return f"{usd:.2f} USD" if usd >= 0.1 or not usd else f"{usd:.4f} USD"


class Spending(Struct, frozen=True):
    """USD that were really paid, as far as they are known. Answers from the cache cost nothing: what results bear of
    them is the report's business."""

    attempts: float = 0.0
    """What recipients' programs recorded."""
    feedback: float = 0.0
    """What the analyst's calls cost, those of feedback that failed included."""
    unknown: int = 0
    """Executions whose cost is unknown."""
    unknown_calls: int = 0
    """Calls of the analyst whose cost is unknown or partly unknown."""

    def including(self, event: events.Event) -> Spending:
        """The same with one more event."""
        match event:
            case events.ExecutionEnded(_, attempted):
                usd = attempted.usage.cost_usd if attempted.usage is not None else None
                return replace(self, attempts=self.attempts + (usd or 0.0), unknown=self.unknown + (usd is None))
            case events.ExecutionKilled(_, usage):
                usd = usage.cost_usd if usage is not None else None
                return replace(self, attempts=self.attempts + (usd or 0.0), unknown=self.unknown + 1)
            case events.CallPaid(usage, is_partial):
                return replace(
                    self,
                    feedback=self.feedback + (usage.cost_usd or 0.0),
                    unknown_calls=self.unknown_calls + (is_partial or usage.cost_usd is None),
                )
            case _:
                return self

    def __str__(self) -> str:
        untold = [
            f"{number:,} {what}{'' if number == 1 else 's'}"
            for number, what in ((self.unknown, "attempt"), (self.unknown_calls, "call of the analyst"))
            if number
        ]
        rest = f"what {' and '.join(untold)} cost is not known".replace("call of the analysts", "calls of the analyst")
        if not self.attempts + self.feedback:
            return rest if untold else "0.00 USD"
        known = f"{format_usd(self.attempts)} for attempts, {format_usd(self.feedback)} for feedback"
        return f"{known}; {rest}" if untold else known


class ExperimentState(Struct, frozen=True):
    """What is known of an experiment."""

    name: str
    """What it is called; empty for a store that nothing was written to."""
    identity: dict[str, Any]
    """What its results depend on."""
    facts: dict[str, Any]
    """What the last session was recorded with."""
    sessions: tuple[str, ...]
    """When each began."""
    versions: tuple[dict[str, str], ...]
    """Each combination of versions that results were made with."""
    cells: dict[Cell, CellState]
    """Every cell that something happened to."""
    running: frozenset[Cell] = frozenset()
    """Cells whose execution began in the last session and has not ended."""
    spent: Spending = Spending()
    """What everything took that happened, executions without a score and failed feedback included."""
    killed: int = 0
    """Executions that were killed with their run, whether or not a later session has noted it."""
    is_salvaged: bool = False
    """Whether events are missing, because the store was damaged."""

    def of(self, cell: Cell) -> CellState:
        """What is known of a cell."""
        return self.cells.get(cell, CellState())

    @property
    def results(self) -> tuple[Result, ...]:
        """Of all cells that are done, in order."""
        results = (self.cells[cell].result(cell) for cell in sorted(self.cells))
        return tuple(result for result in results if result is not None)


def load_state(folder: Path) -> ExperimentState | None:
    """What the store in a folder adds up to; None where there is none."""
    if not (folder / events.STORE_FILE).is_file():
        return None
    with events.EventStore(folder) as store:
        return fold_events(store)


def fold_events(entries: Iterable[StoredEvent]) -> ExperimentState:
    """The sum of all events."""
    name, identity, facts = "", dict[str, Any](), dict[str, Any]()
    sessions, versions = list[str](), list[dict[str, str]]()
    cells: dict[Cell, CellState] = {}
    running, spent, is_salvaged = set[Cell](), Spending(), False
    for entry in entries:
        spent = spent.including(entry.event)
        match entry.event:
            case events.ExperimentOpened(name, identity):
                pass
            case events.ExperimentExtended(identity):
                pass
            case events.StoreSalvaged():
                is_salvaged = True
            case events.SessionStarted(facts):
                running.clear()
                sessions.append(entry.at)
                if (used := facts.get("versions", {})) and used not in versions:
                    versions.append(used)
            case event if entry.cell is not None:
                if isinstance(event, events.ExecutionStarted):
                    running.add(entry.cell)
                elif isinstance(event, events.ExecutionEnded | events.ExecutionKilled):
                    running.discard(entry.cell)
                cells[entry.cell] = apply_event(cells.get(entry.cell, CellState()), event)
            case _:
                pass
    still_running = frozenset(running)
    unnoted = sum(known.executions - known.ended for known in cells.values()) - len(still_running)
    spent = replace(spent, unknown=spent.unknown + unnoted)
    killed = unnoted + sum(known.killed for known in cells.values())
    return ExperimentState(
        name=name,
        identity=identity,
        facts=facts,
        sessions=tuple(sessions),
        versions=tuple(versions),
        cells=cells,
        running=still_running,
        spent=spent,
        killed=killed,
        is_salvaged=is_salvaged,
    )


def apply_event(state: CellState, event: events.Event) -> CellState:
    """A cell after one more event. The first scored result counts: what comes after it changes nothing."""
    if state.scored or state.imported is not None:
        return state
    match event:
        case events.ExecutionStarted(number):
            return replace(state, executions=max(state.executions, number))
        case events.ExecutionEnded(number, attempted):
            most = max(state.executions, number)  # its start may be missing in a salvaged store
            ended = replace(state, executions=most, ended=state.ended + 1, attempted=attempted)
            return replace(ended, scored=number) if attempted.is_scored else replace(ended, unscored=state.unscored + 1)
        case events.ExecutionKilled(number):
            most = max(state.executions, number)
            return replace(state, executions=most, ended=state.ended + 1, killed=state.killed + 1)
        case events.FeedbackMade():
            return replace(state, feedback=event)
        case events.FeedbackFailed():
            return replace(state, failures=state.failures + 1)
        case events.CellGivenUp(reason):
            return replace(state, invalid=reason)
        case events.CellReopened():
            return replace(state, invalid=None, unscored=0, failures=0)
        case events.ResultImported(result):
            return replace(state, imported=result)
        case _:
            return state
