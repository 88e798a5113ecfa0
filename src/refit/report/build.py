"""From an experiment to its report: every number once, nothing written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from dense.errors import DenseError
from dense.version import __version__
from refit.measures import IN_CASES, passed_checks
from refit.report import wording
from refit.report.grid import FIRST, Condition, ResultGrid, grids, methods_of, unscored_cells
from refit.report.model import SCHEMA, MethodRow, MethodSettings, RecipientReport, Report, TaskOutcome, TaskRow
from refit.report.statistics import cumulative
from refit.report.statistics.bootstrap import DRAWS, SEED, TaskSample
from refit.report.statistics.comparisons import MethodNames, differences, ours_among
from refit.report.statistics.metrics import TokenRates, method_row, rank, with_ranks
from refit.report.surrogates import escape_surrogates, writable_experiment
from refit.results import ANALYST, RUN0, Experiment, Prices, Result


def build(
    experiment: Experiment,
    *,
    exclude: Sequence[str] = (),
    seed: int = SEED,
    draws: int = DRAWS,
    prices: Mapping[str, Prices] | None = None,
) -> Report:
    """All numbers of an experiment. `prices` go before its own, by recipient or `ANALYST`; `exclude` names tasks
    without which all numbers are given once more."""
    experiment, exclude = writable_experiment(experiment), [escape_surrogates(task) for task in exclude]
    experiment_tasks = tuple(sorted({task for grid in grids(experiment) for task in grid.tasks}))
    _check_excluded(exclude, experiment_tasks)
    excluded = tuple(sorted(set(exclude)))
    known = {**experiment.prices, **{escape_surrogates(name): given for name, given in (prices or {}).items()}}
    named = wording.name_methods(methods_of(experiment), experiment.privileged, _settings_of(experiment))
    names = {name.method: name for name in named}
    invalid = unscored_cells(experiment)

    def recipients(without: Collection[str]) -> tuple[RecipientReport, ...]:
        tasks = [task for task in experiment_tasks if task not in without]
        return tuple(_recipient(grid, names, tasks, known, draws, seed) for grid in grids(experiment, without))

    full = recipients(())
    return Report(
        schema=SCHEMA,
        dense=__version__,
        name=experiment.name,
        notes=experiment.notes,
        headline=wording.overall_headline(full),
        caveats=tuple(wording.overall_caveats(experiment, names, invalid, excluded)),
        methods=tuple(names.values()),
        tasks=experiment_tasks,
        recipients=full,
        invalid=invalid,
        excluded=excluded,
        sensitivity=recipients(excluded) if excluded else (),
        analyst_prices=known.get(ANALYST),
        seed=seed,
        draws=draws,
        method_of_intervals=wording.METHOD_OF_INTERVALS.format(draws=draws, seed=seed),
        facts=experiment.facts,
    )


def _settings_of(experiment: Experiment) -> dict[str, MethodSettings]:
    """Profile and budget of each method, where all its results have the same."""
    settings: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for result in experiment.results:
        if result.cell.round and (result.profile or result.budget):
            settings[result.cell.method].add((result.profile, result.budget))
    return {method: MethodSettings(*next(iter(used))) for method, used in settings.items() if len(used) == 1}


def _check_excluded(exclude: Collection[str], tasks: Collection[str]) -> None:
    unknown = sorted(set(exclude) - set(tasks))
    if unknown:
        raise DenseError(f"cannot exclude {', '.join(unknown)}: no result has such a task. Tasks: {', '.join(tasks)}")
    if exclude and set(exclude) >= set(tasks):
        raise DenseError("all tasks are excluded: nothing is left to report; exclude fewer")


def _recipient(
    grid: ResultGrid, names: MethodNames, tasks: Sequence[str], prices: Mapping[str, Prices], draws: int, seed: int
) -> RecipientReport:
    """All numbers of one recipient."""
    sample = TaskSample(grid.tasks, draws, seed)
    rates = TokenRates(prices.get(grid.recipient), prices.get(ANALYST))
    baseline = method_row(grid, sample, names[RUN0], FIRST, rates) if grid.of(FIRST) or FIRST in grid.planned else None
    if baseline is not None and not baseline.passed.known:
        baseline = None
    rounds = sorted({round for _, round in grid.planned if round > 0})
    by_round = {at: _rows(grid, sample, names, at, rates, baseline) for at in rounds}
    main = by_round.get(grid.main, [])
    if baseline is not None:
        baseline = with_ranks(_main_table(baseline, main))[0]
    contrasts = differences(grid, sample, names)
    chains, dropped = cumulative.solved(grid, [name for name in names if name != RUN0])
    lines = cumulative.lines(chains, sample, names)
    last = cumulative.differences(chains, grid, sample, names)
    later = [row for at in rounds if at != grid.main for row in by_round[at]]
    report = RecipientReport(
        recipient=grid.recipient,
        tasks_applicable=len(grid.tasks),
        repetitions=grid.repetitions,
        rounds=grid.last,
        baseline=baseline,
        rows=tuple(main),
        later=tuple(later),
        differences=(*contrasts, *last),
        cumulative=tuple(lines),
        cumulative_pairs=lines[0].points[0].passed.known if lines else 0,
        cumulative_dropped=dropped,
        tasks=_tasks(grid, names, tasks),
        headline=wording.headline(grid.recipient, main, contrasts, grid.repetitions),
        caveats=(),
        prices=rates.recipient,
    )
    return replace(report, caveats=tuple(wording.caveats(report, rates.analyst)))


def _rows(
    grid: ResultGrid, sample: TaskSample, names: MethodNames, round: int, rates: TokenRates, baseline: MethodRow | None
) -> list[MethodRow]:
    """The methods of a round in the order of the report, privileged ones last. Ablations are ranked in the table that
    is theirs: among themselves, with round 0 and the whole of DENSE."""
    present = set(grid.methods_in(round))
    rows = [
        method_row(grid, sample, name, (name.method, round), rates) for name in names.values() if name.method in present
    ]
    main = {row.method: row for row in with_ranks(_main_table(baseline, rows))}
    parts = {row.method: row for row in with_ranks(ablation_table(baseline, rows)) if row.role == "ablation"}
    ordered = sorted(rows, key=lambda row: row.role == "privileged")
    return [(parts if row.role == "ablation" else main)[row.method] for row in ordered]


def _main_table(baseline: MethodRow | None, rows: Sequence[MethodRow]) -> list[MethodRow]:
    return [row for row in (baseline, *rows) if row is not None and row.role != "ablation"]


def ablation_table(baseline: MethodRow | None, rows: Sequence[MethodRow]) -> list[MethodRow]:
    """Round 0, DENSE without a part, and DENSE."""
    parts = [row for row in rows if row.role == "ablation"]
    ours = ours_among(row.method for row in rows)
    return [row for row in (baseline, *parts, *(row for row in rows if row.method == ours)) if row is not None]


def _tasks(grid: ResultGrid, names: MethodNames, tasks: Sequence[str]) -> tuple[TaskRow, ...]:
    """What came of each task, under every method and in every round."""
    order = list(names)
    conditions = sorted(grid.planned, key=lambda condition: (condition[1], order.index(condition[0])))
    outcomes: defaultdict[str, list[TaskOutcome]] = defaultdict(list)
    for condition in conditions:
        for task, outcome in _outcomes(grid, condition).items():
            outcomes[task].append(outcome)
    return tuple(TaskRow(task, task in outcomes, tuple(_ranked_outcomes(outcomes[task], names))) for task in tasks)


def _outcomes(grid: ResultGrid, condition: Condition) -> dict[str, TaskOutcome]:
    method, round = condition
    planned = Counter(task for task, _ in grid.planned[condition])
    scored = Counter(task for task, _ in grid.scored(condition))
    passes = Counter(task for (task, _), result in grid.scored(condition).items() if result.attempt.passed)
    by_task: defaultdict[str, list[Result]] = defaultdict(list)
    for (task, _), result in sorted(grid.scored(condition).items()):
        by_task[task].append(result)
    return {
        task: TaskOutcome(
            method=method,
            round=round,
            passes=passes[task],
            scored=scored[task],
            planned=planned[task],
            checks=tuple(filter(None, map(passed_checks, by_task[task]))),
            means={measure.name: _mean(map(measure.average, by_task[task])) for measure, _ in IN_CASES},
        )
        for task in sorted(planned)
    }


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def _ranked_outcomes(outcomes: Sequence[TaskOutcome], names: MethodNames) -> list[TaskOutcome]:
    """Methods of one round against each other; round 0 is no method, and ablations and privileged ones are apart."""
    ranked = list(outcomes)
    for round in {outcome.round for outcome in outcomes}:
        ours = [
            at for at, outcome in enumerate(ranked) if outcome.round == round and names[outcome.method].role == "method"
        ]
        for at, position in zip(ours, rank([ranked[at].rate for at in ours], most_is_best=True), strict=True):
            ranked[at] = replace(ranked[at], rank=position)
    return ranked
