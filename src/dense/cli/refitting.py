"""What the commands of `dense refit` do."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dense.cli.refit_table import show_report
from dense.cli.text import printable
from dense.errors import DenseError
from dense.harness.harbor import EnvironmentSettings, HarborHarness
from dense.harness.servers import serving
from dense.refit.config import ExperimentConfig, read_config
from dense.refit.costs import describe_costs
from dense.refit.executor import INVALID_SOURCE, NO_FEEDBACK, CellExecutor, RunProgress
from dense.refit.experiment import (
    IMPORT_NOTE,
    IMPORTED,
    check_same_experiment,
    experiment_of,
    import_table,
    reopen_invalid,
    start_session,
)
from dense.refit.feedback import FeedbackMaker, analyst_model
from dense.refit.identity import facts_of, identity_of
from dense.refit.plan import Plan, plan_of
from dense.refit.results_table.files import write_table
from dense.refit.results_table.imports import import_sources, parse_methods
from dense.refit.run import run as run_cells
from dense.refit.store.events import EventStore
from dense.refit.store.lock import holder_of, writing
from dense.refit.store.state import ExperimentState, fold_events, format_usd, load_state
from dense.report.numbers import counted
from dense.results import ANALYST, Experiment, Prices, Result

EVERY, LINE_EVERY = 0.25, 20.0
"""Seconds between two looks at the progress in a terminal, and between two lines of it where nobody watches."""


def folder_of(config: ExperimentConfig, out: Path | None) -> Path:
    """Where an experiment lies."""
    return out if out is not None else Path("out") / "refit" / config.name


def _console() -> Console:
    """For people in a terminal, or a file that is wide enough for the table."""
    return Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)


def _errors() -> Console:
    return Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def _config(file: Path) -> ExperimentConfig:
    base = str(file.expanduser().resolve().parent)
    if base not in sys.path:
        sys.path.append(base)  # a method, an agent or an environment of the user's own is most likely there
    return read_config(file)


def _planned(file: Path, out: Path | None) -> Plan:
    config = _config(file)
    return plan_of(config, file.expanduser().resolve().parent, folder_of(config, out))


def _existing(place: Path, out: Path | None) -> Path:
    """The folder of an experiment, by itself or by its file."""
    if place.is_dir():
        return place
    if place.suffix in (".yaml", ".yml"):
        return folder_of(_config(place), out)
    raise DenseError(f"{place}: neither an experiment's folder nor its YAML file")


def plan(file: Path, out: Path | None, like: Path | None) -> None:
    """Tells what would run."""
    made, console = _planned(file, out), _console()
    config = made.config
    known = load_state(made.folder)
    done = sum(known.of(cell).is_done for cell in made.cells) if known is not None else 0
    reruns = len(config.methods) * config.rounds
    console.print(
        f"{config.name}: {counted(len(made.cells), 'cell')} = {counted(len(config.recipients), 'recipient')} × "
        f"{counted(len(made.tasks), 'task')} × {counted(config.repetitions, 'repetition')} × (1 shared attempt + "
        f"{counted(len(config.methods), 'method')} × {counted(config.rounds, 'round')} = {1 + reruns}); {done:,} done, "
        f"{len(made.cells) - done:,} to run",
        markup=False,
    )
    console.print(f"tasks: {printable(', '.join(made.tasks))}", markup=False)
    console.print(f"folder: {folder_of(config, out)}", markup=False)
    for line in describe_costs(made, like):
        console.print(line[: len(line) - len(line.lstrip())] + printable(line), markup=False)


def run(file: Path, out: Path | None, *, extend: bool, retry_invalid: bool) -> None:
    """Runs what is missing, then tells what came of it."""
    made = _planned(file, out)
    with writing(made.folder, f"dense refit run {file}"):
        identity = identity_of(made.config, tuple(made.tasks.values()), made.base)
        with EventStore(made.folder) as store:
            check_same_experiment(fold_events(store), identity, made.folder, extend=extend)

            def begin(harness: HarborHarness) -> None:
                """When everything is found to be in order, and not before."""
                facts = facts_of(made.config, tuple(made.tasks.values()), harness.name)
                state = start_session(store, made.config.name, identity, facts, extend=extend)
                if retry_invalid:
                    reopen_invalid(store, state)

            try:
                asyncio.run(_run(made, store, begin))
            except KeyboardInterrupt:
                raise DenseError("interrupted; the same command goes on where it was, and nothing is lost") from None
    show_report(experiment_of(made.folder), _console())


async def _run(made: Plan, store: EventStore, begin: Callable[[HarborHarness], None]) -> None:
    config = made.config
    recipients = list(made.recipients.values())
    place = config.environment
    async with serving(recipients, made.folder) as servers:
        settings = EnvironmentSettings(place.type, place.options, place.settings)
        async with (
            HarborHarness(
                settings,
                servers=servers,
                timeout_multiplier=config.timeout_multiplier,
                hidden=[made.folder, made.base, *(task.folder for task in made.tasks.values())],
            ) as harness,
            analyst_model(config, made.folder, fold_events(store).spent.feedback) as model,
        ):
            for notice in await harness.check(recipients, [task.folder for task in made.tasks.values()]):
                _errors().print(f"note: {printable(notice)}", markup=False)
            begin(harness)
            with Display(config.concurrency) as display:
                executor = CellExecutor(made, store, harness, FeedbackMaker(config, model), watch=display.tick)
                display.executor = executor
                await run_cells(executor)


class Display:
    """Progress of the whole experiment: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self, concurrency: int) -> None:
        self.executor: CellExecutor | None = None
        self._concurrency = concurrency
        self._console = _errors()
        self._is_terminal = sys.stderr.isatty()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        self._progress = Progress(*columns, console=self._console, transient=True, disable=not self._is_terminal)
        self._bar = self._progress.add_task("", total=None)
        self._last = 0.0

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def tick(self) -> None:
        """Something happened."""
        now = time.monotonic()
        if self.executor is None or now - self._last < (EVERY if self._is_terminal else LINE_EVERY):
            return
        moment = self.executor.progress()
        # A look at tens of thousands of cells takes its time: the bigger the experiment, the rarer.
        self._last = now + moment.total / 20_000
        words = told(moment, self._concurrency)
        self._progress.update(self._bar, total=moment.total, completed=moment.done + moment.invalid, description=words)
        if not self._is_terminal:
            self._console.print(f"{moment.done + moment.invalid}/{moment.total} cells, {words}", markup=False)


