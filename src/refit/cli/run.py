"""`dense refit plan` and `dense refit run`."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dense.cli.text import printable
from dense.errors import DenseError
from refit.cli.common import error_console, experiment_folder, load_config, output_console
from refit.cli.table import show_report
from refit.experiment.config import ExperimentConfig
from refit.experiment.costs import describe_costs
from refit.experiment.executor import CellExecutor, RunProgress
from refit.experiment.experiment import (
    check_same_experiment,
    experiment_of,
    reopen_invalid,
    start_session,
)
from refit.experiment.feedback import FeedbackMaker, analyst_model
from refit.experiment.identity import facts_of, identity_of
from refit.experiment.plan import Plan, plan_of
from refit.experiment.run import run as run_cells
from refit.experiment.store.events import EventStore
from refit.experiment.store.lock import writing
from refit.experiment.store.state import fold_events, format_usd, load_state
from refit.harness.harbor import EnvironmentSettings, HarborHarness
from refit.harness.model_servers import run_servers
from refit.harness.run_folder import run_folder
from refit.report.numbers import count_of

REFRESH_SECONDS, LINE_SECONDS = 0.25, 20.0
"""Seconds between two updates of the bar in a terminal, and between two lines of progress elsewhere."""


def _planned(file: Path, out: Path | None) -> Plan:
    config = load_config(file)
    return plan_of(config, file.expanduser().resolve().parent, experiment_folder(config, out))


def plan(file: Path, out: Path | None, like: Path | None) -> None:
    """Print what would run."""
    plan, console = _planned(file, out), output_console()
    config = plan.config
    known = load_state(plan.folder)
    done = sum(known.of(cell).is_done for cell in plan.cells) if known is not None else 0
    reruns = len(config.arms) * config.rounds
    pairs = f"{count_of(len(config.recipients), 'recipient')} × {count_of(len(plan.tasks), 'task')}"
    if left_out := len(config.recipients) * len(plan.tasks) - len({pair[:2] for pair in plan.pairs}):
        pairs = f"({pairs} − {left_out} excluded)"
    console.print(
        f"{config.name}: {count_of(len(plan.cells), 'cell')} = {pairs} × "
        f"{count_of(config.repetitions, 'repetition')} × (1 shared attempt + "
        f"{count_of(len(config.arms), 'method')} × {count_of(config.rounds, 'round')} = {1 + reruns}); "
        f"{done:,} done, "
        f"{len(plan.cells) - done:,} to run",
        markup=False,
    )
    console.print(f"tasks: {printable(', '.join(plan.tasks))}", markup=False)
    console.print(f"folder: {experiment_folder(config, out)}", markup=False)
    for notice in seed_notices(config):
        console.print(f"note: {printable(notice)}", markup=False)
    for line in describe_costs(plan, like):
        console.print(line[: len(line) - len(line.lstrip())] + printable(line), markup=False)


def seed_notices(config: ExperimentConfig) -> Iterator[str]:
    """Recipients whose options do not take the seed."""
    for recipient in config.recipients:
        if not recipient.uses_seed:
            yield (
                f"recipient {recipient.name!r}: no option uses {{seed}}: its model samples as it likes, and another "
                "run of the same cell need not come to the same (docs/refit.md, `{seed}`)"
            )


def run(file: Path, out: Path | None, *, extend: bool, retry_invalid: bool) -> None:
    """Run what is missing, then print the results."""
    with _interruptible():
        plan = _planned(file, out)
        plan.config.load_methods()  # what cannot be imported is said before anything is written
        _run_locked(plan, file, extend=extend, retry_invalid=retry_invalid)
    show_report(experiment_of(plan.folder), output_console())


def _ending_signals() -> list[signal.Signals]:
    """Signals that end a run as Ctrl-C does. One that is ignored stays ignored, as `nohup` wants it."""
    return [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def _interruptible() -> Generator[None]:
    """Ends the run in good order when it is interrupted, and says how to continue."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in _ending_signals()}
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise DenseError("interrupted; run the same command again to continue: nothing is lost") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_locked(plan: Plan, file: Path, *, extend: bool, retry_invalid: bool) -> None:
    with writing(plan.folder, f"dense refit run {file}"), run_folder() as temporary:
        identity = identity_of(plan.config, tuple(plan.tasks.values()), plan.base)
        with EventStore(plan.folder) as store:
            check_same_experiment(fold_events(store), identity, plan.folder, extend=extend)

            def begin(harness: HarborHarness) -> None:
                """Start the session, once everything has been checked."""
                facts = facts_of(plan.config, tuple(plan.tasks.values()), harness.name)
                state = start_session(store, plan.config.name, identity, facts, extend=extend)
                if retry_invalid:
                    reopen_invalid(store, state)

            asyncio.run(_run(plan, store, temporary, begin))


async def _run(plan: Plan, store: EventStore, temporary: Path, begin: Callable[[HarborHarness], None]) -> None:
    if (task := asyncio.current_task()) is not None:
        for number in _ending_signals():  # asyncio itself does this for Ctrl-C
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    config = plan.config
    recipients = list(plan.recipients.values())
    environment = config.environment
    async with run_servers(recipients, plan.folder) as servers:
        settings = EnvironmentSettings(environment.type, environment.options, environment.settings_at(plan.base))
        async with (
            HarborHarness(
                settings,
                servers=servers,
                timeout_multiplier=config.timeout_multiplier,
                hidden=[plan.folder, plan.base, temporary.parent, *(task.folder for task in plan.tasks.values())],
                running=temporary,
            ) as harness,
            analyst_model(config, plan.folder, fold_events(store).spent.feedback) as model,
        ):
            notices = list(seed_notices(config))
            for recipient in recipients:
                tasks = [task.folder for task in plan.tasks_of(recipient.name)]
                notices += await harness.check([recipient], tasks)
            for notice in notices:
                error_console().print(f"note: {printable(notice)}", markup=False)
            begin(harness)
            maker = FeedbackMaker(config, model, config.lesson_evidence(plan.base))
            with RunDisplay(config.concurrency) as display:
                executor = CellExecutor(plan, store, harness, maker, watch=display.tick)
                display.executor = executor
                await run_cells(executor)


class RunDisplay:
    """Progress of the whole experiment: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self, concurrency: int) -> None:
        self.executor: CellExecutor | None = None
        self._concurrency = concurrency
        self._console = error_console()
        self._is_terminal = sys.stderr.isatty()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        self._progress = Progress(*columns, console=self._console, transient=True, disable=not self._is_terminal)
        self._bar = self._progress.add_task("", total=None)
        self._last = 0.0

    def __enter__(self) -> RunDisplay:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def tick(self) -> None:
        """Update the display if enough time has passed."""
        now = time.monotonic()
        if self.executor is None or now - self._last < (REFRESH_SECONDS if self._is_terminal else LINE_SECONDS):
            return
        moment = self.executor.progress()
        # Counting tens of thousands of cells takes time: the bigger the experiment, the rarer.
        self._last = now + moment.total / 20_000
        words = describe_progress(moment, self._concurrency)
        self._progress.update(self._bar, total=moment.total, completed=moment.done + moment.invalid, description=words)
        if not self._is_terminal:
            self._console.print(f"{moment.done + moment.invalid}/{moment.total} cells, {words}", markup=False)


def describe_progress(moment: RunProgress, concurrency: int) -> str:
    """The progress in words."""
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
