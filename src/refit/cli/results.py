"""`dense refit status`, `report`, `compare`, `export` and `import`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from math import inf
from pathlib import Path
from shutil import rmtree
from typing import Literal

import msgspec
from msgspec.structs import replace

from dense.cli.text import printable
from dense.errors import DenseError
from dense.view.load import load_runs
from dense.view.page import write_view
from refit.cli.common import error_console, existing_folder, output_console
from refit.cli.table import show_report
from refit.experiment.executor import INVALID_SOURCE, NO_FEEDBACK
from refit.experiment.experiment import (
    IMPORT_NOTE,
    IMPORTED,
    experiment_of,
    import_table,
)
from refit.experiment.results_table.files import write_table
from refit.experiment.results_table.imports import import_sources, parse_methods
from refit.experiment.store.events import EventStore
from refit.experiment.store.lock import holder_of, writing
from refit.experiment.store.state import ExperimentState, format_usd, load_state
from refit.report.compare import PairedComparison, Side
from refit.report.compare import compare as compare_sides
from refit.report.numbers import NOTHING, count_of, format_fixed, format_interval, p_in_words
from refit.report.page.cells import VIEWS
from refit.results import ANALYST, Experiment, Prices, Result, at_base_rates


def status(path: Path, out: Path | None) -> None:
    """Print how far an experiment is."""
    folder, console = existing_folder(path, out), output_console()
    experiment = experiment_of(folder)
    scored = [result for result in experiment.results if result.attempt.reward is not None]
    invalid = [result for result in experiment.results if result.attempt.reward is None]
    total = len(experiment.planned) or len(experiment.results)
    missing = total - len(scored) - len(invalid)
    holder, state = holder_of(folder), load_state(folder)
    console.print(
        f"{experiment.name}: {total} cells, {len(scored)} scored, {len(invalid)} invalid, {missing} missing",
        markup=False,
    )
    if state is not None and state.identity != IMPORTED:
        console.print(f"running: {f'{len(state.running)} attempts; {holder}' if holder else 'no'}", markup=False)
        if state.killed:
            console.print(f"killed with their run: {count_of(state.killed, 'execution')}", markup=False)
        console.print(f"paid so far: {state.spent}{_limit(state)}", markup=False)
    flagged = Counter(result.attempt.ending for result in scored if result.attempt.ending)
    for name, count in flagged.most_common():
        console.print(f"scored and flagged: {count} with {printable(name)}", markup=False)
    odd = Counter(
        result.attempt.received
        for result in scored
        if result.attempt.received in ("different", "not recorded", "not opened")
    )
    for name, count in odd.items():
        console.print(f"message {name}: {count} cells", markup=False)
    for why, count in Counter(map(_lost_to, invalid)).most_common():
        console.print(f"invalid, {why}: {count}", markup=False)
    for result in invalid:
        console.print(f"invalid: {printable(str(result.cell))}: {printable(result.attempt.ending)}", markup=False)
    for note in experiment.notes:
        console.print(f"note: {printable(note)}", markup=False)


def _lost_to(result: Result) -> str:
    """Why a cell has no score, in a few words: what to fix differs."""
    reason = result.attempt.ending
    if result.attempt.is_out_of_context:
        return "the agent ran out of its model's context"
    if reason.startswith(NO_FEEDBACK):
        return "no feedback could be made"
    return "its source is invalid" if reason.startswith(INVALID_SOURCE) else "not scored for other reasons"


def _limit(state: ExperimentState) -> str:
    """How much of the limit for feedback is spent, if there is a limit."""
    most = state.facts.get("config", {}).get("max_usd")
    return "" if most is None else f"; max_usd: {format_usd(state.spent.feedback)} of {format_usd(most)} for feedback"


def report(
    path: Path,
    out: Path | None,
    *,
    to: Path | None,
    exclude: tuple[str, ...],
    price: tuple[str, ...],
    uncached: bool = False,
    case: str | None = None,
    seed: int | None,
    quiet: bool,
    privileged: tuple[str, ...] = (),
) -> None:
    """Write the report."""
    from refit.report import SEED, make

    folder = existing_folder(path, out)
    target = to or folder / "report"
    experiment = experiment_of(folder, prices=dict(map(_price, price)), privileged=privileged)
    if uncached:
        prices = {name: at_base_rates(known) for name, known in experiment.prices.items()}
        experiment = replace(experiment, prices=prices)
    _check_names(experiment, map(_price, price), privileged)
    with writing(target, "dense refit report"):
        write_views(experiment, folder, target / VIEWS)
        content = make(experiment, target, exclude=exclude, seed=SEED if seed is None else seed, case=case)
    if not quiet:
        show_report(experiment, output_console(), content)
    output_console().print(f"report: {target / 'index.html'}", markup=False)


MAX_VIEWS = 200
"""An experiment of more cells has no pages of single traces: `dense view` makes any of them."""


def write_views(experiment: Experiment, folder: Path, target: Path) -> None:
    """A page for the trace of each cell, for the links of the report. One that cannot be made is left out."""
    rmtree(target, ignore_errors=True)
    if len(experiment.results) > MAX_VIEWS:
        return
    for result in experiment.results:
        if not result.attempt.trace:
            continue
        try:
            write_view(load_runs(folder / result.attempt.trace), target / f"{result.cell.key}.html")
        except DenseError:
            continue


def _check_names(experiment: Experiment, prices: Iterable[tuple[str, Prices]], privileged: Iterable[str]) -> None:
    """Reject the names of recipients and methods that the experiment does not have."""
    people = [*experiment.recipients, ANALYST]
    for name, _ in prices:
        if name not in people:
            raise DenseError(f"--price {name}=…: unknown recipient; known are {', '.join(people)}")
    for name in privileged:
        if name not in experiment.methods:
            raise DenseError(f"--privileged {name}: unknown method; known are {', '.join(experiment.methods)}")


def _price(text: str) -> tuple[str, Prices]:
    name, equals, numbers = text.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if not equals or not 2 <= len(values) <= 4 or not all(0 <= value < inf for value in values):
        raise DenseError(f"--price {text}: give NAME=INPUT,OUTPUT[,CACHE_READ[,CACHE_WRITE]] in USD a million tokens")
    fresh, output, read, write = (*values, None, None)[:4]
    return name, Prices(fresh or 0.0, output or 0.0, read, write)


def export(path: Path, to: Path, out: Path | None) -> None:
    """Write the table of results."""
    experiment = experiment_of(existing_folder(path, out))
    notes = [note for note in experiment.notes if note != IMPORT_NOTE]  # the importer adds its own
    write_table(experiment.results, to, experiment.privileged, notes)
    output_console().print(f"{to}: {len(experiment.results)} results", markup=False)


def import_results(sources: list[Path], out: Path, name: str | None, methods: tuple[str, ...]) -> None:
    """Import results from tables or Harbor jobs."""
    console, errors = output_console(), error_console()
    table = import_sources(sources, parse_methods(methods))
    for notice in table.notices:
        errors.print(f"note: {printable(notice)}", markup=False)
    with writing(out, "dense refit import"), EventStore(out) as store:
        fresh, known = import_table(store, name or out.resolve().name, table, ", ".join(map(str, sources)))
    there = f", {known} were already there" if known else ""
    console.print(f"{out}: {fresh} results imported{there}", markup=False)


GATE_FAILED = 3
"""The exit code of a comparison below `--fail-under`."""

type Measure = Literal["point", "low", "high"]


def compare(
    first: str,
    second: str,
    *,
    fail_under: float | None,
    by: Measure,
    round: int,
    recipients: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """Print the second less the first for each recipient; exit with `GATE_FAILED` if one is below the limit."""
    from refit.report import SEED

    sides = _side(first), _side(second)
    comparisons = compare_sides(*sides, round=round, recipients=recipients, seed=SEED if seed is None else seed)
    console = output_console()
    if as_json:
        console.print(msgspec.json.encode(comparisons).decode(), markup=False, soft_wrap=True)
    else:
        for comparison in comparisons:
            for line in _lines(comparison):
                console.print(printable(line), markup=False)
    failed = [each for each in comparisons if fail_under is not None and not _reaches(each, fail_under, by)]
    for comparison in failed:
        words = f"{printable(comparison.recipient)}: {_words(by)} is below {fail_under:+g} points"
        error_console().print(f"failed: {words}", markup=False)
    if failed:
        sys.exit(GATE_FAILED)


def _side(text: str) -> Side:
    """`EXPERIMENT` or `EXPERIMENT#METHOD`."""
    experiment, sign, method = text.rpartition("#")
    path = Path(experiment if sign else text)
    return Side(experiment_of(existing_folder(path, None)), method if sign else None)


def _lines(comparison: PairedComparison) -> list[str]:
    difference = comparison.difference
    points = difference.points
    rates = " − ".join(f"{format_fixed(side.value or 0.0, 2)} %" for side in (comparison.second, comparison.first))
    names = f"{difference.method_label} (second) − {difference.reference_label} (first)"
    if points.value is None:
        return [f"{comparison.recipient}: {names}: no pair is scored on both sides"]
    interval = format_interval(points.interval, 2, sign=True) or "no interval with one task"
    p = NOTHING if difference.p is None else p_in_words(difference.p)
    lines = [
        f"{comparison.recipient}: {names}",
        f"  {rates} = {format_fixed(points.value, 2, sign=True)} points, 95 % {interval}, {p}",
        f"  {count_of(points.known, 'pair')} of {count_of(points.tasks, 'task')}: both passed {difference.both}, "
        f"only the second {difference.method_only}, only the first {difference.reference_only}",
    ]
    if comparison.unpaired:
        lines.append(f"  {count_of(comparison.unpaired, 'result')} without a counterpart: in no number")
    return lines


def _reaches(comparison: PairedComparison, limit: float, by: Measure) -> bool:
    """Whether the difference is at least the limit. What is not known does not reach it."""
    points = comparison.difference.points
    ends = points.interval
    value = points.value if by == "point" else None if ends is None else ends.low if by == "low" else ends.high
    return value is not None and value >= limit


def _words(by: Measure) -> str:
    if by == "point":
        return "the difference"
    return f"the {'lower' if by == 'low' else 'upper'} end of the interval"