def told(moment: RunProgress, concurrency: int) -> str:
    """The moment in words."""
    parts = [f"{moment.running} running", f"{moment.invalid} invalid"]
    if moment.distilling:
        parts.append(f"{moment.distilling} feedback")
    if paid := moment.spent.attempts + moment.spent.feedback:
        parts.append(f"{format_usd(paid)} paid")
    left = moment.total - moment.done - moment.invalid
    if moment.seconds_each is not None and left:
        parts.append(f"about {_duration(left * moment.seconds_each / concurrency)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def status(place: Path, out: Path | None) -> None:
    """How far it is."""
    folder, console = _existing(place, out), _console()
    experiment = experiment_of(folder)
    scored = [result for result in experiment.results if result.reward is not None]
    invalid = [result for result in experiment.results if result.reward is None]
    total = len(experiment.planned) or len(experiment.results)
    missing = total - len(scored) - len(invalid)
    holder, state = holder_of(folder), load_state(folder)
    console.print(
        f"{experiment.name}: {total} cells, {len(scored)} scored, {len(invalid)} invalid, {missing} missing",
        markup=False,
    )
    if state is not None and state.identity != IMPORTED:
        console.print(f"running: {f'{len(state.running)} attempts; {holder}' if holder else 'no'}", markup=False)
        console.print(f"paid so far: {state.spent}{_limit(state)}", markup=False)
    flagged = Counter(result.exception for result in scored if result.exception)
    for name, count in flagged.most_common():
        console.print(f"scored and flagged: {count} with {printable(name or '')}", markup=False)
    odd = Counter(
        result.received for result in scored if result.received in ("different", "not recorded", "not opened")
    )
    for name, count in odd.items():
        console.print(f"message {name}: {count} cells", markup=False)
    for why, count in Counter(map(_lost_to, invalid)).most_common():
        console.print(f"invalid, {why}: {count}", markup=False)
    for result in invalid:
        console.print(f"invalid: {printable(str(result.cell))}: {printable(result.exception or '')}", markup=False)
    for note in experiment.notes:
        console.print(f"note: {printable(note)}", markup=False)


def _lost_to(result: Result) -> str:
    """Why a cell has no score, in a few words: what to mend differs."""
    reason = result.exception or ""
    if result.is_out_of_context:
        return "the agent ran out of its model's context"
    if reason.startswith(NO_FEEDBACK):
        return "no feedback could be made"
    return "its source is invalid" if reason.startswith(INVALID_SOURCE) else "not scored for other reasons"


def _limit(state: ExperimentState) -> str:
    """How much of what feedback may cost is left to spend, where there is a limit."""
    most = state.facts.get("config", {}).get("max_usd")
    return "" if most is None else f"; max_usd: {format_usd(state.spent.feedback)} of {format_usd(most)} for feedback"


def report(
    place: Path,
    out: Path | None,
    *,
    to: Path | None,
    exclude: tuple[str, ...],
    price: tuple[str, ...],
    seed: int | None,
    quiet: bool,
    privileged: tuple[str, ...] = (),
) -> None:
    """Writes the report."""
    from dense.report import SEED, make

    folder = _existing(place, out)
    target = to or folder / "report"
    experiment = experiment_of(folder, prices=dict(map(_price, price)), privileged=privileged)
    _check_names(experiment, map(_price, price), privileged)
    made = make(experiment, target, exclude=exclude, seed=SEED if seed is None else seed)
    if not quiet:
        show_report(experiment, _console(), made)
    _console().print(f"report: {target / 'index.html'}", markup=False)


def _check_names(experiment: Experiment, prices: Iterable[tuple[str, Prices]], privileged: Iterable[str]) -> None:
    """What is said of somebody who is not there is a mistyped name."""
    people = [*experiment.recipients, ANALYST]
    for name, _ in prices:
        if name not in people:
            raise DenseError(f"--price {name}=…: no such recipient; there are {', '.join(people)}")
    for name in privileged:
        if name not in experiment.methods:
            raise DenseError(f"--privileged {name}: no such method; there are {', '.join(experiment.methods)}")


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


def export(place: Path, to: Path, out: Path | None) -> None:
    """Writes the table."""
    experiment = experiment_of(_existing(place, out))
    notes = [note for note in experiment.notes if note != IMPORT_NOTE]  # whoever imports it says so by himself
    write_table(experiment.results, to, experiment.privileged, notes)
    _console().print(f"{to}: {len(experiment.results)} results", markup=False)


def import_results(sources: list[Path], out: Path, name: str | None, methods: tuple[str, ...]) -> None:
    """Takes results in."""
    console, errors = _console(), _errors()
    table = import_sources(sources, parse_methods(methods))
    for notice in table.notices:
        errors.print(f"note: {printable(notice)}", markup=False)
    with writing(out, "dense refit import"), EventStore(out) as store:
        fresh, known = import_table(store, name or out.resolve().name, table, ", ".join(map(str, sources)))
    there = f", {known} were there before" if known else ""
    console.print(f"{out}: {fresh} results taken in{there}", markup=False)
