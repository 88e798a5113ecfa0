"""An experiment's folder from outside: opening it for a run, and what its store holds as one noun for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from dense.errors import Changed, DenseError
from dense.harness.sandbox import LABEL
from dense.methods import METHODS, method
from dense.model import prices_of, resolve
from dense.refit.config import SANDBOX, Config
from dense.refit.identity import differences
from dense.refit.plan import Pair
from dense.refit.state import State, state_in, state_of
from dense.refit.store import Extended, Imported, Opened, Reopened, Store
from dense.refit.table import Table
from dense.results import ANALYST, RUN0, Cell, Experiment, Prices, Result
from dense.trajectory import Usage

MOST_DIFFERENCES = 20
IMPORTED = {"imported": True}
"""The identity of an experiment that was not run here."""


def join(store: Store, name: str, identity: dict[str, Any], *, extend: bool = False) -> State:
    """The state of the store, if it holds this very experiment or nothing yet; refuses to mix results of two.

    With `extend`, what only adds cells (methods, recipients, tasks, repetitions, rounds) is taken in."""
    state = state_of(store)
    if not state.name:
        store.append(Opened(name, identity))
        return state_of(store)
    if state.identity == IMPORTED:
        raise Changed(f"{store.path.parent}: holds imported results; run into another folder with --out")
    found = differences(state.identity, identity)
    changed = [words for words, is_addition in found if not (extend and is_addition)]
    if changed:
        hint = ""
        if all(is_addition for _, is_addition in found):
            hint = "\nThese only add cells: `--extend` keeps what is there and runs the new ones."
        more = len(changed) - MOST_DIFFERENCES
        lines = "\n  ".join([*changed[:MOST_DIFFERENCES], *([f"… and {more} more"] if more > 0 else [])])
        raise Changed(
            f"{store.path.parent}: its results come from another experiment than the one that is asked for now, and "
            f"the two are not mixed. What differs:\n  {lines}{hint}\nUndo that, or run into another folder with --out."
        )
    if found:
        store.append(Extended(identity))
    return state_of(store)


def reopen_invalid(store: Store, state: State) -> int:
    """Lets every cell that was given up be tried again; how many these are."""
    cells = [cell for cell, known in state.cells.items() if known.invalid is not None]
    store.extend([(Reopened(), cell) for cell in cells])
    return len(cells)


def take_in(store: Store, name: str, table: Table, source: str) -> tuple[int, int]:
    """Imports results: how many are new, how many were there. A result that contradicts a known one is refused."""
    state = state_of(store)
    if not state.name:
        store.append(Opened(name, IMPORTED))
    elif state.identity != IMPORTED:
        raise Changed(
            f"{store.path.parent}: holds an experiment that was run here; import into another folder with --out"
        )
    known = {result.cell: result for result in state.results}
    fresh: list[Result] = []
    for result in table.results:
        if result.cell not in known:
            fresh.append(result)
        elif known[result.cell] != result:
            raise DenseError(f"{source}: {result.cell}: another result of this cell was imported before")
    store.extend([(Imported(result, source), result.cell) for result in fresh])
    return len(fresh), len(table.results) - len(fresh)


def experiment_of(
    folder: Path, *, prices: Mapping[str, Prices] | None = None, privileged: Sequence[str] = ()
) -> Experiment:
    """Everything that a folder's store holds. `prices` by recipient, or `analyst`, go before those that are known;
    `privileged` names methods that saw outcomes, besides those that are known to."""
    state = state_in(folder)
    if state is None or not state.name:
        raise DenseError(f"{folder}: no experiment here, or nothing has happened in it yet")
    given = dict(prices or {})
    if state.identity == IMPORTED:
        return _imported(state, folder, given, frozenset(privileged))
    config = Config.model_validate(state.facts["config"])
    cells = _planned(state, config)
    return Experiment(
        state.name,
        tuple(result for result in state.results if result.cell in cells),
        tuple(sorted(cells)),
        config.methods,
        tuple(recipient.name for recipient in config.recipients),
        frozenset([*cast("list[str]", state.facts.get("privileged", [])), *privileged]),
        {**_known_prices(config), **given},
        _notes(config, state),
        {**state.facts, "sessions": state.sessions, "all_versions": state.versions},
        str(folder),
    )


def _imported(state: State, folder: Path, prices: dict[str, Prices], named: frozenset[str]) -> Experiment:
    results = state.results
    order = list(METHODS)
    # Known methods as `dense methods` lists them, then others, and recipients, as they first appeared.
    methods = list(dict.fromkeys(cell.method for cell in state.cells if cell.method != RUN0))
    methods.sort(key=lambda name: order.index(name) if name in order else len(order))
    recipients = list(dict.fromkeys(cell.recipient for cell in state.cells))
    # Paths in an imported table are relative to what it was written from, which need not be here.
    absent = tuple(
        replace(
            result,
            **{
                field: "" if (path := getattr(result, field)) and not (folder / path).exists() else path
                for field in ("trace", "feedback_folder", "message")
            },
        )
        for result in results
    )
    known = frozenset(name for name in methods if name in METHODS and method(name).sees == "outcome")
    notes = ("Results were imported: how they were run is not known here.",)
    facts = {"imported": True}
    return Experiment(
        state.name, absent, (), tuple(methods), tuple(recipients), known | named, prices, notes, facts, str(folder)
    )


def _planned(state: State, config: Config) -> set[Cell]:
    """All cells, by what the store says of tasks: the folder of tasks need not be there any more."""
    tasks = cast("dict[str, Any]", state.identity.get("tasks", {}))
    return {
        pair.cell(number, name)
        for recipient in config.recipients
        for task in tasks
        for repetition in range(config.repetitions)
        for pair in [Pair(recipient.name, task, repetition)]
        for number, name in [(0, RUN0), *((n, m) for m in config.methods for n in range(1, config.rounds + 1))]
    }


def _notes(config: Config, state: State) -> tuple[str, ...]:
    notes: list[str] = [LABEL] if config.environment.type == SANDBOX else []
    notes += [f"{recipient.name}: {recipient.note}" for recipient in config.recipients if recipient.note]
    if len(state.versions) > 1:
        notes.append("Results were made with more than one version of the programs: see what was run.")
    return tuple(notes)


def _known_prices(config: Config) -> dict[str, Prices]:
    """Prices that the experiment gives, else the table's of today."""
    found: dict[str, Prices] = {}
    models = [(entry.name, entry.prices, entry.model, None) for entry in config.recipients]
    analyst = config.analyst
    for name, given, model, address in [*models, (ANALYST, analyst.prices, analyst.model, analyst.base_url)]:
        if given is not None:
            found[name] = given.prices
        elif model is not None and (listed := listed_prices(model, address)) is not None:
            found[name] = listed
    return found


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
