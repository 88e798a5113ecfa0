"""An experiment's folder from outside: opening it for a run, and what its store holds as one noun for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from dense.errors import DenseError, ExperimentChanged
from dense.methods import METHODS, method
from dense.model import prices_of, resolve
from dense.trajectory import Usage
from refit.experiment.config import SANDBOX, ArmConfig, is_excluded
from refit.experiment.identity import identity_differences
from refit.experiment.plan import ComparedPair
from refit.experiment.results_table.files import ResultTable
from refit.experiment.store.events import (
    CellReopened,
    Event,
    EventStore,
    ExperimentExtended,
    ExperimentOpened,
    ResultImported,
    SessionStarted,
)
from refit.experiment.store.state import ExperimentState, fold_events, load_state
from refit.harness.sandbox import LABEL
from refit.results import ANALYST, RUN0, Cell, Experiment, Prices, Result, base_method

MAX_SHOWN_DIFFERENCES = 20
IMPORT_NOTE = "Results were imported: how they were run is known here only as far as it is said."
IMPORTED = {"imported": True}
"""The identity of an experiment that was not run here."""


def start_session(
    store: EventStore, name: str, identity: dict[str, Any], facts: dict[str, Any] | None = None, *, extend: bool = False
) -> ExperimentState:
    """Begins a session of this experiment in the store: all of what that takes is written at once, or nothing is."""
    state = fold_events(store)
    check_same_experiment(state, identity, store.path.parent, extend=extend)
    begun: list[Event] = [SessionStarted(facts or {})]
    if not state.name:
        begun.insert(0, ExperimentOpened(name, identity))
    elif state.identity != identity:
        begun.insert(0, ExperimentExtended(identity))
    store.extend([(event, None) for event in begun])
    return fold_events(store)


def check_same_experiment(
    state: ExperimentState, identity: dict[str, Any], folder: Path, *, extend: bool = False
) -> None:
    """Refuses to mix results of two experiments. Where no cell was begun yet there is nothing to mix, and a task of
    which nothing was scored may be repaired. With `extend`, what only adds cells (methods, recipients, tasks,
    repetitions, rounds) is taken in."""
    if not state.name or (not state.cells and state.identity != IMPORTED):
        return
    if state.identity == IMPORTED:
        raise ExperimentChanged(f"{folder}: holds imported results; run into another folder with --out")
    scored = {cell.task for cell, known in state.cells.items() if known.scored}
    differences = identity_differences(_mendable(state.identity, identity, scored), identity)
    changed = [words for words, is_addition in differences if not (extend and is_addition)]
    if changed:
        hint = ""
        if all(is_addition for _, is_addition in differences):
            hint = "\nThese only add cells: `--extend` keeps what is there and runs the new ones."
        more = len(changed) - MAX_SHOWN_DIFFERENCES
        lines = "\n  ".join([*changed[:MAX_SHOWN_DIFFERENCES], *([f"… and {more} more"] if more > 0 else [])])
        raise ExperimentChanged(
            f"{folder}: its results come from another experiment than the one that is asked for now, and "
            f"the two are not mixed. What differs:\n  {lines}{hint}\nUndo that, or run into another folder with --out."
        )


def _mendable(before: dict[str, Any], now: dict[str, Any], scored: set[str]) -> dict[str, Any]:
    """What was before, with tasks of which nothing was scored as they are now."""
    old, new = before.get("tasks", {}), now.get("tasks", {})
    return {**before, "tasks": {name: old[name] if name in scored else new.get(name, old[name]) for name in old}}


def reopen_invalid(store: EventStore, state: ExperimentState) -> int:
    """Lets every cell that was given up be tried again; how many these are."""
    cells = [cell for cell, known in state.cells.items() if known.invalid is not None]
    store.extend([(CellReopened(), cell) for cell in cells])
    return len(cells)


def import_table(store: EventStore, name: str, table: ResultTable, source: str) -> tuple[int, int]:
    """Imports results: how many are new, how many were there. A result that contradicts a known one is refused."""
    state = fold_events(store)
    if not state.name:
        store.append(ExperimentOpened(name, IMPORTED))
    elif state.identity != IMPORTED:
        raise ExperimentChanged(
            f"{store.path.parent}: holds an experiment that was run here; import into another folder with --out"
        )
    notes = [*cast("list[str]", state.facts.get("notes", [])), *table.notes]
    privileged = [*cast("list[str]", state.facts.get("privileged", [])), *table.privileged]
    known = {result.cell: result for result in state.results}
    fresh: list[Result] = []
    for result in table.results:
        if result.cell not in known:
            fresh.append(result)
        elif known[result.cell] != result:
            raise DenseError(f"{source}: {result.cell}: another result of this cell was imported before")
    facts = {"notes": list(dict.fromkeys(notes)), "privileged": sorted(set(privileged)), "source": source}
    store.extend([(SessionStarted(facts), None), *((ResultImported(result, source), result.cell) for result in fresh)])
    return len(fresh), len(table.results) - len(fresh)


def experiment_of(
    folder: Path, *, prices: Mapping[str, Prices] | None = None, privileged: Sequence[str] = ()
) -> Experiment:
    """Everything that a folder's store holds. `prices` by recipient, or `analyst`, go before those that are known;
    `privileged` names methods that saw outcomes, besides those that are known to."""
    state = load_state(folder)
    if state is None or not state.name:
        raise DenseError(f"{folder}: no experiment here, or nothing has happened in it yet")
    given = dict(prices or {})
    if state.identity == IMPORTED:
        return _imported(state, folder, given, frozenset(privileged))
    if "config" not in state.facts:
        raise DenseError(f"{folder}: no session of this experiment got as far as to begin")
    # As it was recorded, not validated again: methods of somebody's own need not be there to be reported.
    config = _Recorded(**{key: state.facts["config"][key] for key in _Recorded.__struct_fields__})
    cells = _planned(state, config)
    return Experiment(
        name=state.name,
        results=tuple(result for result in state.results if result.cell in cells),
        planned=tuple(sorted(cells)),
        methods=config.arm_names,
        recipients=tuple(recipient["name"] for recipient in config.recipients),
        privileged=frozenset([*cast("list[str]", state.facts.get("privileged", [])), *privileged]),
        prices={**_known_prices(config), **given},
        notes=_notes(config, state),
        facts={**state.facts, "sessions": state.sessions, "all_versions": state.versions},
        folder=str(folder),
    )


class _Recorded(Struct, frozen=True):
    """What a report needs of a configuration, as it was recorded."""

    methods: list[str | dict[str, Any]]
    recipients: list[dict[str, Any]]
    environment: dict[str, Any]
    analyst: dict[str, Any]
    repetitions: int
    rounds: int

    @property
    def arm_names(self) -> tuple[str, ...]:
        """What is compared, by the names that cells have."""
        return tuple(arm if isinstance(arm, str) else ArmConfig.model_validate(arm).name for arm in self.methods)


def _imported(state: ExperimentState, folder: Path, prices: dict[str, Prices], named: frozenset[str]) -> Experiment:
    results = state.results
    order = list(METHODS)
    # Known methods as `dense methods` lists them, then others, and recipients, as they first appeared.
    methods = list(dict.fromkeys(cell.method for cell in state.cells if cell.method != RUN0))
    methods.sort(key=lambda name: order.index(base) if (base := base_method(name)) in order else len(order))
    recipients = list(dict.fromkeys(cell.recipient for cell in state.cells))
    # Paths in an imported table are relative to what it was written from, which need not be here.
    present = tuple(result.with_paths(lambda path: path if (folder / path).exists() else "") for result in results)
    bases = {name: base_method(name) for name in methods}
    known = frozenset(name for name, base in bases.items() if base in METHODS and method(base).sees == "outcome")
    known |= frozenset(cast("list[str]", state.facts.get("privileged", [])))
    notes = (IMPORT_NOTE, *cast("list[str]", state.facts.get("notes", [])))
    facts = {"imported": True}
    return Experiment(
        name=state.name,
        results=present,
        planned=(),
        methods=tuple(methods),
        recipients=tuple(recipients),
        privileged=known | named,
        prices=prices,
        notes=notes,
        facts=facts,
        folder=str(folder),
    )


def _planned(state: ExperimentState, config: _Recorded) -> set[Cell]:
    """All cells, by what the store says of tasks: the folder of tasks need not be there any more."""
    tasks = cast("dict[str, Any]", state.identity.get("tasks", {}))
    return {
        pair.cell(number, name)
        for recipient in config.recipients
        for task in tasks
        if not is_excluded(task, recipient.get("exclude", ()))
        for repetition in range(config.repetitions)
        for pair in [ComparedPair(recipient["name"], task, repetition)]
        for number, name in [(0, RUN0), *((n, m) for m in config.arm_names for n in range(1, config.rounds + 1))]
    }


def _notes(config: _Recorded, state: ExperimentState) -> tuple[str, ...]:
    notes: list[str] = [LABEL] if config.environment["type"] == SANDBOX else []
    notes += [f"{recipient['name']}: {recipient['note']}" for recipient in config.recipients if recipient["note"]]
    fallen = sum(known.feedback is not None and known.feedback.fallbacks > 0 for known in state.cells.values())
    if fallen:
        notes.append(f"In the feedback of {fallen} cells some judgements had no usable answer and fell back.")
    if len(state.versions) > 1:
        notes.append("Results were made with more than one version of the programs: see what was run.")
    return tuple(notes)


def _known_prices(config: _Recorded) -> dict[str, Prices]:
    """Prices that the experiment gives, else the table's of today."""
    prices: dict[str, Prices] = {}
    analyst: dict[str, Any] = {"name": ANALYST, **config.analyst}
    for entry in [*config.recipients, analyst]:
        name, given, model, address = entry["name"], entry["prices"], entry["model"], entry.get("base_url")
        if given is not None:
            prices[name] = Prices(given["input"], given["output"], given["cache_read"], given["cache_write"])
        elif model is not None and (listed := listed_prices(model, address)) is not None:
            prices[name] = listed
    return prices


def listed_prices(model: str, base_url: str | None = None) -> Prices | None:
    """A model's prices by the table, without surcharges for long prompts; None where the table has none."""
    try:
        table = prices_of(resolve(model, base_url=base_url, environment={}))
    except DenseError:
        return None

    def per_million(usage: Usage) -> float | None:
        cost = table.usd(usage, "")
        return None if cost is None else round(cost * 1_000, 6)

    kinds: Sequence[Usage] = (Usage(1000, 0, 0, 0), Usage(0, 0, 0, 1000), Usage(0, 1000, 0, 0), Usage(0, 0, 1000, 0))
    fresh, output, read, write = map(per_million, kinds)
    return None if fresh is None or output is None else Prices(fresh, output, read, write, table.source)
